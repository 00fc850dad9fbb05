//! How the server sees its ring: as a hash that members can be compared by, and as
//! the members with their tokens that a backup has to cover.

use super::{Bench, down};
use crate::admin::jobs::{Jobs, Owners};
use crate::report::hash_sorted;
use crate::words::calls::NotKnown;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::{FinishWork, RingView};
use palladion_api::member::{MemberState, RingMember};
use palladion_api::words::Names;
use std::collections::{BTreeMap, BTreeSet};

/// How it sees it now.
///
/// # Errors
/// It cannot be asked.
pub async fn view(jobs: &dyn Jobs) -> Result<RingView, Stopped> {
    jobs.owners().await.map(|owners| view_of(&owners)).map_err(down)
}

/// All tokens with their owners, joining members included: whoever begins or ends a
/// join in between changes it.
fn view_of(owners: &Owners) -> RingView {
    let lines: Vec<String> =
        owners.tokens.iter().map(|(token, host)| format!("{token} {host}")).collect();
    RingView {
        tokens_hash: hash_sorted(lines.iter().map(String::as_str)),
        schema_version: owners.schema_version.clone(),
    }
}

/// The member's own tokens.
///
/// # Errors
/// The server cannot be asked, or does not know of any.
pub async fn own_tokens(bench: &Bench) -> Result<Vec<String>, Stopped> {
    let owners = bench.jobs()?.owners().await.map_err(down)?;
    let mut all = by_member(owners);
    let tokens = all.remove(bench.order.host_id.as_str());
    tokens.ok_or_else(|| Stopped::ServerDown { why: NotKnown::Tokens.to_string() })
}

fn by_member(owners: Owners) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (token, host) in owners.tokens {
        all.entry(host.as_str().to_string()).or_default().push(token);
    }
    all
}

/// The normal members of the ring, each with its tokens.
///
/// # Errors
/// The server cannot be asked, or a member is leaving or moving: what it holds may be
/// in no snapshot of others.
pub async fn members(
    bench: &Bench,
    work: &FinishWork,
) -> Result<BTreeMap<String, Vec<String>>, Stopped> {
    let reading = bench.server()?.read().await.map_err(down)?;
    let owners = bench.jobs()?.owners().await.map_err(down)?;
    let unknown = || Stopped::ServerDown { why: NotKnown::Ring.to_string() };
    let members = reading.members.ok_or_else(unknown)?;
    normal(&members, owners).map_err(|found| {
        let ordered = Names::of(work.members.iter().map(|sent| &sent.host_id));
        Stopped::RingChanged { ordered, found: Names::of(found) }
    })
}

/// Those that are normal, with their tokens; or only who they are, where one leaves or moves.
fn normal(
    members: &[RingMember],
    owners: Owners,
) -> Result<BTreeMap<String, Vec<String>>, BTreeSet<String>> {
    let of = |state: MemberState| members.iter().filter(move |member| member.state == state);
    let found: BTreeSet<String> =
        of(MemberState::Normal).map(|member| member.host_id.as_str().to_string()).collect();
    let stays = members.iter().all(|member| match member.state {
        MemberState::Normal | MemberState::Joining => true,
        MemberState::Leaving | MemberState::Moving | MemberState::Unknown => false,
    });
    if !stays {
        return Err(found);
    }
    let mut tokens = by_member(owners);
    let with = |host: String| {
        let tokens = tokens.remove(&host).unwrap_or_default();
        (host, tokens)
    };
    Ok(found.into_iter().map(with).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::ids::HostId;
    use palladion_api::member::Liveness;

    fn owners(tokens: &[(&str, &str)]) -> Owners {
        let of = |(token, host): &(&str, &str)| (token.to_string(), HostId::new(*host));
        Owners { tokens: tokens.iter().map(of).collect(), schema_version: "s1".into() }
    }

    fn member(host: &str, state: MemberState) -> RingMember {
        let address = format!("10.0.0.{host}");
        RingMember {
            host_id: HostId::new(host),
            address: palladion_api::ids::StaticAddress::new(address),
            liveness: Liveness::Up,
            state,
            datacenter: None,
            version: None,
        }
    }

    #[test]
    fn a_token_that_changes_its_owner_changes_the_view() {
        let view = |tokens: &[(&str, &str)]| view_of(&owners(tokens)).tokens_hash;
        let first = view(&[("1", "a"), ("2", "b")]);
        assert_eq!(first, view(&[("2", "b"), ("1", "a")]));
        assert_ne!(first, view(&[("1", "b"), ("2", "b")]));
        assert_ne!(first, view(&[("1", "a"), ("2", "b"), ("3", "c")]));
        assert_ne!(first, view(&[("1", "a")]));
    }

    #[test]
    fn who_joins_is_no_part_of_a_backup_and_who_leaves_ends_it() {
        use MemberState::{Joining, Leaving, Moving, Normal};
        let tokens = || owners(&[("1", "a"), ("2", "b"), ("3", "a")]);
        let joins = normal(&[member("a", Normal), member("b", Joining)], tokens()).unwrap();
        assert_eq!(joins, [("a".to_string(), vec!["1".to_string(), "3".to_string()])].into());
        for state in [Leaving, Moving] {
            let leaves = normal(&[member("a", Normal), member("b", state)], tokens());
            assert_eq!(leaves, Err(["a".to_string()].into()), "{state:?}");
        }
    }
}
