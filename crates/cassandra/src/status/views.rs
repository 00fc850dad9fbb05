//! What members report of each other, held side by side: while it does not fit
//! together, nothing says that all is well (safety rule 7.3). Observations only,
//! no decision is taken from them.

use super::schemas;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, marks};
use crate::facts::{Facts, MemberFact, leaver};
use crate::words::views::{Disagreement, Settling};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::StaticAddress;
use palladion_api::member::Liveness;
use palladion_api::reasons::Reason;
use palladion_api::waits::Wait;
use palladion_plan::words::{Count, Names};
use std::cmp::Reverse;

/// Members see each other up within two seconds of a start, and their agents look
/// every five. What has not settled by then is told.
const SETTLE: SignedDuration = SignedDuration::from_secs(10);

/// One member sees another down, and both serve by their own word.
#[derive(Clone, Copy)]
struct Down<'a> {
    seen: &'a MemberFact,
    by: &'a MemberFact,
}

/// Note where the members' views do not fit together.
pub fn note(facts: &Facts<'_>, draft: &mut Draft) {
    addresses(facts, draft);
    schemas::note(facts, draft);
    let all = downs(facts);
    let (settled, fresh): (Vec<Down<'_>>, _) =
        all.into_iter().partition(|d| d.settles(facts) <= facts.now());
    for member in seen_down(&settled) {
        tell(member, seen_down_words(facts, member, &settled), draft);
    }
    match fresh.iter().min_by_key(|d| d.settles(facts)) {
        Some(first) => {
            let (member, by) = (first.seen.name.clone(), names(observers(first.seen, &fresh)));
            let waiting = Settling::SeenDown { member, by };
            draft.wait_for(waiting).about(first.seen.subject()).until(first.settles(facts));
        }
        None if settled.is_empty() => numbers(facts, draft),
        None => {}
    }
}

/// How many of these members see each other up, as far as views have settled.
pub fn together(facts: &Facts<'_>, ready: &[&MemberFact]) -> usize {
    let downs = downs(facts).into_iter().filter(|d| d.settles(facts) <= facts.now());
    let downs: Vec<Down<'_>> = downs.collect();
    let is_apart = |a: &MemberFact, b: &MemberFact| {
        let between = |d: &Down<'_>| {
            (d.seen.name == a.name && d.by.name == b.name)
                || (d.seen.name == b.name && d.by.name == a.name)
        };
        downs.iter().any(between)
    };
    let with = |member: &&MemberFact| ready.iter().filter(|m| !is_apart(member, m)).count();
    ready.iter().map(with).max().unwrap_or_default()
}

fn tell(member: &MemberFact, what: Disagreement, draft: &mut Draft) {
    draft.report(what.clone());
    draft.wait_for(what).about(member.subject());
}

/// Full members that serve by their own word.
pub fn living<'a>(facts: &'a Facts<'_>) -> Vec<&'a MemberFact> {
    let members = facts.joined();
    members.filter(|m| m.lives_by_its_own_word(&facts.nodes)).collect()
}

fn downs<'a>(facts: &'a Facts<'_>) -> Vec<Down<'a>> {
    let living = living(facts);
    let of = |by: &'a MemberFact| {
        let exceptions = by.status.ring.iter().flat_map(|ring| &ring.exceptions);
        let down = exceptions.filter(|e| e.liveness == Liveness::Down);
        let living = &living;
        down.filter_map(move |e| {
            let seen = living.iter().find(|m| m.recorded_host_id() == Some(&e.host_id))?;
            (seen.name != by.name).then_some(Down { seen, by })
        })
    };
    living.iter().flat_map(|by| of(by)).collect()
}

impl Down<'_> {
    /// From when on both have served for long enough to know of each other.
    fn settles(&self, facts: &Facts<'_>) -> Timestamp {
        settles(facts, &[self.seen, self.by], &[self.seen, self.by])
    }
}

/// When the views of these have settled. A clock of theirs that is ahead neither
/// delays what is said of others, nor takes it back when it is caught up with.
fn settles(facts: &Facts<'_>, whose: &[&MemberFact], about: &[&MemberFact]) -> Timestamp {
    let since = |m: &&MemberFact| m.status.server.as_ref().map_or(facts.now(), |s| s.since.0);
    let since = whose.iter().map(since).max().unwrap_or(facts.now());
    let said = said_since(facts, about, Reason::MembersDisagree);
    match said {
        Some(said) => said.min(since + SETTLE),
        None if since <= facts.now() => since + SETTLE,
        // By the operator's own clock.
        None => said_since(facts, about, Reason::MembersDown).unwrap_or(facts.now()) + SETTLE,
    }
}

