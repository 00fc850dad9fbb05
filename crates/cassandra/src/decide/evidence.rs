//! What proves that the ring is well enough for the next step: fresh views of
//! other members, read after a nonce was seen (safety rules, section 4).

use super::{Draft, given_up, versions};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use jiff::SignedDuration;
use palladion_api::cluster::{Founding, Turn};
use palladion_api::member::{Liveness, MemberState};
use palladion_plan::{Fence, ObjectKey, Precondition, Step, Subresource};
use serde_json::json;
use std::collections::BTreeSet;

/// How long answers count. Long enough for an agent that looks every few
/// seconds, short enough that a member that went down since is seen by the rest.
const FRESH: SignedDuration = SignedDuration::from_secs(30);

/// What the witnesses say.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of them see every known member up and normal; the text is the proof.
    Good(String),
    /// Not all have answered yet.
    Waiting(Vec<String>),
    /// An answer that forbids the step.
    Bad {
        /// What is wrong, naming the member.
        why: String,
        /// When the answer was read.
        read_at: jiff::Timestamp,
    },
}

/// Who can be asked: a member on a machine that is gone says for a while yet
/// that it is normal, since nobody is there to say otherwise.
fn is_witness(member: &MemberFact) -> bool {
    member.is_normal() && given_up::of(member).is_none()
}

/// Two full members in different racks, or all where there are fewer. The
/// choice is stable, so that later decisions ask the same ones.
pub fn witnesses<'a>(facts: &'a Facts<'_>, except: &str) -> Vec<&'a MemberFact> {
    let mut normal = facts.members.values().filter(|m| is_witness(m) && m.name != except);
    let Some(first) = normal.next() else {
        return Vec::new();
    };
    let rest: Vec<_> = normal.collect();
    let second = rest.iter().find(|m| m.rack != first.rack).or(rest.first());
    std::iter::once(first).chain(second.copied()).collect()
}

/// Every host ID that any witness or record knows: the denominator that no
/// short list can shrink.
pub fn known_hosts(facts: &Facts<'_>) -> BTreeSet<String> {
    // Of who is gone all others have said so, before it was recorded.
    let members = || facts.members.values().filter(|m| !m.is_gone());
    let recorded = members().filter_map(|m| m.recorded_host_id());
    let claimed = members().filter_map(|m| m.claim.as_ref()?.host_id.as_deref());
    // Until it is recorded with its member; later that one may be replaced or gone.
    let unrecorded = |f: &&Founding| {
        let member = facts.members.get(&f.member);
        member.is_some_and(|m| !m.is_gone() && m.recorded_host_id().is_none())
    };
    let founding = facts.status.founding.as_ref().filter(unrecorded);
    let founder = founding.and_then(|f| f.host_id.as_deref());
    let mut known: BTreeSet<String> =
        recorded.chain(claimed).chain(founder).map(str::to_string).collect();
    for answer in facts.members.values().filter_map(|m| m.status.evidence.as_ref()) {
        let current = facts.turn().is_some_and(|t| t.nonce == answer.nonce);
        if current {
            known.extend(answer.members.iter().flatten().map(|m| m.host_id.clone()));
        }
    }
    known.remove("");
    known
}

/// Ask the witnesses that were not asked yet.
pub fn ask(
    facts: &Facts<'_>,
    witnesses: &[&MemberFact],
    nonce: &str,
    fence: &Fence,
    draft: &mut Draft,
) {
    for witness in witnesses {
        let asked = witness.spec.as_ref().and_then(|s| s.evidence.as_ref());
        if asked.is_some_and(|e| e.nonce == nonce) {
            continue;
        }
        let Some(object) = &witness.object else {
            continue;
        };
        draft.steps.push(Step::Patch {
            key: ObjectKey::new(kinds::MEMBER, &facts.snapshot.owner.meta.namespace, &witness.name),
            patch: json!({ "spec": { "evidence": { "nonce": nonce } } }),
            subresource: Subresource::None,
            precondition: Precondition::Uid(object.meta.uid.clone()),
            fence: Some(fence.clone()),
            doing: format!("ask member {} how it sees the ring", witness.name),
            event: None,
        });
    }
}

