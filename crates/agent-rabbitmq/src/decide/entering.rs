//! A node that started by permit: closed for clients, it joins its cluster or is set up as
//! the first; then it is opened.

use super::{Action, Doors, Facts, Process, StopWhy, VolumeFact, Work, WorkFact};
use crate::volume::Data;
use crate::volume::judge::is_in_a_cluster;
use crate::volume::ledger::{Entered, Ledger, Membership};
use jiff::SignedDuration;
use palladion_api::service_member::{ServicePermit, ServicePermitKind};

/// So long after its start a node waits for others that it does not see. What passes by
/// itself, as the restart of one of them does, has passed.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(2);

/// What is to be done about it.
pub fn next(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    if facts.work == WorkFact::Busy {
        return None;
    }
    match ledger.entered {
        // It has started by itself, and is noted when it answers.
        Entered::No | Entered::Asked if starts_open(facts) && is_joined_by_files(facts, ledger) => {
            None
        }
        Entered::No | Entered::Asked => enter(facts, ledger),
        Entered::Yes => open(facts, ledger),
    }
}

/// Is it a member by its own files, although nobody could note that it had joined? Then it
/// has started by itself, open, and is looked at and asked as every member is. Where its
/// application has never run in its cluster that is noted when it does: until then it has no
/// replicas, and whatever ends it leaves it as it is.
pub fn by_its_files(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let is_to_be_noted = ledger.entered != Entered::Yes && starts_open(facts);
    let is_due = is_to_be_noted && is_joined_by_files(facts, ledger) && has_run(facts);
    is_due.then_some(Action::RecordEntered)
}

fn starts_open(facts: &Facts<'_>) -> bool {
    facts.process == Process::Absent || facts.doors == Some(Doors::Open)
}

/// Has its application run in its cluster? While it runs, its volume is known as it was before;
/// the management API answers only where the application runs.
fn has_run(facts: &Facts<'_>) -> bool {
    let is_unstarted = match &facts.volume {
        VolumeFact::Found(found) => found.data == Data::Unstarted,
        VolumeFact::Unreadable(_) => false,
    };
    !is_unstarted || facts.reading.is_some_and(|reading| reading.answers())
}

/// It runs closed, is a member by its own files, and has no permit by which its join could go
/// on: its application may be stopped. As a member it needs none, and starts open.
fn start_by_itself(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    facts.spec?.live()?;
    let is_due = facts.doors == Some(Doors::Closed) && is_joined_by_files(facts, ledger);
    is_due.then_some(Action::Stop(StopWhy::Opening))
}

fn is_joined_by_files(facts: &Facts<'_>, ledger: &Ledger) -> bool {
    let is_joining = matches!(ledger.membership, Membership::Joining { .. });
    let found = match &facts.volume {
        VolumeFact::Found(found) => Some(found),
        VolumeFact::Unreadable(_) => None,
    };
    is_joining && found.is_some_and(|found| is_in_a_cluster(found, ledger))
}

/// The first sight of a node that serves as a member, in touch with the others.
pub fn record_member(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let is_joining = matches!(ledger.membership, Membership::Joining { .. });
    let has_entered = is_joining && ledger.entered == Entered::Yes;
    let serves = facts.reading.is_some_and(|reading| reading.serves());
    (has_entered && serves && is_in_touch(facts, ledger)).then_some(Action::RecordMember)
}

fn enter(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let Some(permit) = permit(facts, ledger) else {
        return start_by_itself(facts, ledger);
    };
    match permit.kind {
        ServicePermitKind::Initialize => Some(Action::Work(Work::SetUp)),
        ServicePermitKind::Join if permit.nodes.is_empty() => None,
        ServicePermitKind::Join => {
            let nodes = permit.nodes.clone();
            Some(Action::Work(match ledger.entered {
                Entered::No => Work::Meet { nodes },
                Entered::Asked | Entered::Yes => Work::Join { nodes },
            }))
        }
        ServicePermitKind::Rescue | ServicePermitKind::Unknown(_) => None,
    }
}

/// The permit that the node was started with; also as it was saved: nobody may be there to
/// be asked, as the second of two needs the first for every write.
pub fn permit<'a>(facts: &Facts<'a>, ledger: &Ledger) -> Option<&'a ServicePermit> {
    let joining = match &ledger.membership {
        Membership::Joining { nonce, .. } => nonce,
        Membership::Empty | Membership::Joined | Membership::Left => return None,
    };
    let permit = facts.spec?.spec.start.as_ref()?;
    (permit.nonce == *joining && permit.volume_id == ledger.volume_id).then_some(permit)
}

/// Clients get in once it is a member in touch with the others. It starts again for that where
/// the others are a majority without it; of two the other would pause meanwhile, so that it
/// is opened as it runs.
fn open(facts: &Facts<'_>, ledger: &Ledger) -> Option<Action> {
    let reading = facts.reading?;
    let is_due = facts.doors == Some(Doors::Closed)
        && !reading.listens()
        && is_in_touch(facts, ledger)
        && reading.broker().is_some_and(|broker| broker.serves());
    is_due.then(|| match reading.is_alone() || reading.others_are_a_majority() {
        true => Action::Stop(StopWhy::Opening),
        false => Action::Work(Work::Open),
    })
}

/// Does it see enough of the others to take clients: a majority of the members, and all that
/// ran when its permit was given? Another one may be lost for good, and its replacement waits
/// for this one. Also one of the permit may be lost by now, or the permit withdrawn, so that
/// nobody knows who ran: then a majority suffices after a while, as for every later start.
fn is_in_touch(facts: &Facts<'_>, ledger: &Ledger) -> bool {
    let Some(reading) = facts.reading.filter(|reading| reading.sees_no_partition()) else {
        return false;
    };
    let sees_its_permit = permit(facts, ledger).is_some_and(|permit| reading.sees(&permit.nodes));
    let is_enough = sees_its_permit || has_waited(facts, ledger);
    reading.sees_all() || (reading.sees_a_majority() && is_enough)
}

fn has_waited(facts: &Facts<'_>, ledger: &Ledger) -> bool {
    let start = ledger.last_start().map(|start| start.record.started_at.0);
    start.is_some_and(|start| facts.now >= start + PATIENCE)
}
