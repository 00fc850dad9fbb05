//! What people are asked about members whose data is too old to start with: who starts first
//! where nobody is up, and who next while fewer are up than copies are kept. Until then what a
//! member has may be on no other, so that none is terminated (safety rule 7.8).

use super::stale;
use super::together::{self, Together};
use crate::decide::draft::Draft;
use crate::decide::turn::stopping;
use crate::facts::{Facts, MemberFact};
use crate::words::maintenance::{Problem, Ran};
use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_api::member::ServerState;
use palladion_plan::words::Names;

/// Tell whom a person lets in next, and why the operator does not.
pub(super) fn report(facts: &Facts<'_>, judged: &Together<'_>, draft: &mut Draft) {
    let waiting = waiting(facts);
    let Some((next, at)) = newest(&waiting).filter(|_| !stopping::is_wanted(facts)) else {
        return;
    };
    let up = up(facts);
    match judged {
        Together::Unheard(others) if up == 0 => {
            // Who has missed something is among the others.
            let waiting = waiting.iter().filter(|(m, _)| stale::last_ran_at(m).is_some());
            let waiting = Names::of(waiting.map(|(m, _)| &m.name));
            if !waiting.is_empty() {
                draft.report(Problem::NotTogether { waiting, others: Names::of(others) });
            }
        }
        Together::Doubtful { complete, all } if up == 0 => draft.report(Problem::EndedApart {
            ran: ran(facts),
            complete: *complete,
            all: *all,
            next: next.clone(),
            at,
        }),
        Together::Unheard(_) | Together::Doubtful { .. }
            if up > 0 && needs_all(facts, &waiting) =>
        {
            draft.report(Problem::NextToStart {
                up,
                copies: needed(facts),
                waiting: Names::of(waiting.iter().map(|(m, at)| of(m, *at))),
                next: next.clone(),
                at,
            });
        }
        Together::NobodyAsks
        | Together::LetIn(_)
        | Together::Unheard(_)
        | Together::Doubtful { .. } => {}
    }
}

/// Another member that is too old to start, too, or starts just now, where what this one has
/// may be on none of those that are up: they are fewer than copies are kept.
pub fn other_first<'a>(facts: &'a Facts<'_>, member: &MemberFact) -> Option<OtherFirst<'a>> {
    stale::too_old_since(member)?;
    let (up, copies) = (up(facts), needed(facts));
    if up >= copies {
        return None;
    }
    let mut others = waiting(facts);
    others.retain(|(other, _)| other.name != member.name);
    if let Some((name, at)) = newest(&others) {
        return Some(OtherFirst { name, allow: Some(at), up, copies });
    }
    let started = facts.joined().find(|m| starts(m))?;
    Some(OtherFirst { name: &started.name, allow: None, up, copies })
}

/// Who is up before a member may be given up.
pub struct OtherFirst<'a> {
    /// Whose start comes first.
    pub name: &'a MemberName,
    /// What a person allows it with, where nobody has.
    pub allow: Option<Timestamp>,
    /// How many members are up.
    pub up: usize,
    /// How many should be, at the least.
    pub copies: usize,
}

fn up(facts: &Facts<'_>) -> usize {
    facts.joined().filter(|m| m.is_normal()).count()
}

/// Was its start allowed, and is it not up yet? One that has ended by itself is not waited for.
fn starts(member: &MemberFact) -> bool {
    let has_failed = member.reported_server().is_none_or(|s| s.state == ServerState::Failed);
    stale::allowed(member).is_some() && !member.is_normal() && !has_failed
}

/// Are fewer up than copies are kept, and do several wait for a start, one of them for a person?
/// Those that the operator lets in together are waited for.
fn needs_all(facts: &Facts<'_>, waiting: &[(&MemberFact, Timestamp)]) -> bool {
    let starting: Vec<&MemberFact> = facts.joined().filter(|m| starts(m)).collect();
    waiting.len() + starting.len() > 1
        && starting.iter().all(|m| stale::stood(m).is_none())
        && up(facts) < needed(facts)
}

/// As many members as the keyspace with the most copies needs, as far as there are so many;
/// all of them where nobody reports copies.
fn needed(facts: &Facts<'_>) -> usize {
    let all = facts.joined().filter(|m| !together::is_out(m)).count();
    let copies = facts.joined().flat_map(|m| m.status.copies.values()).max();
    let copies = copies.and_then(|copies| usize::try_from(*copies).ok());
    copies.map_or(all, |copies| copies.min(all))
}

/// Those that wait for a person, as far as their volumes are not given up.
fn waiting<'a>(facts: &'a Facts<'_>) -> Vec<(&'a MemberFact, Timestamp)> {
    let all = facts.joined().filter(|m| !together::is_out(m));
    all.filter_map(|m| Some((m, stale::too_old_since(m)?))).collect()
}

fn newest<'a>(waiting: &[(&'a MemberFact, Timestamp)]) -> Option<(&'a MemberName, Timestamp)> {
    waiting.iter().max_by_key(|(_, at)| *at).map(|(m, at)| (&m.name, *at))
}

/// When each ran last, by its own clock and by the operator's note.
fn ran(facts: &Facts<'_>) -> Names {
    let all = facts.joined().filter(|m| !together::is_out(m));
    Names::of(all.filter_map(|m| Some(of(m, together::ended_at(m)?))))
}

fn of(member: &MemberFact, at: Timestamp) -> Ran {
    let member_name = member.name.clone();
    match member.down_note() {
        Some(since) => Ran::Noted { member: member_name, at, since: since.to_string() },
        None => Ran::Until { member: member_name, at },
    }
}
