//! A ring that begins with a restore: nobody starts before it is on record whose place in the
//! backup he takes, and he has noted the tokens of it.

use crate::decide::draft::Draft;
use crate::decide::restores::is_over as is_ended;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::initialize::{Problem, Waiting};
use palladion_api::cluster::{Turn, TurnStep};

/// What the first start of this member waits for.
pub fn waits(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Option<Waiting> {
    let asked = valid.backup.as_ref().and_then(|backup| backup.restore.clone());
    let Some(restore) = facts.restored_by() else {
        return asked.map(|restore| Waiting::Restore { restore });
    };
    // Its record may be released by this very decision: nobody starts by it any more.
    if is_over(facts) {
        return Some(Waiting::Restore { restore });
    }
    let place = facts.place_of(&member.name);
    match place.is_some_and(|place| member.has_tokens_of(place)) {
        true => None,
        false => Some(Waiting::Restoring { restore }),
    }
}

/// What keeps the member that has this turn from its first start: the restore has ended since, or
/// was exchanged. Who is a full member already comes back without it.
pub fn first_start_waits(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
) -> Option<Waiting> {
    let is_first = match turn.step {
        TurnStep::Initialize => !facts.ring_exists(),
        TurnStep::Join => facts.restoring().is_some() && facts.place_of(&member.name).is_some(),
        _ => false,
    };
    is_first.then(|| waits(facts, valid, member)).flatten()
}

/// Say what a ring waits for that takes no clients yet, or what keeps it closed.
pub fn report(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if let Some(member) = facts.closed_without_restore() {
        let member = member.name.clone();
        return draft.report(match facts.lets_clients_in() {
            true => Problem::LeftClosed { member },
            false => Problem::Forgotten { member },
        });
    }
    let Some(restore) = facts.restored_by() else {
        return;
    };
    match is_over(facts) {
        true => {
            let (namespace, cluster) = (valid.namespace.clone(), valid.name.clone());
            draft.report(Problem::NotRestored { restore, namespace, cluster });
        }
        false => {
            draft.wait_for(Waiting::Restoring { restore });
        }
    }
}

/// Has the restore ended, or was it deleted, before it let clients in?
pub fn is_over(facts: &Facts<'_>) -> bool {
    let Some(record) = &facts.status.restore else {
        return false;
    };
    let all = facts.objects(crate::resources::RESTORE).iter();
    let mut there = all.filter(|object| object.meta.uid == record.restore_uid);
    there.next().is_none_or(|object| {
        let is_given_up = object.at("/status/givenUp").is_some_and(|why| !why.is_null());
        object.meta.is_terminating() || is_given_up || is_ended(object)
    })
}
