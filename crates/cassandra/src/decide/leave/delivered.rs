//! Who leaves has its changes read first. Before it begins, its reader must keep up: from then on
//! the ring waits for it. When it has left and its server has ended, its pod stays until all is
//! read: the volume is kept, but nobody reads there any more (safety rule 6.15).

use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::validate::cdc::on_full;
use crate::words::leave::{Bytes, GiveUpChanges, Unread, Waiting};
use palladion_api::cluster::{CdcOnFull, Turn};
use palladion_api::labels;
use palladion_api::member::{CdcState, CdcStatus};
use palladion_plan::words::{Count, Names};

/// What a leave waits for before it begins. It holds up nothing else (safety rule 7.6).
pub fn before(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Option<Waiting> {
    unread_before(facts, member).or_else(|| no_room(facts, valid, member))
}

/// Who receives rows of tables with changes writes them through its commit log: one without room
/// refuses them, and the decommission fails halfway.
fn no_room(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Option<Waiting> {
    match on_full(valid) {
        CdcOnFull::Block => {}
        CdcOnFull::DropOldest => return None,
    }
    let others = facts.members.values().filter(|other| other.name != member.name);
    let full = others.filter(|other| !other.is_gone() && is_full(other));
    let members: Vec<_> = full.map(|other| other.name.clone()).collect();
    let name = member.name.clone();
    (!members.is_empty()).then(|| Waiting::NoRoom { member: name, members: Names::of(members) })
}

fn is_full(member: &MemberFact) -> bool {
    member.status.cdc.as_ref().is_some_and(|status| match status.state {
        CdcState::Full | CdcState::Crowded => true,
        CdcState::Current
        | CdcState::Lagging
        | CdcState::Stranded
        | CdcState::Unread
        | CdcState::Undelivered
        | CdcState::Delivered
        | CdcState::Unknown => false,
    })
}

fn unread_before(facts: &Facts<'_>, member: &MemberFact) -> Option<Waiting> {
    let status = asked_for(facts, member)?;
    match status.state {
        // What its server holds goes with it, and no reader has to do with that.
        CdcState::Current | CdcState::Crowded | CdcState::Delivered => None,
        CdcState::Lagging
        | CdcState::Full
        | CdcState::Stranded
        | CdcState::Undelivered
        | CdcState::Unread
        | CdcState::Unknown => {
            let rest = unread(facts, member, status);
            Some(Waiting::Unread { member: member.name.clone(), rest })
        }
    }
}

/// What a member that has left waits for before its pod goes, in this turn.
pub fn after(facts: &Facts<'_>, turn: &Turn, member: &MemberFact) -> Option<Waiting> {
    let status = asked_for(facts, member)?;
    let (name, since) = (member.name.clone(), turn.since.0);
    let undelivered = |rest| Waiting::Undelivered { member: name.clone(), since, rest };
    match status.state {
        CdcState::Delivered => None,
        CdcState::Current
        | CdcState::Lagging
        | CdcState::Full
        | CdcState::Crowded
        | CdcState::Stranded => {
            // Where its machine does not answer nobody ends its server, and nobody reads there: the
            // word of the others ends the leave. Its claim stays.
            if member.silent_node(&facts.nodes).is_some() {
                return None;
            }
            // Its pod may never come back: what is left has a way out.
            if !member.agent_speaks() {
                return Some(undelivered(Unread::Unknown { command: give_up(facts, member) }));
            }
            Some(Waiting::Ending { member: name })
        }
        CdcState::Undelivered | CdcState::Unread | CdcState::Unknown => {
            Some(undelivered(unread(facts, member, status)))
        }
    }
}

/// What its agent reports, unless a person has said that it is not waited for. An agent that reports
/// nothing has a volume on which no server has kept changes, or all of them were read.
fn asked_for<'a>(facts: &Facts<'_>, member: &'a MemberFact) -> Option<&'a CdcStatus> {
    let status = member.status.cdc.as_ref()?;
    member.recorded_host_id()?;
    (!is_given_up(facts, member)).then_some(status)
}

/// Has a person said that its changes need not be read?
pub fn is_given_up(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let Some(host) = member.recorded_host_id() else { return false };
    let list = facts.snapshot.owner.meta.annotations.get(labels::GIVE_UP_CHANGES);
    let mut hosts = list.iter().flat_map(|list| list.split(',')).map(str::trim);
    hosts.any(|given_up| given_up == host.as_str())
}

/// How a person says that.
pub fn give_up(facts: &Facts<'_>, member: &MemberFact) -> GiveUpChanges {
    let meta = &facts.snapshot.owner.meta;
    let earlier = meta.annotations.get(labels::GIVE_UP_CHANGES).map(String::as_str);
    let earlier = earlier.unwrap_or_default().split(',').map(str::trim);
    let host = member.recorded_host_id().map(ToString::to_string).unwrap_or_default();
    let hosts: Vec<&str> = earlier.filter(|one| !one.is_empty()).chain([host.as_str()]).collect();
    GiveUpChanges::Command {
        namespace: meta.namespace.clone(),
        cluster: meta.name.clone(),
        annotation: labels::GIVE_UP_CHANGES,
        hosts: hosts.join(","),
    }
}

fn unread(facts: &Facts<'_>, member: &MemberFact, status: &CdcStatus) -> Unread {
    let command = give_up(facts, member);
    match status.state {
        CdcState::Unread | CdcState::Unknown => Unread::Unknown { command },
        CdcState::Current
        | CdcState::Lagging
        | CdcState::Full
        | CdcState::Crowded
        | CdcState::Stranded
        | CdcState::Undelivered
        | CdcState::Delivered => {
            let segments = Count::of(status.segments, "segment");
            Unread::Waits { segments, bytes: Bytes(status.bytes), command }
        }
    }
}
