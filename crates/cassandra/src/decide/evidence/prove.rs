//! One question to the ring: asked once, waited for, and put again where an
//! answer forbids the step.

use super::absence::{self, Absent, Asked};
use super::answer::Answer;
use super::ask::{ask, nonce_of_gone};
use super::datacenters::Elsewhere;
use super::marks;
use super::moved;
use super::proof::Proof;
use super::purpose::Purpose;
use super::stranger::{never_joined, stranger};
use super::unnoticed;
use super::verdict::verdict;
use super::witness::{others, witnesses};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Objection;
use jiff::SignedDuration;
use palladion_api::cluster::Turn;
use palladion_api::ids::{HostId, Nonce};
use palladion_plan::words::Names;

/// Gossip settles within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// A question that was put in vain so many times is put no more rarely: answers
/// count for 30 s.
const MOST_TIMES_LONGER: u32 = 6;

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// What is waited for is in the draft.
    Waiting,
    /// An answer forbids the step, and it is time to put the question again,
    /// under a fresh nonce.
    AskAgain(Objection),
}

/// Is it proven, for this turn, that the step may be taken? Asks who was not
/// asked yet, and waits.
pub fn prove(
    facts: &Facts<'_>,
    turn: &Turn,
    whom: &MemberFact,
    purpose: &Purpose<'_>,
    draft: &mut Draft,
) -> Result<Proof, Unproven> {
    let asked = asked(facts, whom, purpose);
    if let Some(nobody) = purpose.nobody(&whom.name).filter(|_| asked.is_empty()) {
        draft.wait_for(nobody).about(whom.subject());
        return Err(Unproven::Waiting);
    }
    let nonce = nonce(turn, purpose);
    match answer(facts, whom, purpose, &Asked { others: &asked, nonce: &nonce }) {
        Answer::Proven(proof) => Ok(proof),
        Answer::Missing(names) => {
            ask(facts, &asked, &nonce, &facts.fence(turn), draft);
            let waiting = purpose.asked(&whom.name, Names::of(names));
            let wait = draft.wait_for(waiting).about(whom.subject());
            if let Some(until) = purpose.void_from(turn) {
                wait.until(until);
            }
            Err(Unproven::Waiting)
        }
        Answer::Refused { why, read_at } => {
            if let Some(why) = held_up_by(facts, &asked, whom, purpose, &why) {
                draft.wait_for(purpose.refused(&whom.name, &why)).about(whom.subject());
                return Err(Unproven::Waiting);
            }
            Err(refused(facts, whom, purpose, why, read_at, draft))
        }
    }
}

/// The question has become void because of an agent that answers nothing: it is put again
/// when that agent is heard, which answers the one that stands. A turn that ends by this
/// and is not taken again while somebody is silent is let go.
fn held_up_by(
    facts: &Facts<'_>,
    asked: &[&MemberFact],
    whom: &MemberFact,
    purpose: &Purpose<'_>,
    why: &Objection,
) -> Option<Objection> {
    let is_void = matches!(why, Objection::TooOld { .. });
    if !is_void || !purpose.keeps_turn(whom) {
        return None;
    }
    asked.iter().find_map(|member| {
        let since = facts.silence(member)?.since();
        Some(Objection::Silent { member: member.name.clone(), since })
    })
}

/// An answer forbids it: wait, and say when it is time to ask again.
pub fn refused(
    facts: &Facts<'_>,
    whom: &MemberFact,
    purpose: &Purpose<'_>,
    why: Objection,
    read_at: jiff::Timestamp,
    draft: &mut Draft,
) -> Unproven {
    let turn = facts.turn();
    let again = facts.again(read_at, turn.map(|t| t.since.0), pause(turn));
    let wait = draft.wait_for(purpose.refused(&whom.name, &why)).about(whom.subject());
    if facts.now() < again {
        wait.until(again);
        return Unproven::Waiting;
    }
    Unproven::AskAgain(why)
}

/// How long until the question is put again: what forbids it may need a person,
/// and each question is a write for each member.
fn pause(turn: Option<&Turn>) -> SignedDuration {
    let times = turn.map_or(1, |t| t.attempt.clamp(1, MOST_TIMES_LONGER));
    SignedDuration::from_secs(ASK_AGAIN.as_secs() * i64::from(times))
}

