//! What proves that a member is dead, or out of the ring: every member that is
//! left says so, and they are enough of the rest to speak for it.

use super::ask::too_old;
use super::marks::of;
use super::witness::{others, rest_of};
use crate::facts::{Facts, MemberFact};
use palladion_api::ids::{HostId, Nonce};
use palladion_api::member::{Evidence, Liveness, ReplacementCause};

/// Do the others say that a member is gone?
#[derive(Debug, PartialEq, Eq)]
pub enum Gone {
    /// Every live member, and enough of the rest of the ring.
    Proven(String),
    /// Not all have answered yet.
    Waiting(Vec<String>),
    /// Somebody still knows it, or too few can be asked.
    NotYet {
        /// Who, or how many.
        why: String,
        /// When the newest answer was read.
        read_at: jiff::Timestamp,
    },
}

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

/// Is this host ID out of the ring?
pub fn is_gone(
    facts: &Facts<'_>,
    others: &[&MemberFact],
    nonce: &Nonce,
    host_id: &HostId,
    voters: Voters,
) -> Gone {
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
    tally(facts, others, host_id, voters, newest, |names| {
        format!("nonce {nonce}: host ID {host_id} is gone, say {names}")
    })
}

/// Is this host ID dead? One that sees it up is enough to wait.
pub fn is_dead(
    facts: &Facts<'_>,
    others: &[&MemberFact],
    nonce: &Nonce,
    host_id: &HostId,
    voters: Voters,
) -> Gone {
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
    if let (Ok(_) | Err(Gone::Waiting(_)), Some((why, read_at))) = (&answers, too_old(facts)) {
        return Gone::NotYet { why, read_at };
    }
    let newest = match answers {
        Ok(newest) => newest,
        Err(other) => return other,
    };
    tally(facts, others, host_id, voters, newest, |names| {
        format!("nonce {nonce}: host ID {host_id} is down, say {names}")
    })
}

/// When the newest answer was read, if all have answered and nobody dissents.
fn agreed(
    others: &[&MemberFact],
    nonce: &Nonce,
    dissent: impl Fn(&MemberFact, &Evidence) -> Option<String>,
) -> Result<jiff::Timestamp, Gone> {
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
            return Err(Gone::NotYet { why, read_at });
        }
    }
    match missing.is_empty() {
        true => Ok(newest),
        false => Err(Gone::Waiting(missing)),
    }
}

/// Those who agree must be enough of the rest.
fn tally(
    facts: &Facts<'_>,
    others: &[&MemberFact],
    host_id: &HostId,
    voters: Voters,
    read_at: jiff::Timestamp,
    proof: impl Fn(&str) -> String,
) -> Gone {
    let rest = rest_of(facts, host_id);
    if !voters.suffice(others.len(), rest) {
        let why = too_few(others.len(), rest);
        return Gone::NotYet { why, read_at };
    }
    Gone::Proven(proof(&names(others)))
}

/// Can enough members be asked about this one at all? `Err` says how many, and
/// what lets those that are left speak.
pub fn can_be_proven(
    facts: &Facts<'_>,
    name: &str,
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

/// Do all of these have this host ID as a member that is down? Down, because
/// by then what it said last has reached them. The text is the proof.
pub fn all_see_down(others: &[&MemberFact], nonce: &Nonce, host_id: &HostId) -> Option<String> {
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
    Some(format!("nonce {nonce}: host ID {host_id} is a member and down, say {}", names(others)))
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
pub fn is_out(facts: &Facts<'_>, name: &str, host_id: &HostId) -> bool {
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