/// From here on the answers to a turn's question are void: what was seen then
/// may be so no more. By the turn's own time, which no agent's clock can bend.
pub fn void_from(turn: &Turn) -> jiff::Timestamp {
    turn.since.0 + FRESH
}

/// The answers to the turn's question are void: why, and since when.
pub fn too_old(facts: &Facts<'_>) -> Option<(String, jiff::Timestamp)> {
    let turn = facts.turn().filter(|t| facts.now() >= void_from(t))?;
    let since = turn.since.0;
    Some((format!("the answers are to a question of {since}"), since))
}

/// A member but the turn's own that does not say that it serves, whoever was asked.
fn down_by_its_own_word<'a>(facts: &'a Facts<'_>, except: &[&str]) -> Option<&'a MemberFact> {
    let own = facts.turn().map(|t| t.member.as_str());
    facts.members.values().filter(|m| Some(m.name.as_str()) != own).find(|m| {
        let host_id = m.recorded_host_id();
        host_id.is_some_and(|id| !except.contains(&id)) && !m.is_normal()
    })
}

/// Do the witnesses see every known member up and normal, with one schema?
/// `except` are host IDs that the step repairs or restarts.
pub fn verdict(
    facts: &Facts<'_>,
    witnesses: &[&MemberFact],
    nonce: &str,
    except: &[&str],
) -> Verdict {
    let known = known_hosts(facts);
    let mut missing = Vec::new();
    for witness in witnesses {
        let answer = witness.status.evidence.as_ref().filter(|e| e.nonce == nonce);
        let Some(answer) = answer else {
            missing.push(witness.name.clone());
            continue;
        };
        let read_at = answer.read_at.0;
        let bad = |why: String| Verdict::Bad { why, read_at };
        let Some(members) = &answer.members else {
            return bad(format!("member {} could not read its ring", witness.name));
        };
        if !answer.schema_agreed && !versions::explain_schemas(facts) {
            return bad(format!("member {} sees more than one schema version", witness.name));
        }
        let odd = members.iter().find(|m| {
            (m.liveness != Liveness::Up || m.state != MemberState::Normal)
                && !except.contains(&m.host_id.as_str())
        });
        if let Some(odd) = odd {
            return bad(format!(
                "member {} sees {} ({}) {:?} and {:?}",
                witness.name, odd.address, odd.host_id, odd.liveness, odd.state
            ));
        }
        let seen: BTreeSet<&str> = members.iter().map(|m| m.host_id.as_str()).collect();
        if let Some(unseen) =
            known.iter().find(|id| !seen.contains(id.as_str()) && !except.contains(&id.as_str()))
        {
            return bad(format!("member {} does not see host ID {unseen}", witness.name));
        }
    }
    if let Some((why, read_at)) = too_old(facts) {
        return Verdict::Bad { why, read_at };
    }
    if !missing.is_empty() {
        return Verdict::Waiting(missing);
    }
    if let Some(down) = down_by_its_own_word(facts, except) {
        let answers = witnesses.iter().filter_map(|w| w.status.evidence.as_ref());
        return Verdict::Bad {
            why: format!("member {} is not up and normal", down.name),
            read_at: answers.map(|e| e.read_at.0).max().unwrap_or(facts.now()),
        };
    }
    let names: Vec<_> = witnesses.iter().map(|w| w.name.as_str()).collect();
    Verdict::Good(format!(
        "nonce {nonce}: {} see all {} members up and normal",
        names.join(" and "),
        known.len()
    ))
}

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
        if !ring.schema_agreed && !versions::explain_schemas(facts) {
            return Err(format!("member {} sees more than one schema version", member.name));
        }
        if usize::try_from(ring.members) != Ok(known) {
            return Err(format!("member {} sees {} of {known} members", member.name, ring.members));
        }
    }
    Ok(())
}

/// All full members but one.
pub fn others<'a>(facts: &'a Facts<'_>, except: &str) -> Vec<&'a MemberFact> {
    facts.members.values().filter(|m| is_witness(m) && m.name != except).collect()
}
