//! A restore that is given up: whoever works for it is stopped, and the tables get their own
//! `gc_grace_seconds` back. Rows that were loaded stay.

use super::answers::{Answer, all, chosen};
use super::course::write;
use super::create::SCHEMA;
use super::finish::{Settled, settle};
use super::load::LOAD;
use super::orders::{self, Active};
use super::read::Restore;
use super::whole::REPLAY;
use crate::decide::draft::Draft;
use crate::decide::transfers::{Said, ordered, recorded, take_from};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::restores::{Failed, Kept, Phase};
use jiff::{SignedDuration, Timestamp};
use palladion_api::backup::{GivenUp, Transfer, TransferState};
use palladion_api::reasons::Reason;
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase};
use palladion_api::words::Message;
use palladion_plan::words::Names;

/// A member that is up is waited for this long, where there is none.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);
/// And one that is up, but does not answer, for this long.
const LONGEST: SignedDuration = SignedDuration::from_mins(60);

/// How it went.
pub enum Left {
    /// It is not done yet.
    Waiting,
    /// Nothing is left.
    Nothing,
    /// These tables keep what was set.
    Grace {
        /// Why.
        cause: String,
        /// In seconds.
        seconds: u64,
        /// The tables.
        tables: Names,
    },
}

/// Take back what was set, and end.
pub fn abandon(
    facts: &Facts<'_>,
    valid: &Valid,
    (restore, active, why): (&Restore<'_>, &Active, &GivenUp),
    draft: &mut Draft,
) {
    let reason = recorded(&why.reason, Reason::RestoreFailed);
    let said = match take_back(facts, valid, active, draft) {
        Left::Waiting => {
            let said = abandoning(active.record.gc_grace_seconds, why.message.clone());
            return write(facts, restore, restore.status.clone(), said, draft);
        }
        Left::Nothing => Said(reason, Message::quoted(&why.message)),
        Left::Grace { cause, seconds, tables } => {
            Failed::GraceLeft { why: why.message.clone(), cause, seconds, tables }.into()
        }
    };
    let phase = match reason {
        Reason::RestoreAborted => RestorePhase::Aborted,
        _ => RestorePhase::Failed,
    };
    let status = CassandraRestoreStatus { phase: Some(phase), ..restore.status.clone() };
    write(facts, restore, status, said, draft);
}

/// What is said meanwhile.
pub fn abandoning(raised: Option<u64>, why: String) -> Phase {
    match raised {
        Some(_) => Phase::Abandoning { why },
        None => Phase::Ending { why },
    }
}

/// Stop whoever loads, then order it of a member that is up. Rows that still come would come into
/// whatever is restored next, and would meet deletions that are kept for no longer than before.
pub fn take_back(facts: &Facts<'_>, valid: &Valid, active: &Active, draft: &mut Draft) -> Left {
    let (id, schema) = (active.order(END), active.order(SCHEMA));
    let loads = [active.order(LOAD), active.order(REPLAY)];
    let mut is_loading = false;
    for (member, ..) in all(facts) {
        let is_other =
            |order: &&Transfer| active.is_of(order) && order.id != id && order.id != schema;
        if ordered(member).filter(is_other).is_some() {
            take_from(facts, member, draft);
        }
        is_loading |= is_at_work(member, |order| loads.iter().any(|load| order.starts_with(load)));
    }
    if !is_loading && active.record.gc_grace_seconds.is_none() {
        return Left::Nothing;
    }
    // Since when it is done: the ring may have been paused before.
    let Some(since) = &active.record.ending_since else {
        orders::note_ending(facts, active, draft);
        return Left::Waiting;
    };
    match is_loading && is_patient(facts, since.0 + LONGEST, draft) {
        true => Left::Waiting,
        false => give_back(facts, valid, (active, since.0), draft),
    }
}

/// What a server has begun to load it ends, whatever becomes of the order.
fn is_at_work(member: &MemberFact, is_load: impl Fn(&str) -> bool) -> bool {
    let told = member.status.transfer.as_ref();
    told.is_some_and(|told| told.state == TransferState::Running && is_load(&told.id))
}

/// The order by which it is taken back.
const END: &str = "end";

fn is_patient(facts: &Facts<'_>, until: Timestamp, draft: &mut Draft) -> bool {
    let is_patient = facts.now() < until;
    if is_patient {
        draft.wake_at(until);
    }
    is_patient
}

fn give_back(
    facts: &Facts<'_>,
    valid: &Valid,
    (active, since): (&Active, Timestamp),
    draft: &mut Draft,
) -> Left {
    let Some(seconds) = active.record.gc_grace_seconds else {
        return Left::Nothing;
    };
    let grace = |cause: Kept| {
        let tables = Names::of(active.record.own.iter().map(|own| &own.table));
        Left::Grace { cause: cause.to_string(), seconds, tables }
    };
    let id = active.order(END);
    // The one that creates the tables takes this order instead of that one: another one could do
    // it before the first has ended.
    let schema = active.order(SCHEMA);
    let has =
        |work: &str| all(facts).find(|one| ordered(one.0).is_some_and(|order| order.id == work));
    let Some(one) = has(&schema).or_else(|| chosen(facts, &id)) else {
        return match is_patient(facts, since + PATIENCE, draft) {
            true => Left::Waiting,
            false => grace(Kept::NobodyUp),
        };
    };
    let was_ordered = ordered(one.0).is_some_and(|order| order.id == id);
    match settle(facts, (active, valid.backup.as_ref()), one, (&id, Settled::Grace), draft) {
        Answer::Done(_) => Left::Nothing,
        Answer::Failed(said) => grace(Kept::Refused { said: said.1.to_string() }),
        // Nobody waits for an answer to what was not asked: the ring was paused, perhaps.
        Answer::None | Answer::Going(_)
            if !was_ordered || is_patient(facts, since + LONGEST, draft) =>
        {
            Left::Waiting
        }
        Answer::None | Answer::Going(_) => grace(Kept::Silent { member: one.0.name.clone() }),
    }
}