/// Since when the status has a wait about one of these for such a reason.
fn said_since(facts: &Facts<'_>, about: &[&MemberFact], reason: Reason) -> Option<Timestamp> {
    let is_about = |w: &&Wait| {
        let object = w.object.as_ref().filter(|_| w.reason == reason.as_str());
        object.is_some_and(|o| about.iter().any(|m| o.name == m.name.as_str()))
    };
    facts.status.waits.iter().filter(is_about).map(|w| w.since.0).min()
}

fn observers<'a>(member: &MemberFact, downs: &[Down<'a>]) -> Vec<&'a MemberFact> {
    downs.iter().filter(|d| d.seen.name == member.name).map(|d| d.by).collect()
}

/// Those seen down, by most first. Who is seen down only by members that more
/// of the others see down is not named: it is they who are cut off.
fn seen_down<'a>(downs: &[Down<'a>]) -> Vec<&'a MemberFact> {
    let count = |m: &MemberFact| observers(m, downs).len();
    let mut members: Vec<&MemberFact> = downs.iter().map(|d| d.seen).collect();
    members.sort_by(|a, b| (Reverse(count(a)), &a.name).cmp(&(Reverse(count(b)), &b.name)));
    members.dedup_by(|a, b| a.name == b.name);
    members.retain(|m| observers(m, downs).iter().any(|by| count(by) <= count(m)));
    members
}

fn seen_down_words(facts: &Facts<'_>, member: &MemberFact, downs: &[Down<'_>]) -> Disagreement {
    let (name, by) = (member.name.clone(), names(observers(member, downs)));
    let ring = member.status.ring.as_ref();
    let sees_down =
        ring.map_or(0, |r| r.exceptions.iter().filter(|e| e.liveness == Liveness::Down).count());
    let others = member.recorded_host_id().map_or(0, |id| evidence::rest_of(facts, id));
    match others > 0 && sees_down >= others {
        true => Disagreement::CutOff { member: name, by },
        false => Disagreement::SeenDown { member: name, by },
    }
}

fn names(members: Vec<&MemberFact>) -> Names {
    Names::of(members.iter().map(|m| &m.name))
}

/// All serve, nothing changes, and yet one sees more or fewer members than there are.
fn numbers(facts: &Facts<'_>, draft: &mut Draft) {
    let joined = facts.joined();
    let living = living(facts);
    if facts.turn().is_some() || joined.count() != living.len() {
        return;
    }
    let Some(known) = living.first().and_then(|m| m.recorded_host_id()) else { return };
    let known = evidence::rest_of(facts, known) + 1;
    for member in &living {
        let settles = settles(facts, &living, &[member]);
        let Some(sees) = member.status.ring.as_ref().map(|r| facts.own_members(r)) else {
            continue;
        };
        if sees == known {
            continue;
        }
        let (name, members) = (member.name.clone(), Count::of(sees, "member"));
        if settles <= facts.now() {
            tell(member, Disagreement::SeesAnother { member: name, members, known }, draft);
            continue;
        }
        let waiting = Settling::SeesAnother { member: name, members, known };
        draft.wait_for(waiting).about(member.subject()).until(settles);
        return;
    }
}

/// The recorded address, the Service's, and the one that is announced.
fn addresses(facts: &Facts<'_>, draft: &mut Draft) {
    let living = living(facts);
    for member in facts.members.values() {
        let is_replaced =
            facts.turn().is_some_and(|t| t.member == member.name) || marks::of(member).is_some();
        let recorded = member.spec.as_ref().and_then(|s| s.address.as_ref());
        let (Some(host_id), Some(recorded), false) =
            (member.recorded_host_id(), recorded, is_replaced)
        else {
            continue;
        };
        let (name, recorded) = (|| member.name.clone(), recorded.clone());
        let service = member.service.as_ref().and_then(|s| s.address.clone());
        if let Some(address) = service.filter(|a| *a != recorded) {
            let differs = match leaver::has_another_address(member) {
                true => Disagreement::LeaverHas { member: name(), address, recorded },
                false => Disagreement::ServiceHas { member: name(), address, recorded },
            };
            tell(member, differs, draft);
            continue;
        }
        let by_itself = member.status.address.as_ref().filter(|_| member.is_normal());
        let seen = living.iter().filter_map(|m| m.status.ring.as_ref());
        let mut by_others = seen.flat_map(|r| &r.exceptions).filter(|e| e.host_id == *host_id);
        let differs = |a: &&StaticAddress| **a != recorded;
        let announced = by_itself.filter(differs);
        let announced =
            announced.or_else(|| by_others.find_map(|e| Some(&e.address).filter(differs)));
        if let Some(announced) = announced.cloned() {
            tell(member, Disagreement::Announces { member: name(), announced, recorded }, draft);
        }
    }
}
