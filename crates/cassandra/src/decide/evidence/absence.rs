//! What proves that a member is dead, or out of the ring: every member that is
//! left says so, and they are enough of the rest to speak for it.

use super::answer::Answer;
use super::ask::too_old;
use super::marks::of;
use super::proof::Proof;
use super::witness::{others, rest_of};
use crate::facts::{Facts, MemberFact};
use palladion_api::cluster::Turn;
use palladion_api::ids::{HostId, MemberName, Nonce};
use palladion_api::member::{Evidence, Liveness, ReplacementCause};
use palladion_plan::proof::ProofKind;

/// Who may say that a member is gone or dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voters {
    /// A majority of the rest of the ring.
    Majority,
    /// Whoever is left of it: a person has named the volume, and answers for it.
    WhoeverIsLeft,
}

impl Voters {
    fn suffice(self, asked: usize, rest: usize) -> bool {
        match self {
            Voters::Majority => asked * 2 > rest,
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

/// Is this host ID out of the ring?
pub fn is_gone(
    facts: &Facts<'_>,
    absent: &Absent<'_>,
    others: &[&MemberFact],
    nonce: &Nonce,
) -> Answer {
    let host_id = absent.host_id;
    let dissent = |witness: &MemberFact, answer: &Evidence| match &answer.members {
        None => Some(format!("member {} could not read its ring", witness.name)),
        Some(members) if members.iter().any(|m| m.host_id == *host_id) => {
            Some(format!("member {} still knows host ID {host_id}", witness.name))
        }
        Some(_) => None,
    };
    let newest = match agreed(others, nonce, dissent) {
        Ok(newest) => newest,
        Err(other) => return other,
    };
    let kinds = (ProofKind::Gone, ProofKind::GoneAsNamed);
    tally(facts, absent, others, newest, kinds, |names| {
        format!("nonce {nonce}: host ID {host_id} is gone, say {names}")
    })
}

/// Is this host ID dead? One that sees it up is enough to wait.
pub fn is_dead(
    facts: &Facts<'_>,
    absent: &Absent<'_>,
    others: &[&MemberFact],
    nonce: &Nonce,
) -> Answer {
    let host_id = absent.host_id;
    let dissent = |witness: &MemberFact, answer: &Evidence| {
        let Some(members) = &answer.members else {
            return Some(format!("member {} could not read its ring", witness.name));
        };
        match members.iter().find(|m| m.host_id == *host_id) {
            Some(seen) if seen.liveness == Liveness::Down => None,
            Some(_) => Some(format!("member {} sees it up", witness.name)),
            None => Some(format!("member {} does not know host ID {host_id}", witness.name)),
        }
    };
    let answers = agreed(others, nonce, dissent);
    if let (Ok(_) | Err(Answer::Missing(_)), Some((why, read_at))) = (&answers, too_old(facts)) {
        return Answer::Refused { why, read_at };
    }
    let newest = match answers {
        Ok(newest) => newest,
        Err(other) => return other,
    };
    let kinds = (ProofKind::Dead, ProofKind::DeadAsNamed);
    tally(facts, absent, others, newest, kinds, |names| {
        format!("nonce {nonce}: host ID {host_id} is down, say {names}")
    })
}

/// When the newest answer was read, if all have answered and nobody dissents.
fn agreed(
    others: &[&MemberFact],
    nonce: &Nonce,
    dissent: impl Fn(&MemberFact, &Evidence) -> Option<String>,
) -> Result<jiff::Timestamp, Answer> {
    let mut missing = Vec::new();
    let mut newest = jiff::Timestamp::UNIX_EPOCH;
    for witness in others {
        let answer = witness.status.evidence.as_ref();
        let Some(answer) = answer.filter(|e| e.nonce == *nonce) else {
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
    others: &[&MemberFact],
    read_at: jiff::Timestamp,
    (by_majority, as_named): (ProofKind, ProofKind),
    text: impl Fn(&str) -> String,
) -> Answer {
    let rest = rest_of(facts, absent.host_id);
    if !absent.voters.suffice(others.len(), rest) {
        return Answer::Refused { why: too_few(others.len(), rest), read_at };
    }
    let kind = if Voters::Majority.suffice(others.len(), rest) { by_majority } else { as_named };
    let text = text(&names(others));
    Answer::Proven(Proof::asked(facts, kind, absent.member, Some(absent.host_id), text))
}

/// Can enough members be asked about this one at all? `Err` says how many, and
/// what lets those that are left speak.
pub fn can_be_proven(
    facts: &Facts<'_>,
    name: &MemberName,
    host_id: &HostId,
    voters: Voters,
) -> Result<(), String> {
    let asked = others(facts, name).len();
    let rest = rest_of(facts, host_id);
    match voters.suffice(asked, rest) {
        true => Ok(()),
        false => Err(format!(
            "{}; if the others are lost for good too, let a CassandraTask name each volume",
            too_few(asked, rest)
        )),
    }
}

fn too_few(asked: usize, rest: usize) -> String {
    format!("only {asked} of the {rest} other members can be asked")
}

fn names(of: &[&MemberFact]) -> String {
    let names: Vec<_> = of.iter().map(|w| w.name.as_str()).collect();
    names.join(", ")
}

/// Do all others have it as a member that is down? Down, because by then what
/// it said last has reached them; that nothing of it runs it says itself.
pub fn all_see_down(facts: &Facts<'_>, turn: &Turn, whom: &MemberFact) -> Option<Proof> {
    let (nonce, host_id) = (&turn.nonce, whom.recorded_host_id()?);
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
    let names = names(&others);
    let text = format!("nonce {nonce}: host ID {host_id} is a member and down, say {names}");
    Some(Proof::seen(facts, ProofKind::Down, whom, text))
}

/// Who may say that this member is dead.
pub fn voters(member: &MemberFact) -> Voters {
    match of(member).map(|r| r.cause) {
        Some(ReplacementCause::Task) => Voters::WhoeverIsLeft,
        Some(ReplacementCause::NodeGone | ReplacementCause::Person) | None => Voters::Majority,
    }
}

/// Is it out of the ring already, as far as all others report by themselves:
/// removed by a person, or by a removal whose end nobody noted?
pub fn is_out(facts: &Facts<'_>, name: &MemberName, host_id: &HostId) -> bool {
    let others = others(facts, name);
    let without = rest_of(facts, host_id);
    !others.is_empty()
        && others.iter().all(|o| {
            o.status.ring.as_ref().is_some_and(|r| {
                usize::try_from(r.members) == Ok(without)
                    && r.exceptions.iter().all(|e| e.host_id != *host_id)
            })
        })
}
