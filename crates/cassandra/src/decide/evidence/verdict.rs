//! What proves that the ring is well enough for the next step: fresh views of
//! other members, read after a nonce was seen (safety rules 4.1 to 4.4).

use super::answer::Answer;
use super::ask::too_old;
use super::datacenters::{self, Elsewhere, Seen};
use super::proof::Proof;
use super::quiet::stands_still;
use super::witness::known_hosts;
use crate::facts::{Facts, MemberFact, lines};
use crate::words::evidence::{Objection, Proven};
use palladion_api::ids::{HostId, Nonce};
use palladion_api::member::{Evidence, Liveness, MemberState, RingMember};
use palladion_plan::proof::ProofKind;
use palladion_plan::words::{Count, Names};
use std::collections::BTreeSet;

/// A member but the turn's own that does not say that it serves, whoever was asked.
fn down_by_its_own_word<'a>(facts: &'a Facts<'_>, except: &[&HostId]) -> Option<&'a MemberFact> {
    let own = facts.turn().map(|t| t.member.as_str());
    facts.members.values().filter(|m| Some(m.name.as_str()) != own).find(|m| {
        let host_id = m.recorded_host_id();
        host_id.is_some_and(|id| !except.contains(&id)) && (m.is_stopped() || !m.is_normal())
    })
}

/// What a step takes of the schemas of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schemas {
    /// All have one.
    One,
    /// The member itself may have another one than most: its restart is what cures that.
    ItsOwn,
}

/// What a step takes that is not as it should be.
#[derive(Clone, Copy, Debug)]
pub struct Takes<'a> {
    /// Host IDs that it repairs or restarts.
    pub except: &'a [&'a HostId],
    /// Members of other datacenters.
    pub elsewhere: Elsewhere,
    /// Schemas that differ.
    pub schemas: Schemas,
}

impl<'a> Takes<'a> {
    /// Nothing but these host IDs.
    pub fn but(except: &'a [&'a HostId]) -> Self {
        Takes { except, elsewhere: Elsewhere::AllNormal, schemas: Schemas::One }
    }
}

/// Do the witnesses see every known member up and normal, with one schema, but for what
/// the step takes?
pub fn verdict(
    facts: &Facts<'_>,
    whom: &MemberFact,
    witnesses: &[&MemberFact],
    nonce: &Nonce,
    takes: Takes<'_>,
) -> Answer {
    let known = known_hosts(facts);
    // Whom one of ours has elsewhere, all that are asked have heard of.
    let all = known.iter().cloned().chain(datacenters::hosts(facts)).collect();
    let (mut missing, mut views, mut newest) = (Vec::new(), Vec::new(), None);
    for witness in witnesses {
        let answer = witness.status.evidence.as_ref().filter(|e| e.nonce == *nonce);
        let Some(answer) = answer else {
            missing.push(witness.name.clone());
            continue;
        };
        if let Some(why) = objection(facts, whom, (witness, answer), &all, takes) {
            return Answer::Refused { why, read_at: answer.read_at.0 };
        }
        newest = newest.max(Some(answer.read_at.0));
        // Whom an agent of before that sees counts as ours: it was asked for up and normal above.
        if !facts.is_blind(witness) {
            views.push(Seen::of_answer(facts, witness, answer));
        }
    }
    if let (Some(why), Some(read_at)) =
        (datacenters::objection(facts, views, takes.elsewhere), newest)
    {
        return Answer::Refused { why, read_at };
    }
    if let Some((why, read_at)) = too_old(facts) {
        return Answer::Refused { why, read_at };
    }
    if !missing.is_empty() {
        return Answer::Missing(missing);
    }
    if let Some(down) = down_by_its_own_word(facts, takes.except) {
        let answers = witnesses.iter().filter_map(|w| w.status.evidence.as_ref());
        return Answer::Refused {
            why: match down.is_stopped() {
                true => stands_still(down),
                false => Objection::NotNormal { member: down.name.clone() },
            },
            read_at: answers.map(|e| e.read_at.0).max().unwrap_or(facts.now()),
        };
    }
    let proven = Proven::Well {
        nonce: nonce.clone(),
        members: Count::of(known.len(), "member"),
        witnesses: Names::of(witnesses.iter().map(|w| &w.name)),
    };
    Answer::Proven(Proof::asked(facts, ProofKind::AllWell, whom, None, &proven))
}

/// What in one answer forbids the step, naming the witness.
fn objection(
    facts: &Facts<'_>,
    whom: &MemberFact,
    (witness, answer): (&MemberFact, &Evidence),
    known: &BTreeSet<HostId>,
    takes: Takes<'_>,
) -> Option<Objection> {
    let except = takes.except;
    let witness = witness.name.clone();
    let Some(members) = &answer.members else {
        return Some(Objection::Unread { witness });
    };
    let is_its_own = takes.schemas == Schemas::ItsOwn && lines::differs_from_most(facts, whom);
    if !answer.schema_agreed && !is_its_own && !lines::explain_schemas(facts) {
        return Some(Objection::Schemas { witness });
    }
    // Who serves may be down to the others, and is not on its way out to any of them.
    let moves = |m: &RingMember| {
        whom.is_normal()
            && whom.recorded_host_id() == Some(&m.host_id)
            && m.state != MemberState::Normal
    };
    let odd = members.iter().find(|m| {
        (m.liveness != Liveness::Up || m.state != MemberState::Normal)
            && (!except.contains(&&m.host_id) || moves(m))
            && !facts.is_elsewhere(m)
    });
    if let Some(odd) = odd {
        return Some(Objection::SeesHost {
            witness,
            address: odd.address.clone(),
            host_id: odd.host_id.clone(),
            life: odd.liveness.into(),
            part: odd.state.into(),
        });
    }
    let seen: BTreeSet<&HostId> = members.iter().map(|m| &m.host_id).collect();
    let unseen = known.iter().find(|id| !seen.contains(id) && !except.contains(id))?;
    Some(Objection::Unseen { witness, host_id: unseen.clone() })
}
