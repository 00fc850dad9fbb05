//! How the server sees its ring: as a hash that members can be compared by, and as
//! the members with their tokens that a backup has to cover.

use super::{Bench, down};
use crate::admin::jobs::{Jobs, Owners};
use crate::report::hash_sorted;
use crate::words::calls::NotKnown;
use palladion_agent_transfer::assign::{Replicas, Ring, names, quorum};
use palladion_agent_transfer::restore::schema::is_system;
use palladion_agent_transfer::whole::AUTH;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::{DescribeWork, FinishWork, QuorumWork, RingView};
use palladion_api::ids::StaticAddress;
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

/// The normal members of the ring, each with its tokens, for the end of a backup.
///
/// # Errors
/// The server cannot be asked, or a member is leaving or moving: what it holds may be
/// in no snapshot of others.
pub async fn to_finish(bench: &Bench, work: &FinishWork) -> Result<Ring, Stopped> {
    let ordered = || Names::of(work.members.iter().map(|sent| &sent.host_id));
    ring(bench, work.quorum.as_ref(), &ordered).await
}

/// Do the members suffice that are not left out? The hash of the ring's tokens.
///
/// # Errors
/// They do not, or as above.
pub async fn suffices(
    bench: &Bench,
    (work, quorum): (&DescribeWork, &QuorumWork),
) -> Result<String, Stopped> {
    let ordered = || Names::of(&work.members);
    quorum::suffices((work, quorum), &ring(bench, Some(quorum), &ordered).await?)
}

async fn ring(
    bench: &Bench,
    quorum: Option<&QuorumWork>,
    ordered: &(dyn Fn() -> Names + Sync),
) -> Result<Ring, Stopped> {
    let reading = bench.server()?.read().await.map_err(down)?;
    let owners = bench.jobs()?.owners().await.map_err(down)?;
    let all = reading.members.ok_or_else(unknown)?;
    let schema_version = owners.schema_version.clone();
    let members = normal(&all, owners)
        .map_err(|found| Stopped::RingChanged { ordered: ordered(), found: Names::of(found) })?;
    let replicas = match quorum {
        // A place without tokens is none that a ring could begin with.
        Some(_) if members.values().any(Vec::is_empty) => {
            return Err(Stopped::ServerDown { why: NotKnown::Tokens.to_string() });
        }
        Some(work) => replicas(bench, work, &all).await?,
        None => Vec::new(),
    };
    Ok(Ring { members, replicas, schema_version })
}

fn unknown() -> Stopped {
    Stopped::ServerDown { why: NotKnown::Ring.to_string() }
}

/// Who has copies of the ranges of the keyspaces of a backup. Where it names none, of those that a
/// restore brings back: traces and the like are not worth a backup.
async fn replicas(
    bench: &Bench,
    work: &QuorumWork,
    members: &[RingMember],
) -> Result<Vec<Replicas>, Stopped> {
    let of = |member: &RingMember| {
        let host = names::HostId::parse(member.host_id.as_str())?;
        Some((member.address.clone(), host))
    };
    let hosts: BTreeMap<StaticAddress, names::HostId> = members.iter().filter_map(of).collect();
    let is_of_it = |keyspace: &String| match work.keyspaces.is_empty() {
        true => keyspace == AUTH || !is_system(keyspace),
        false => work.keyspaces.contains(keyspace),
    };
    let keyspaces = bench.server()?.keyspaces().await.map_err(down)?;
    let mut all = BTreeSet::new();
    for keyspace in keyspaces.into_iter().filter(is_of_it) {
        for range in bench.jobs()?.ranges(&keyspace).await.map_err(down)? {
            let hosts = range.members.iter().map(|address| hosts.get(address).cloned());
            let hosts = hosts.collect::<Option<_>>().ok_or_else(unknown)?;
            all.insert(Replicas { keyspace: keyspace.clone(), hosts });
        }
    }
    Ok(all.into_iter().collect())
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
    // While a successor streams, the tokens of the one whose place it takes are told as its own.
    let bare: Vec<&String> = found.iter().filter(|host| !tokens.contains_key(*host)).collect();
    let joining: Vec<&str> =
        of(MemberState::Joining).map(|member| member.host_id.as_str()).collect();
    if let ([lost], [successor]) = (&bare[..], &joining[..])
        && let Some(of_lost) = tokens.remove(*successor)
    {
        tokens.insert((*lost).clone(), of_lost);
    }
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
        // It has the place of one that is down, until it has all that this one had.
        let streams = normal(&[member("d", Normal), member("a", Joining)], tokens()).unwrap();
        assert_eq!(streams["d"], ["1", "3"]);
        let members = [member("d", Normal), member("a", Joining), member("b", Joining)];
        assert!(normal(&members, tokens()).unwrap()["d"].is_empty(), "whose are they?");
        for state in [Leaving, Moving] {
            let leaves = normal(&[member("a", Normal), member("b", state)], tokens());
            assert_eq!(leaves, Err(["a".to_string()].into()), "{state:?}");
        }
    }
}
