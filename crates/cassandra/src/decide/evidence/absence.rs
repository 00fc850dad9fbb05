//! What proves that a member is dead, or out of the ring: every member that is
//! left says so, and they are enough of the rest to speak for it.

use super::answer::Answer;
use super::ask::too_old;
use super::idle::has_no_process;
use super::marks::{has_old_claim, of};
use super::proof::Proof;
use super::witness::{of_the_rest, others, rest_of};
use crate::facts::leaver::is_decommissioned;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::{Objection, Proven};
use palladion_api::cluster::Turn;
use palladion_api::ids::{HostId, MemberName, Nonce};
use palladion_api::member::{
    Evidence, Liveness, MemberState, Replacement, ReplacementCause, VolumeState,
};
use palladion_plan::proof::ProofKind;
use palladion_plan::words::Names;

/// Who may say that a member is gone or dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voters {
    /// A majority of the rest of the ring.
    Majority,
    /// The same, without so many that nobody waits for any more.
    MajorityWithout(usize),
    /// The same, but not one member alone: in a ring of two the other one cannot
    /// tell who is lost from who is out of its reach.
    MoreThanOne,
    /// Whoever is left of it: a person has named the volume, and answers for it.
    WhoeverIsLeft,
}

impl Voters {
    fn suffice(self, asked: usize, rest: usize) -> bool {
        match self {
            Voters::Majority => asked * 2 > rest,
            Voters::MajorityWithout(given_up) => asked * 2 > rest.saturating_sub(given_up),
            Voters::MoreThanOne => Voters::Majority.suffice(asked, rest) && asked > 1,
            Voters::WhoeverIsLeft => asked > 0,
        }
    }
}

/// Whose absence is in question.
#[derive(Clone, Copy, Debug)]
pub struct Absent<'a> {
    /// The member.
    pub member: &'a MemberFact,
    /// Under which host ID the ring knows it.
    pub host_id: &'a HostId,
    /// Who may say so.
    pub voters: Voters,
}

/// A question to others.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Who is asked.
    pub others: &'a [&'a MemberFact],
    /// By which their answers are known.
    pub nonce: &'a Nonce,
}

/// Is this host ID out of the ring?
pub fn is_gone(facts: &Facts<'_>, absent: &Absent<'_>, asked: &Asked<'_>) -> Answer {
    let (host_id, Asked { others, nonce }) = (absent.host_id, *asked);
    let dissent = |witness: &MemberFact, answer: &Evidence| match &answer.members {
        None => Some(Objection::Unread { witness: witness.name.clone() }),
        Some(members) if members.iter().any(|m| m.host_id == *host_id) => {
            let (witness, host_id) = (witness.name.clone(), host_id.clone());
            Some(Objection::StillKnown { witness, host_id })
        }
        Some(_) => None,
    };
    let answers = agreed(asked, dissent);
    let kinds = (ProofKind::Gone, ProofKind::GoneAsNamed);
    let proven =
        Proven::Gone { nonce: nonce.clone(), host_id: host_id.clone(), witnesses: names(others) };
    tally(facts, absent, others.len(), answers, kinds, &proven)
}

/// Is this host ID dead? One that sees it up is enough to wait.
pub fn is_dead(facts: &Facts<'_>, absent: &Absent<'_>, asked: &Asked<'_>) -> Answer {
    let (host_id, Asked { others, nonce }) = (absent.host_id, *asked);
    let dissent = |witness: &MemberFact, answer: &Evidence| {
        let witness = witness.name.clone();
        let Some(members) = &answer.members else {
            return Some(Objection::Unread { witness });
        };
        match members.iter().find(|m| m.host_id == *host_id) {
            Some(seen) if seen.liveness == Liveness::Down => None,
            Some(_) => Some(Objection::SeesItUp { witness, member: absent.member.name.clone() }),
            None => Some(Objection::NotKnown { witness, host_id: host_id.clone() }),
        }
    };
    let answers = agreed(asked, dissent);
    if let (Ok(_) | Err(Answer::Missing(_)), Some((why, read_at))) = (&answers, too_old(facts)) {
        return Answer::Refused { why, read_at };
    }
    let kinds = (ProofKind::Dead, ProofKind::DeadAsNamed);
    let proven =
        Proven::Dead { nonce: nonce.clone(), host_id: host_id.clone(), witnesses: names(others) };
    tally(facts, absent, others.len(), answers, kinds, &proven)
}

