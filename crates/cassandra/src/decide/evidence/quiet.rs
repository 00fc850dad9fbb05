//! The cheap look before a turn is taken: what members report by themselves.

use super::marks;
use super::witness::{known_hosts, rest_of};
use crate::facts::{Facts, lines};
use palladion_api::ids::{HostId, MemberName};

/// The cheap look before a turn is taken: what the members report by
/// themselves. `Err` names what is not as it should be.
pub fn ring_is_quiet(facts: &Facts<'_>) -> Result<(), String> {
    let known = known_hosts(facts).len();
    for member in facts.members.values().filter(|m| m.recorded_host_id().is_some()) {
        if !member.is_normal() {
            return Err(format!("member {} is not up and normal", member.name));
        }
        let Some(ring) = &member.status.ring else {
            return Err(format!("member {} has not reported its ring yet", member.name));
        };
        if let Some(odd) = ring.exceptions.first() {
            return Err(format!(
                "member {} sees {} {:?} and {:?}",
                member.name, odd.address, odd.liveness, odd.state
            ));
        }
        if !ring.schema_agreed && !lines::explain_schemas(facts) {
            return Err(format!("member {} sees more than one schema version", member.name));
        }
        if usize::try_from(ring.members) != Ok(known) {
            return Err(format!("member {} sees {} of {known} members", member.name, ring.members));
        }
    }
    Ok(())
}

/// All others are up and normal, and see nobody in trouble but the lost one,
/// and whom else nobody waits for any more.
pub fn rest_is_quiet(facts: &Facts<'_>, name: &MemberName, host_id: &HostId) -> Result<(), String> {
    let excused = marks::excused(facts, host_id);
    let without = rest_of(facts, host_id);
    let mut others = 0;
    for member in facts
        .members
        .values()
        .filter(|m| m.name != *name && m.recorded_host_id().is_some())
        .filter(|m| marks::of(m).is_none())
    {
        others += 1;
        if !member.is_normal() {
            return Err(format!("member {} is not up and normal", member.name));
        }
        let Some(ring) = &member.status.ring else {
            return Err(format!("member {} has not reported its ring yet", member.name));
        };
        let odd = ring.exceptions.iter().find(|e| !excused.contains(&&e.host_id));
        if let Some(odd) = odd {
            return Err(format!(
                "member {} sees {} {:?} and {:?}",
                member.name, odd.address, odd.liveness, odd.state
            ));
        }
        let knows = usize::try_from(ring.members) != Ok(without);
        if knows && !ring.exceptions.iter().any(|e| e.host_id == *host_id) {
            return Err(format!("member {} still sees it up", member.name));
        }
    }
    match others {
        0 => Err("it was the only member of the ring; its data is gone. Restore a backup, or annotate for a new founding".into()),
        _ => Ok(()),
    }
}
