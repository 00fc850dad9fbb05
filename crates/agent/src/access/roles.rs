//! The roles of a ring whose spec says `auth`. Servers make a superuser
//! `cassandra` with a known password where there is no role; the agent that
//! gets in by it makes our roles and closes it. What a person has changed since
//! is left alone.

use crate::cql::{Connection, Credentials, Endpoint, Error, quoted, text};

/// The role that servers make, and its password.
const DEFAULT: &str = "cassandra";

/// What became of the default role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultRole {
    /// It is closed now: the roles have changed.
    Closed,
    /// Nothing was changed: it was closed before, or there is none yet.
    WasClosed,
    /// Nothing was changed, and anybody gets in by it: a Secret names it.
    LeftOpen,
}

/// Does one of the Secrets name the default role? Then it is not ours to close: whoever
/// logs in by it would be locked out. So no server may make it.
pub fn is_named(ours: Option<&Credentials>, people: Option<&Credentials>) -> bool {
    [ours, people].into_iter().flatten().any(|role| role.username == DEFAULT)
}

/// Does anybody get in by the default role?
pub async fn is_open(endpoint: &Endpoint) -> Result<bool, Error> {
    Ok(by_default(endpoint).await?.is_some())
}

/// Log in by the default role, as anybody may; nothing where it is closed.
async fn by_default(endpoint: &Endpoint) -> Result<Option<Connection>, Error> {
    let default = Credentials { username: DEFAULT.into(), password: DEFAULT.into() };
    match Connection::open(&endpoint.logging_in_as(&default)).await {
        Ok(open) => Ok(Some(open)),
        Err(error) if error.is_bad_credentials() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where the default role still opens the ring, make our roles and close it.
/// Ours first: none may take its own superuser status.
pub async fn close_default(
    endpoint: &Endpoint,
    superuser: Option<&Credentials>,
) -> Result<DefaultRole, Error> {
    let ours = endpoint.credentials.as_ref().ok_or(Error::NoCredentials)?;
    let people = superuser.filter(|people| people.username != ours.username);
    let roles = [Some(ours), people].into_iter().flatten();
    let Some(mut open) = by_default(endpoint).await? else { return Ok(DefaultRole::WasClosed) };
    if is_named(Some(ours), people) {
        return Ok(DefaultRole::LeftOpen);
    }
    for role in roles {
        // One that is there already may have been made with a password that has changed since.
        open.execute(&create(role)).await?;
        open.execute(&set_password(role)).await?;
    }
    let mut own = Connection::open(endpoint).await?;
    own.execute(&shut()).await?;
    Ok(DefaultRole::Closed)
}

fn create(role: &Credentials) -> String {
    format!(
        "CREATE ROLE IF NOT EXISTS {} WITH PASSWORD = {} AND LOGIN = true AND SUPERUSER = true",
        quoted(&role.username),
        text(&role.password)
    )
}

fn set_password(role: &Credentials) -> String {
    format!("ALTER ROLE {} WITH PASSWORD = {}", quoted(&role.username), text(&role.password))
}

/// The row stays: where no role exists servers make it again.
fn shut() -> String {
    let password = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
    format!(
        "ALTER ROLE {DEFAULT} WITH PASSWORD = {} AND LOGIN = false AND SUPERUSER = false",
        text(&password)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cql::testing::FakeServer;

    fn user(name: &str) -> Credentials {
        Credentials { username: name.into(), password: format!("of {name}") }
    }

    #[tokio::test]
    async fn the_default_superuser_is_closed_once_ours_are_there() {
        let server = FakeServer::with_users(&[("cassandra", "cassandra")]).await;
        let endpoint = server.endpoint(Some(user("palladion")));
        let closed = close_default(&endpoint, Some(&user("admin"))).await.unwrap();
        assert_eq!(closed, DefaultRole::Closed);
        let told = server.statements();
        assert!(
            told[0].starts_with(
                "CREATE ROLE IF NOT EXISTS \"palladion\" WITH PASSWORD = 'of palladion'"
            ),
            "{told:?}"
        );
        assert_eq!(told[1], "ALTER ROLE \"palladion\" WITH PASSWORD = 'of palladion'");
        assert!(told[2].contains("CREATE ROLE") && told[2].contains("\"admin\""), "{told:?}");
        assert_eq!(told[3], "ALTER ROLE \"admin\" WITH PASSWORD = 'of admin'");
        assert!(told[4].ends_with("AND LOGIN = false AND SUPERUSER = false"), "{told:?}");
        assert_eq!(told.len(), 5);
        let again = close_default(&endpoint, Some(&user("admin"))).await.unwrap();
        assert_eq!((again, server.statements().len()), (DefaultRole::WasClosed, 5));
    }

    #[tokio::test]
    async fn what_was_left_half_way_is_finished() {
        let server =
            FakeServer::with_users(&[("cassandra", "cassandra"), ("palladion", "changed since")])
                .await;
        let endpoint = server.endpoint(Some(user("palladion")));
        assert_eq!(close_default(&endpoint, None).await.unwrap(), DefaultRole::Closed);
        assert_eq!(close_default(&endpoint, None).await.unwrap(), DefaultRole::WasClosed);
    }

    #[tokio::test]
    async fn a_default_role_that_is_left_open_is_not_called_closed() {
        let open = FakeServer::with_users(&[("cassandra", "cassandra")]).await;
        let changed = FakeServer::with_users(&[("cassandra", "of cassandra")]).await;
        for (ours, people) in [("cassandra", "admin"), ("palladion", "cassandra")] {
            let left = async |server: &FakeServer| {
                close_default(&server.endpoint(Some(user(ours))), Some(&user(people))).await
            };
            assert_eq!(left(&open).await.unwrap(), DefaultRole::LeftOpen, "{ours} {people}");
            assert_eq!(left(&changed).await.unwrap(), DefaultRole::WasClosed);
            // Nobody who is called so is locked out.
            assert!(open.statements().is_empty() && changed.statements().is_empty());
        }
    }
}