/// When the newest answer was read, if all have answered and nobody dissents.
fn agreed(
    asked: &Asked<'_>,
    dissent: impl Fn(&MemberFact, &Evidence) -> Option<Objection>,
) -> Result<jiff::Timestamp, Answer> {
    let mut missing = Vec::new();
    let mut newest = jiff::Timestamp::UNIX_EPOCH;
    for witness in asked.others {
        let answer = witness.status.evidence.as_ref();
        let Some(answer) = answer.filter(|e| e.nonce == *asked.nonce) else {
            missing.push(witness.name.clone());
            continue;
        };
        newest = newest.max(answer.read_at.0);
        if let Some(why) = dissent(witness, answer) {
            let read_at = answer.read_at.0;
            return Err(Answer::Refused { why, read_at });
        }
    }
    match missing.is_empty() {
        true => Ok(newest),
        false => Err(Answer::Missing(missing)),
    }
}

/// Those who agree must be enough of the rest; else a person must have named it.
fn tally(
    facts: &Facts<'_>,
    absent: &Absent<'_>,
    asked: usize,
    answers: Result<jiff::Timestamp, Answer>,
    (by_majority, as_named): (ProofKind, ProofKind),
    proven: &Proven,
) -> Answer {
    let read_at = match answers {
        Ok(newest) => newest,
        Err(missing_or_refused) => return missing_or_refused,
    };
    let others = rest_of(facts, absent.host_id);
    if !absent.voters.suffice(asked, others) {
        let why =
            alone(facts, absent.member, others).unwrap_or(Objection::TooFew { asked, others });
        return Answer::Refused { why, read_at };
    }
    let is_named = match absent.voters {
        Voters::Majority | Voters::MajorityWithout(_) => false,
        Voters::MoreThanOne | Voters::WhoeverIsLeft => !Voters::Majority.suffice(asked, others),
    };
    let kind = if is_named { as_named } else { by_majority };
    Answer::Proven(Proof::asked(facts, kind, absent.member, Some(absent.host_id), proven))
}

/// Can enough members be asked about this one at all? `Err` says how many, and
/// what lets those that are left speak.
pub fn can_be_proven(
    facts: &Facts<'_>,
    member: &MemberFact,
    host_id: &HostId,
    voters: Voters,
) -> Result<(), Objection> {
    let asked = others(facts, &member.name).len();
    let others = rest_of(facts, host_id);
    match voters.suffice(asked, others) {
        true => Ok(()),
        false => {
            let few = Objection::TooFewLeft { asked, others };
            Err(alone(facts, member, others).unwrap_or(few))
        }
    }
}

/// The only other member of a ring of two, which cannot say so alone.
fn alone(facts: &Facts<'_>, member: &MemberFact, rest: usize) -> Option<Objection> {
    let witness = others(facts, &member.name).first().filter(|_| rest == 1)?.name.clone();
    Some(Objection::OneAlone { witness, member: member.name.clone() })
}

fn names(of: &[&MemberFact]) -> Names {
    Names::of(of.iter().map(|w| &w.name))
}

/// Do all others have it as a member that is down? Down, because by then what
/// it said last has reached them; that nothing of it runs it says itself.
pub fn all_see_down(facts: &Facts<'_>, turn: &Turn, whom: &MemberFact) -> Option<Proof> {
    let (nonce, host_id) = (&turn.nonce, whom.recorded_host_id()?);
    if too_old(facts).is_some() {
        return None;
    }
    let others = others(facts, &whom.name);
    let knows = |witness: &&&MemberFact| {
        let answer = witness.status.evidence.as_ref();
        let view = answer.filter(|e| e.nonce == *nonce).and_then(|e| e.members.as_ref());
        view.is_some_and(|members| {
            let seen = members.iter().find(|m| m.host_id == *host_id);
            seen.is_some_and(|m| m.liveness == Liveness::Down)
        })
    };
    if others.is_empty() || !others.iter().all(|w| knows(&w)) {
        return None;
    }
    let (nonce, host_id, witnesses) = (nonce.clone(), host_id.clone(), names(&others));
    let proven = Proven::Down { nonce, host_id, witnesses };
    Some(Proof::asked(facts, ProofKind::Down, whom, whom.recorded_host_id(), &proven))
}

