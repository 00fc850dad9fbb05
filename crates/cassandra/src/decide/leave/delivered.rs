//! Who leaves has its changes read first. Before it begins, its reader must keep up: from then on
//! the ring waits for it. When it has left and its server has ended, its pod stays until all is
//! read: the volume is kept, but nobody reads there any more (safety rule 6.15).

use crate::facts::{Facts, MemberFact};
use crate::words::leave::{Bytes, GiveUpChanges, Unread, Waiting};
use palladion_api::labels;
use palladion_api::member::{CdcState, CdcStatus};
use palladion_plan::words::Count;

/// What a leave waits for before it begins. It holds up nothing else (safety rule 7.6).
pub fn before(facts: &Facts<'_>, member: &MemberFact) -> Option<Waiting> {
    let status = asked_for(facts, member)?;
    match status.state {
        CdcState::Current | CdcState::Delivered => None,
        CdcState::Lagging
        | CdcState::Full
        | CdcState::Undelivered
        | CdcState::Unread
        | CdcState::Unknown => {
            let rest = unread(facts, member, status);
            Some(Waiting::Unread { member: member.name.clone(), rest })
        }
    }
}

/// What a member that has left waits for before its pod goes.
pub fn after(facts: &Facts<'_>, member: &MemberFact) -> Option<Waiting> {
    let status = asked_for(facts, member)?;
    let name = member.name.clone();
    match status.state {
        CdcState::Delivered => None,
        CdcState::Current | CdcState::Lagging | CdcState::Full => {
            Some(Waiting::Ending { member: name })
        }
        CdcState::Undelivered | CdcState::Unread | CdcState::Unknown => {
            Some(Waiting::Undelivered { member: name, rest: unread(facts, member, status) })
        }
    }
}

/// What its agent reports, unless a person has said that it is not waited for. An agent that reports
/// nothing has started no server that keeps changes: it says so as long as it has one.
fn asked_for<'a>(facts: &Facts<'_>, member: &'a MemberFact) -> Option<&'a CdcStatus> {
    let status = member.status.cdc.as_ref()?;
    let host = member.recorded_host_id()?;
    let list = facts.snapshot.owner.meta.annotations.get(labels::GIVE_UP_CHANGES);
    let mut hosts = list.iter().flat_map(|list| list.split(',')).map(str::trim);
    (!hosts.any(|given_up| given_up == host.as_str())).then_some(status)
}

fn unread(facts: &Facts<'_>, member: &MemberFact, status: &CdcStatus) -> Unread {
    let meta = &facts.snapshot.owner.meta;
    let host = member.recorded_host_id().map(ToString::to_string).unwrap_or_default();
    let earlier = meta.annotations.get(labels::GIVE_UP_CHANGES).map(|list| format!("{list},"));
    let command = GiveUpChanges::Command {
        namespace: meta.namespace.clone(),
        cluster: meta.name.clone(),
        annotation: labels::GIVE_UP_CHANGES,
        hosts: earlier.unwrap_or_default() + &host,
    };
    match status.state {
        CdcState::Unread | CdcState::Unknown => Unread::Unknown { command },
        CdcState::Current
        | CdcState::Lagging
        | CdcState::Full
        | CdcState::Undelivered
        | CdcState::Delivered => {
            let segments = Count::of(status.segments, "segment");
            Unread::Waits { segments, bytes: Bytes(status.bytes), command }
        }
    }
}