/// Do the answers that have come already say that it is out of the ring?
pub fn is_out_already(
    facts: &Facts<'_>,
    turn: &Turn,
    whom: &MemberFact,
    host_id: &HostId,
) -> Option<Proof> {
    // One that serves although it was removed is cut off (safety rule 7.2).
    if whom.lives_by_its_own_word(&facts.nodes) {
        return None;
    }
    let absent = Absent { member: whom, host_id, voters: absence::voters_on_removed(whom) };
    let asked = Asked { others: &others(facts, &whom.name), nonce: &turn.nonce };
    absence::is_gone(facts, &absent, &asked).proven()
}

fn asked<'a>(
    facts: &'a Facts<'_>,
    whom: &'a MemberFact,
    purpose: &Purpose<'_>,
) -> Vec<&'a MemberFact> {
    match purpose {
        Purpose::Join | Purpose::NeverJoined | Purpose::Restart { .. } | Purpose::Stop { .. } => {
            witnesses(facts, &whom.name)
        }
        // All are asked: who receives the data must have room for it.
        Purpose::Leave { .. } => others(facts, &whom.name).into_iter().chain([whom]).collect(),
        Purpose::Replace { .. }
        | Purpose::Remove { .. }
        | Purpose::Readdress { .. }
        | Purpose::HasLeft { .. }
        | Purpose::WasRemoved { .. }
        | Purpose::Interrupted { .. } => others(facts, &whom.name),
    }
}

/// Whether it is gone is asked after something else was, within the same turn.
fn nonce(turn: &Turn, purpose: &Purpose<'_>) -> Nonce {
    match purpose {
        Purpose::HasLeft { .. } | Purpose::WasRemoved { .. } => nonce_of_gone(turn),
        Purpose::Join
        | Purpose::NeverJoined
        | Purpose::Leave { .. }
        | Purpose::Restart { .. }
        | Purpose::Stop { .. }
        | Purpose::Replace { .. }
        | Purpose::Remove { .. }
        | Purpose::Readdress { .. }
        | Purpose::Interrupted { .. } => turn.nonce.clone(),
    }
}

fn answer(
    facts: &Facts<'_>,
    whom: &MemberFact,
    purpose: &Purpose<'_>,
    asked: &Asked<'_>,
) -> Answer {
    let verdict = |except: &[&HostId], elsewhere| {
        verdict(facts, whom, asked.others, asked.nonce, except, elsewhere)
    };
    match purpose {
        Purpose::Join => match verdict(&[], Elsewhere::AllNormal) {
            // What an earlier try has left is deleted by this one: not the ring's data.
            Answer::Proven(proof) if unnoticed::of(whom).is_some() => {
                stranger(facts, whom, asked.others, asked.nonce).unwrap_or(Answer::Proven(proof))
            }
            answer => answer,
        },
        Purpose::NeverJoined => never_joined(facts, whom, asked.others, asked.nonce),
        Purpose::Leave { except } | Purpose::Stop { except } => {
            verdict(except, Elsewhere::AllNormal)
        }
        Purpose::Restart { except } => verdict(except, Elsewhere::OneDown),
        Purpose::Replace { host_id } | Purpose::Remove { host_id } => {
            let absent = Absent { member: whom, host_id, voters: absence::voters(whom) };
            let dead = absence::is_dead(facts, &absent, asked);
            // The dead one is all that this step repairs; any other absence forbids it.
            let excused = marks::excused(facts, host_id);
            match (&dead, verdict(&excused, Elsewhere::OneDown)) {
                (Answer::Proven(_), _) if whom.lives_by_its_own_word(&facts.nodes) => {
                    serves(facts, whom)
                }
                (Answer::Proven(_), forbids @ Answer::Refused { .. }) => forbids,
                (_, Answer::Proven(_) | Answer::Missing(_) | Answer::Refused { .. }) => dead,
            }
        }
        Purpose::Readdress { host_id, address } => {
            moved::is_down_elsewhere(facts, whom, (host_id, address), asked)
        }
        Purpose::HasLeft { host_id } | Purpose::Interrupted { host_id } => {
            let absent =
                Absent { member: whom, host_id, voters: absence::voters_on_left(facts, host_id) };
            absence::is_gone(facts, &absent, asked)
        }
        Purpose::WasRemoved { host_id, .. } => {
            let voters = absence::voters_on_removed(whom);
            absence::is_gone(facts, &Absent { member: whom, host_id, voters }, asked)
        }
    }
}

/// Its own agent says that it serves, whatever the others see: it is cut off, not
/// dead (safety rule 7.2). Asked again here, since it may have come back meanwhile.
fn serves(facts: &Facts<'_>, whom: &MemberFact) -> Answer {
    let read_at = facts.turn().map_or(facts.now(), |t| t.since.0);
    Answer::Refused { why: Objection::Serves { member: whom.name.clone() }, read_at }
}