/// Do all others, by answers to this turn's question, have this host ID as a
/// member that neither leaves nor moves? A server that removes one sees it leaving
/// from the first moment on, the rest after the ring delay: so none may be silent.
pub fn is_untouched(facts: &Facts<'_>, turn: &Turn, whom: &MemberFact, host_id: &HostId) -> bool {
    let mut members = facts.members.values().filter(|m| m.name != whom.name && !m.is_gone());
    // What was under way in a server's memory has ended with it.
    let has_ended = |m: &MemberFact| has_no_process(m) || of(m).is_some_and(|r| is_lost(m, r));
    // One that is marked for replacement is not asked, and may be no more than cut off.
    let is_silent = |m: &MemberFact| {
        let is_asked = of(m).is_none() && m.is_normal();
        m.recorded_host_id().is_some() && !is_asked && !has_ended(m)
    };
    let knows = |witness: &&MemberFact| {
        let answer = witness.status.evidence.as_ref().filter(|e| e.nonce == turn.nonce);
        let mut view = answer.and_then(|e| e.members.as_ref()).into_iter().flatten();
        view.any(|m| m.host_id == *host_id && m.state == MemberState::Normal)
    };
    let others = others(facts, &whom.name);
    too_old(facts).is_none()
        && !members.any(is_silent)
        && !others.is_empty()
        && others.iter().all(knows)
}

/// Has the server of a member that is marked ended with its volume: with the Node,
/// or with the pod that kept the claim?
fn is_lost(member: &MemberFact, record: &Replacement) -> bool {
    record.cause == ReplacementCause::NodeGone || !has_old_claim(member)
}

/// Who may say that this member is dead. That its volume is gone is proven where
/// its Node is, where its own agent says so, and where its claim is another one
/// (safety rule 4.6); the word of a user is no proof of it.
pub fn voters(member: &MemberFact) -> Voters {
    let is_lost = member.volume().is_some_and(|v| v.state == VolumeState::Lost);
    let may_be_there = has_old_claim(member) && !is_lost;
    match of(member).map(|r| r.cause) {
        Some(ReplacementCause::Task) => Voters::WhoeverIsLeft,
        Some(ReplacementCause::User | ReplacementCause::Unknown(_)) if may_be_there => {
            Voters::MoreThanOne
        }
        Some(
            ReplacementCause::NodeGone | ReplacementCause::User | ReplacementCause::Unknown(_),
        )
        | None => Voters::Majority,
    }
}

/// Who may say that this member is out of the ring: only a removal takes it out.
pub fn voters_on_removed(member: &MemberFact) -> Voters {
    match voters(member) {
        Voters::WhoeverIsLeft => Voters::WhoeverIsLeft,
        Voters::Majority | Voters::MajorityWithout(_) | Voters::MoreThanOne => Voters::Majority,
    }
}

/// Who may say that this member has left: no silence counts for it, as a leave is known from what
/// the leaver has told the others. So those are left out whose volumes are gone with their Nodes,
/// or are named by a person: their replacement waits for the end of the leave.
pub fn voters_on_left(facts: &Facts<'_>, host_id: &HostId) -> Voters {
    let given_up = facts.members.values().filter(|m| !m.is_gone()).filter_map(of);
    let given_up = given_up.filter(|record| match record.cause {
        ReplacementCause::Task | ReplacementCause::NodeGone => true,
        ReplacementCause::User | ReplacementCause::Unknown(_) => false,
    });
    Voters::MajorityWithout(of_the_rest(facts, host_id, given_up.map(|record| &record.host_id)))
}

/// Is it out of the ring already, as far as all others report by themselves:
/// removed by a person, or by a removal whose end nobody noted?
pub fn is_out(facts: &Facts<'_>, name: &MemberName, host_id: &HostId) -> bool {
    let others = others(facts, name);
    let without = rest_of(facts, host_id);
    !others.is_empty()
        && others.iter().all(|o| {
            o.status.ring.as_ref().is_some_and(|r| {
                facts.own_members(r) == without
                    && r.exceptions.iter().all(|e| e.host_id != *host_id)
            })
        })
}

/// Has this member of the ring left it: by its server's own word, by the record
/// on its volume, or as far as all others report? A server that has left ends,
/// and does not start again to say so.
pub fn has_left(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let Some(host_id) = member.recorded_host_id().filter(|_| !member.is_normal()) else {
        return false;
    };
    is_decommissioned(member)
        || member.volume().is_some_and(|v| v.state == VolumeState::Left)
        || is_out(facts, &member.name, host_id)
}

/// Has it left although the operator does not ask for it?
pub fn left_by_hand(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let asked = member.spec.as_ref().is_some_and(|s| s.intent.is_some())
        || facts.turn().is_some_and(|t| t.member == member.name);
    !asked && has_left(facts, member)
}
