//! What of a backup is read for a ring that begins with it: who its members were, their tokens,
//! and the roles. No token may be had twice: a server takes one of another member over silently.

use crate::tokens;
use crate::words::stopped::Stopped;
use palladion_api::backup::BackedUpMember;
use palladion_api::ids::HostId;
use palladion_backup::manifest::member::Member;
use palladion_backup::manifest::ring::LeftOut;
use palladion_backup::names::HostId as SourceId;
use palladion_backup::schema::TableName;
use std::collections::BTreeMap;

pub use palladion_backup::keyspaces::AUTH;

/// Its tables that have what users have made, in all versions of the server. Of these those are
/// loaded that both have: the backup, and the ring.
pub const AUTH_TABLES: [&str; 8] = [
    "roles",
    "role_members",
    "role_permissions",
    // The server has it misspelt.
    "resource_role_permissons_index",
    "network_permissions",
    "cidr_permissions",
    "cidr_groups",
    "identity_to_role",
];

/// Whose tokens they are, by the token.
type Owners<'a> = BTreeMap<&'a str, &'a SourceId>;

/// The members of a backup, and those that were left out of it.
///
/// # Errors
/// One has no token, or two have the same.
pub fn members(all: &[Member], left_out: &[LeftOut]) -> Result<Vec<BackedUpMember>, Stopped> {
    let mut owners = Owners::new();
    let there = all.iter().map(|member| (&member.host, &member.tokens));
    for (host, tokens) in there.chain(left_out.iter().map(|out| (&out.host, &out.tokens))) {
        has_tokens(host, tokens)?;
        for token in tokens {
            if let Some(other) = owners.insert(token, host) {
                let (first, second) = (other.to_string(), host.to_string());
                return Err(Stopped::SharedToken { token: token.clone(), first, second });
            }
        }
    }
    Ok(all.iter().map(backed_up).chain(left_out.iter().map(not_backed_up)).collect())
}

fn not_backed_up(out: &LeftOut) -> BackedUpMember {
    BackedUpMember {
        host_id: HostId::new(out.host.as_str()),
        datacenter: out.datacenter.clone(),
        rack: out.rack.clone(),
        version: out.version.clone(),
        tokens: u32::try_from(out.tokens.len()).unwrap_or(u32::MAX),
        tokens_hash: tokens::hash_of(&out.tokens),
        left_out: true,
    }
}

fn backed_up(member: &Member) -> BackedUpMember {
    BackedUpMember {
        host_id: HostId::new(member.host.as_str()),
        datacenter: member.datacenter.clone(),
        rack: member.rack.clone(),
        version: member.version.clone(),
        tokens: u32::try_from(member.tokens.len()).unwrap_or(u32::MAX),
        tokens_hash: tokens::hash_of(&member.tokens),
        left_out: false,
    }
}

/// A server without tokens to begin with chooses some.
///
/// # Errors
/// There is none.
pub fn has_tokens(host: &SourceId, tokens: &[String]) -> Result<(), Stopped> {
    match tokens.is_empty() {
        true => Err(Stopped::NoTokens { member: host.to_string() }),
        false => Ok(()),
    }
}

/// Tables of roles, each under its own name; no other one, whatever the names are.
pub fn of_auth(names: &[String]) -> BTreeMap<TableName, TableName> {
    let known = names.iter().filter(|name| AUTH_TABLES.contains(&name.as_str()));
    known
        .map(|name| TableName { keyspace: AUTH.to_string(), table: name.clone() })
        .map(|table| (table.clone(), table))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_backup::hash::Hash;
    use palladion_backup::manifest::member::Schema;
    use palladion_backup::names::{BackupId, HostId};

    fn member(number: u8, tokens: &[&str]) -> Member {
        let host = format!("5f3c2b1a-0000-4000-8000-0000000000{number:02x}");
        Member {
            repository: "repository-1".into(),
            backup: BackupId::parse("b1").unwrap(),
            host: HostId::parse(&host).unwrap(),
            volume: format!("volume-{number}"),
            tokens: tokens.iter().map(|token| (*token).to_string()).collect(),
            datacenter: "dc1".into(),
            rack: "r1".into(),
            version: "5.0.5".into(),
            schema: Schema { object: "s".into(), sha256: Hash::of(b""), bytes: 0 },
            keyspaces: None,
        }
    }

    #[test]
    fn a_token_that_two_members_have_is_refused_and_so_is_a_member_without_one() {
        let found = members(&[member(1, &["-5", "7"]), member(2, &["8"])], &[]).unwrap();
        assert_eq!((found[0].tokens, found[1].tokens), (2, 1));
        assert_eq!(found[0].tokens_hash, tokens::hash(["7", "-5"].into_iter()));
        let shared = members(&[member(1, &["-5", "7"]), member(2, &["8", "7"])], &[]).unwrap_err();
        let Stopped::SharedToken { token, first, second } = &shared else { panic!("{shared}") };
        assert_eq!((token.as_str(), &first[34..], &second[34..]), ("7", "01", "02"));
        let twice = members(&[member(1, &["7", "7"])], &[]).unwrap_err();
        assert!(matches!(twice, Stopped::SharedToken { .. }), "{twice}");
        let none = members(&[member(1, &["7"]), member(2, &[])], &[]).unwrap_err();
        assert!(matches!(none, Stopped::NoTokens { .. }), "{none}");
    }

    fn left_out(number: u8, tokens: &[&str]) -> LeftOut {
        let of = member(number, tokens);
        let Member { host, datacenter, rack, version, tokens, .. } = of;
        LeftOut { host, datacenter, rack, version, tokens }
    }

    #[test]
    fn a_member_that_was_left_out_has_its_tokens_and_shares_none() {
        let found = members(&[member(1, &["1"])], &[left_out(2, &["2", "3"])]).unwrap();
        assert_eq!((found[0].left_out, found[1].left_out), (false, true));
        assert_eq!((found[1].tokens, found[1].rack.as_str()), (2, "r1"));
        let shared = members(&[member(1, &["1"])], &[left_out(2, &["1"])]).unwrap_err();
        assert!(matches!(shared, Stopped::SharedToken { .. }), "{shared}");
    }

    #[test]
    fn no_other_table_is_loaded_as_roles() {
        let names = ["roles", "peers", "resource_role_permissons_index"].map(str::to_string);
        let tables: Vec<String> = of_auth(&names).keys().map(ToString::to_string).collect();
        assert_eq!(tables, ["system_auth.resource_role_permissons_index", "system_auth.roles"]);
    }
}
