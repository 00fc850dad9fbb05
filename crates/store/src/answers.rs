//! What an answer of a store of objects means that is none of success: is an object absent, and
//! what is the next step of whoever reads of a failure?

use crate::address::ObjectAddress;
use object_store::Error;
use palladion_backup::store::Failure;

/// How a 404 begins that is not about the object. Without its bucket a store has
/// no objects; that must not be taken for a repository that is empty.
const NO_BUCKET: [&str; 3] =
    ["NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist"];
/// What stands before the number of a status in the words of the client: of an answer, and of a
/// deletion that is one of several in a request, as Azure has them.
const STATUS: [&str; 2] = ["non-2xx status code: ", " (code: "];

/// What went wrong, for people, with the next step.
pub fn failure(address: &ObjectAddress, error: &Error) -> Failure {
    let why = whole(error);
    Failure(match status(error, &why) {
        Some(403) => format!(
            "{address} refuses it; give the credentials the right to do this on this bucket and prefix ({why})"
        ),
        Some(401) => format!(
            "{address} does not know these credentials; look at the files given by --credentials ({why})"
        ),
        Some(404) if is_without_bucket(&why) => format!(
            "{address} does not exist; create the bucket or container, or correct its name ({why})"
        ),
        _ => format!(
            "{address} has not answered as it should; try again, and look at the store if that lasts ({why})"
        ),
    })
}

/// Does the store answer that there is no such object?
pub fn is_absent(error: &Error) -> bool {
    matches!(error, Error::NotFound { .. }) && !is_without_bucket(&whole(error))
}

/// Does the store lack no object, but whoever asks a right?
pub fn is_refused(error: &Error) -> bool {
    status(error, &whole(error)) == Some(403)
}

/// The status of the answer, where there was one. The client has a kind of error for some of
/// them, but for a list it has none, and says the number in its words alone.
fn status(error: &Error, why: &str) -> Option<u16> {
    match error {
        Error::PermissionDenied { .. } => Some(403),
        Error::Unauthenticated { .. } => Some(401),
        Error::NotFound { .. } => Some(404),
        _ => STATUS.iter().find_map(|before| why.split_once(before)?.1.get(..3)?.parse().ok()),
    }
}

/// An error and what it comes from, without what is said twice.
fn whole(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let part = error.to_string();
        if !text.contains(&part) {
            text = format!("{text}: {part}");
        }
        source = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_without_bucket(why: &str) -> bool {
    NO_BUCKET.iter().any(|part| why.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_known_in_whatever_words_the_client_tells_it() {
        let generic = |why: &str| Error::Generic { store: "MicrosoftAzure", source: why.into() };
        let one =
            "Bulk delete request failed for key a/b: AuthorizationPermissionMismatch (code: 403)";
        let all =
            "Error performing POST: Server returned non-2xx status code: 403 Forbidden: <Error>";
        assert!(is_refused(&generic(one)) && is_refused(&generic(all)));
        for other in [
            "Bulk delete request failed for key a/b: Server Busy (code: 503)",
            "Server returned non-2xx status code: 500 Internal Server Error: (code: 403)",
            "connection reset by peer",
        ] {
            assert!(!is_refused(&generic(other)), "{other}");
        }
    }
}
