//! The members of another datacenter, which is lost for good, are removed one after the other.
//! What is asked for is looked at again right before each call: one that is up again ends it, and so
//! do a member that nobody has named and a keyspace that still has copies there (safety rule 7.20).

use super::bench::{Bench, Halt, Step};
use crate::admin::{ByDatacenter, Error, STILL_REMOVING};
use crate::words::calls::Doing;
use crate::words::removal::Refused;
use crate::words::work::{Done, Failed};
use palladion_api::ids::HostId;
use palladion_api::member::{JobCause, Liveness, RingMember};
use palladion_api::task::RemoveDatacenterTask;
use palladion_api::words::{Count, Names};

/// Remove whoever is left of it.
pub async fn remove(bench: &Bench, what: &RemoveDatacenterTask) -> Step<Done> {
    for host_id in &what.host_ids {
        bench.may_stop()?;
        one(bench, what, host_id).await?;
    }
    let members = Count::of(what.host_ids.len(), "member");
    Ok(Done::Removed { members, datacenter: what.name.clone() })
}

/// A removal that an earlier agent has begun goes on in the server: it is waited for.
async fn one(bench: &Bench, what: &RemoveDatacenterTask, host_id: &HostId) -> Step<()> {
    loop {
        let doing = || Doing::RemoveNode { host_id: host_id.clone() };
        if !is_left(bench, what, host_id).await? {
            return Ok(());
        }
        match bench.admin.remove_node(host_id).await {
            Ok(()) => return Ok(()),
            Err(Error::Failed { message, .. }) if message.contains(STILL_REMOVING) => {
                bench.may_stop()?;
                bench.pause(bench.pace.orphan).await;
            }
            Err(error) => return Err(bench.failed(doing(), error).await),
        }
    }
}

/// Is it still in the ring? An error says what forbids its removal.
async fn is_left(bench: &Bench, what: &RemoveDatacenterTask, host_id: &HostId) -> Step<bool> {
    let reading = match bench.admin.read().await {
        Ok(reading) => reading,
        Err(error) => return Err(bench.failed(Doing::ReadAttributes, error).await),
    };
    let Some(members) = &reading.members else { return Err(refused(&Refused::NotRead)) };
    if !members.iter().any(|member| member.host_id == *host_id) {
        return Ok(false);
    }
    let known = reading.datacenters();
    let counted = match bench.admin.copies_by_datacenter(&known, None).await {
        Ok(counted) => counted,
        Err(error) => return Err(bench.failed(Doing::CountCopies, error).await),
    };
    if reading.schema_agreed != Some(true) {
        return Err(refused(&Refused::NotAgreed));
    }
    match forbids(what, &bench.datacenter, members, &counted) {
        Some(why) => Err(refused(&why)),
        None => Ok(true),
    }
}

fn refused(why: &Refused) -> Halt {
    Halt::Failed(JobCause::ServerError, Failed::Server { why: why.to_string() }.to_string())
}

/// What forbids it, by what this server sees.
fn forbids(
    what: &RemoveDatacenterTask,
    own: &str,
    members: &[RingMember],
    counted: &ByDatacenter,
) -> Option<Refused> {
    let datacenter = || what.name.clone();
    if what.name == own {
        return Some(Refused::Own { datacenter: datacenter() });
    }
    if let Some(member) = members.iter().find(|member| member.datacenter.is_none()) {
        return Some(Refused::NotPlaced { address: member.address.clone() });
    }
    let there = || members.iter().filter(|m| m.datacenter.as_ref() == Some(&what.name));
    let is_named = |member: &&RingMember| what.host_ids.contains(&member.host_id);
    if let Some(other) =
        members.iter().filter(is_named).find(|m| m.datacenter.as_ref() != Some(&what.name))
    {
        return Some(Refused::Elsewhere {
            host_id: other.host_id.clone(),
            datacenter: datacenter(),
            own: other.datacenter.clone().unwrap_or_default(),
        });
    }
    if let Some(up) = there().find(|member| member.liveness != Liveness::Down) {
        return Some(Refused::NotDown { address: up.address.clone(), datacenter: datacenter() });
    }
    if let Some(other) = there().find(|member| !is_named(member)) {
        let (host_id, datacenter) = (other.host_id.clone(), datacenter());
        return Some(Refused::NotNamed { host_id, datacenter });
    }
    let keyspaces = counted.of_clients(&what.name);
    let is_named = !keyspaces.is_empty();
    is_named
        .then(|| Refused::Keyspaces { keyspaces: Names::of(keyspaces), datacenter: datacenter() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::ids::StaticAddress;
    use palladion_api::member::MemberState;

    fn member(host_id: &'static str, datacenter: &str, liveness: Liveness) -> RingMember {
        RingMember {
            host_id: host_id.into(),
            address: StaticAddress::new(format!("10.0.0.{}", host_id.len())),
            liveness,
            state: MemberState::Normal,
            datacenter: Some(datacenter.into()),
            version: None,
        }
    }

    fn counted(keyspace: &str, datacenter: &str) -> ByDatacenter {
        let of = [(datacenter.to_string(), 2)].into();
        ByDatacenter { copies: [(keyspace.to_string(), of)].into(), uneven: Vec::new() }
    }

    #[test]
    fn a_member_is_removed_only_while_the_whole_datacenter_is_down_and_no_keyspace_names_it() {
        let what =
            RemoveDatacenterTask { name: "dc2".into(), host_ids: vec!["f".into(), "ff".into()] };
        let own = member("own", "dc1", Liveness::Up);
        let dead =
            [own.clone(), member("f", "dc2", Liveness::Down), member("ff", "dc2", Liveness::Down)];
        let of = |members: &[RingMember], counted: &ByDatacenter| {
            forbids(&what, "dc1", members, counted)
        };
        let none = counted("shop", "dc1");
        assert_eq!(of(&dead, &none), None);
        assert_eq!(of(&dead[..2], &none), None, "the other one is removed already");
        assert_eq!(of(&dead, &counted("system_auth", "dc2")), None, "dropped when nobody is there");
        assert!(matches!(of(&dead, &counted("shop", "dc2")), Some(Refused::Keyspaces { .. })));
        let back = [own.clone(), dead[1].clone(), member("ff", "dc2", Liveness::Up)];
        assert!(matches!(of(&back, &none), Some(Refused::NotDown { .. })));
        let third = [&dead[..], &[member("fff", "dc2", Liveness::Down)]].concat();
        assert!(matches!(of(&third, &none), Some(Refused::NotNamed { .. })));
        let moved = [own.clone(), dead[1].clone(), member("ff", "dc3", Liveness::Down)];
        assert!(matches!(of(&moved, &none), Some(Refused::Elsewhere { .. })));
        let mut unknown = dead.to_vec();
        unknown[2].datacenter = None;
        assert!(matches!(of(&unknown, &none), Some(Refused::NotPlaced { .. })));
        assert!(matches!(forbids(&what, "dc2", &dead, &none), Some(Refused::Own { .. })));
    }
}
