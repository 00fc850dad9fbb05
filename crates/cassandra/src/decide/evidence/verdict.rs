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
use palladion_api::member::{Evidence, Liveness, MemberState};
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

/// Do the witnesses see every known member up and normal, with one schema?
/// `except` are host IDs that the step repairs or restarts, `elsewhere` what it takes of
/// other datacenters.
pub fn verdict(
    facts: &Facts<'_>,
    whom: &MemberFact,
    witnesses: &[&MemberFact],
    nonce: &Nonce,
    except: &[&HostId],
    elsewhere: Elsewhere,
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
        if let Some(why) = objection(facts, witness, answer, &all, except) {
            return Answer::Refused { why, read_at: answer.read_at.0 };
        }
        newest = newest.max(Some(answer.read_at.0));
        // Whom an agent of before that sees counts as ours: it was asked for up and normal above.
        if !facts.is_blind(witness) {
            views.push(Seen::of_answer(facts, witness, answer));
        }
    }
    if let (Some(why), Some(read_at)) = (datacenters::objection(facts, views, elsewhere), newest) {
        return Answer::Refused { why, read_at };
    }
    if let Some((why, read_at)) = too_old(facts) {
        return Answer::Refused { why, read_at };
    }
    if !missing.is_empty() {
        return Answer::Missing(missing);
    }
    if let Some(down) = down_by_its_own_word(facts, except) {
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
    witness: &MemberFact,
    answer: &Evidence,
    known: &BTreeSet<HostId>,
    except: &[&HostId],
) -> Option<Objection> {
    let witness = witness.name.clone();
    let Some(members) = &answer.members else {
        return Some(Objection::Unread { witness });
    };
    if !answer.schema_agreed && !lines::explain_schemas(facts) {
        return Some(Objection::Schemas { witness });
    }
    let odd = members.iter().find(|m| {
        (m.liveness != Liveness::Up || m.state != MemberState::Normal)
            && !except.contains(&&m.host_id)
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
