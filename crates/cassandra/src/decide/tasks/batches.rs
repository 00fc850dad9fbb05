//! A repair of what is due, at which several members are at a time. Each is given its
//! part, offers what of it is due, and waits; what it repairs is granted piece by
//! piece, so that no member that has copies is in two repairs.

use super::abort::is_ending;
use super::at_work::{nobody, working};
use super::doubts;
use super::follow::{self, is_final};
use super::give::{give, grant, stop};
use super::go_on::{begin, wake};
use super::grants::{Occupied, Offer, choose};
use super::pace::is_late;
use super::pass::patience_ends;
use super::preconditions::{Gate, gate, knows_grants};
use super::queue::Job;
use super::run::Stands;
use super::units;
use crate::decide::draft::Draft;
use crate::decide::evidence::given::{answer, asked};
use crate::decide::evidence::left_running as left;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::jobs::{Member, Waiting, Working};
use palladion_api::ids::{HostId, MemberName};
use palladion_api::member::{Grant, JobWanted};
use palladion_api::repair::Pressure;
use palladion_api::task::{Body, MemberTaskState as State, OnFailure, TaskMember, WhenDown};
use palladion_plan::words::Names;
use std::collections::BTreeSet;

/// Is this one of those at which several members may be?
pub fn is_by_grants(job: &Job<'_>) -> bool {
    job.task.spec.work.body().is_some_and(Body::is_repair_by_grants)
}

/// Go on with the task that has the job. While something comes before jobs, nobody
/// begins, and nothing is granted.
pub fn go_on(
    facts: &Facts<'_>,
    valid: &Valid,
    first: Option<Waiting>,
    job: &mut Job<'_>,
    draft: &mut Draft,
) -> Stands {
    wake(facts, job, draft);
    if is_ending(facts, job) {
        doubts::ask(facts, job, draft);
        return end(facts, job, draft);
    }
    if let Some(why) = first {
        let said = working(facts, job, &BTreeSet::new(), Some(&why));
        return said.map_or(Stands::Waiting(why), Stands::Working);
    }
    doubts::ask(facts, job, draft);
    units::wake(facts, draft);
    let waits = begin_all(facts, valid, job, draft);
    let granted = grant_all(facts, job, draft);
    match (working(facts, job, &granted, None), waits.gate) {
        (Some(said), _) => Stands::Working(said),
        (None, Some(_)) if leave_out_who_is_down(facts, job) => Stands::Due,
        (None, Some(why)) => Stands::Waiting(why),
        (None, None) => match waits.held {
            Some(why) => Stands::Working(nobody(job, why)),
            // All are done; the next decision sees it.
            None => Stands::Due,
        },
    }
}

/// Whoever repairs by grants is asked whether it hears, whatever is decided of its task: that its
/// agent is lost shows by nothing else, and nobody waits for that without end.
pub fn ask_who_is_silent(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) {
    if is_by_grants(job) {
        doubts::ask(facts, job, draft);
    }
}

/// Nobody begins any more; whoever works is stopped.
pub fn end(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) -> Stands {
    stop_all(facts, job, draft);
    let work = job.kind.into();
    let Some(member) = job.running().next().map(|entry| entry.name.clone()) else {
        return Stands::Due;
    };
    Stands::Working(match job.task.spec.abort {
        true => Working::Stopping { work, member },
        false => Working::OverTime { work, member },
    })
}

/// Stop whoever works at it.
pub fn stop_all(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) {
    let members = job.running().filter_map(|entry| facts.members.get(&entry.name));
    draft.steps.extend(members.filter_map(|member| stop(facts, member)));
}

/// What members wait for that are not given their part.
#[derive(Default)]
struct Waits {
    /// What must be so before one begins: others may pass meanwhile.
    gate: Option<Waiting>,
    /// What is still under way: nobody else repairs beside it.
    held: Option<Waiting>,
}

/// Whoever can is given its part. One whose agent knows no grants repairs while no
/// other one does.
fn begin_all(facts: &Facts<'_>, valid: &Valid, job: &mut Job<'_>, draft: &mut Draft) -> Waits {
    let mut waits = Waits::default();
    let has_failed = job.status.members.iter().any(|m| m.state == State::Failed);
    if has_failed && job.task.spec.on_failure == OnFailure::Stop {
        return waits; // Nobody begins; those at work end.
    }
    for place in 0..job.status.members.len() {
        let entry = job.status.members[place].clone();
        if is_final(entry.state) || entry.state == State::Running {
            continue;
        }
        match gate(facts, valid, job, &entry) {
            Gate::Skip(why) => {
                follow::end(facts, &mut job.status.members[place], State::Skipped, &why);
            }
            Gate::Wait(why) => {
                waits.gate.get_or_insert(why);
            }
            Gate::Open(member, proof) => {
                let at_work = || job.running().filter_map(|m| facts.members.get(&m.name));
                let has_room = match knows_grants(member) {
                    true => at_work().all(knows_grants),
                    false => at_work().next().is_none(),
                };
                if let Some(why) = not_free(facts, job, member, has_room) {
                    waits.held.get_or_insert(why);
                    continue;
                }
                if let Some(step) = give(facts, job, (place, &entry), (member, proof.as_ref())) {
                    draft.steps.push(step);
                    begin(facts, &mut job.status.members[place], member);
                }
            }
        }
    }
    waits
}

/// Why a member is not given its part that could begin.
fn not_free(
    facts: &Facts<'_>,
    job: &Job<'_>,
    member: &MemberFact,
    has_room: bool,
) -> Option<Waiting> {
    if let Some(waiting) = left::running(facts, member) {
        return Some(waiting);
    }
    // What it was given before is over only when its agent says so.
    if units::unended(facts, member).is_some() {
        return Some(Waiting::NotEnded { member: member.name.clone() });
    }
    let at_work = || Names::of(job.running().map(|entry| &entry.name));
    (!has_room).then(|| Waiting::BesideAnother { members: at_work() })
}

/// Only members are left that are down, and have been for long. What they have copies of is
/// repaired when they are back, by another task; until then that repairs the rest of the
/// ring, for which this one must not stand in its way.
fn leave_out_who_is_down(facts: &Facts<'_>, job: &mut Job<'_>) -> bool {
    let ends = patience_ends(facts, &job.status.members);
    let is_over = ends.is_some_and(|at| facts.now() >= at);
    if !is_over || job.task.spec.when_down != WhenDown::Skip {
        return false;
    }
    let is_down = |entry: &TaskMember| {
        let member = units::member(facts, &entry.name);
        let is_away = |m: &MemberFact| m.down_note().is_some() || doubts::is_unheard(m);
        member.is_none_or(|m| !m.is_live(&facts.nodes) || is_away(m))
    };
    let mut left: Vec<&mut TaskMember> =
        job.status.members.iter_mut().filter(|entry| !is_final(entry.state)).collect();
    if !left.iter().all(|entry| is_down(entry)) {
        return false;
    }
    left.iter_mut().for_each(|entry| follow::end(facts, entry, State::Skipped, &Member::Down));
    true
}

/// What a member may repair now, if that is not over.
pub fn holds<'a>(facts: &Facts<'_>, member: &'a MemberFact) -> Option<&'a Grant> {
    let granted = asked(member)?.grant.as_ref().filter(|grant| !grant.host_ids.is_empty())?;
    if left::held_until(facts, member).is_some() {
        return Some(granted);
    }
    let is_over = answer(member).is_some_and(|answer| {
        answer.state.is_final() || answer.last_grant.is_some_and(|last| last >= granted.number)
    });
    (!is_over).then_some(granted)
}

/// Does a member work of which nobody knows whose data it reads: at what it is not
/// asked for any more, or for another task?
fn somebody_else_works(facts: &Facts<'_>, job: &Job<'_>) -> bool {
    let ours = |unit: &units::Unit<'_>| {
        let is_ours = unit.job.is_some_and(|asked| asked.task == *job.task.uid());
        let told = units::unended(facts, unit.member);
        let is_another = told.is_some_and(|told| unit.job.is_none_or(|job| job.id != told.id));
        is_ours && !is_another && knows_grants(unit.member)
    };
    units::under_way(facts).iter().any(|unit| !ours(unit))
        || unheard_elsewhere(facts, job).is_some()
}

/// A member that nobody hears, and that may be at what another task gave it.
pub fn unheard_elsewhere<'a>(facts: &'a Facts<'_>, job: &Job<'_>) -> Option<&'a MemberFact> {
    let is_asked = |member: &MemberFact| {
        let part = asked(member).filter(|part| part.task == *job.task.uid());
        part.is_some_and(|part| answer(member).is_some() && part.grant.is_some())
    };
    let mut unheard = facts.members.values().filter(|m| units::may_be_at_it(facts, m));
    unheard.find(|member| !is_asked(member))
}

/// Says who is granted something.
fn grant_all(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) -> BTreeSet<MemberName> {
    if somebody_else_works(facts, job) || left::of_everything(facts).is_some() {
        return BTreeSet::new();
    }
    let held = facts.members.values().filter_map(|member| holds(facts, member));
    let busy: BTreeSet<&HostId> = held.clone().flat_map(|grant| &grant.host_ids).collect();
    let room = most(job).saturating_sub(held.count());
    let mut offers = Vec::new();
    for entry in job.running() {
        let Some(member) = facts.members.get(&entry.name) else { continue };
        let is_asked = asked(member).is_some_and(|job| job.wanted == JobWanted::Run);
        let Some(answer) = answer(member).filter(|_| is_asked && holds(facts, member).is_none())
        else {
            continue;
        };
        // What was offered before the last grant was over says what was left then.
        let last = asked(member).and_then(|job| job.grant.as_ref()).map(|grant| grant.number);
        if answer.last_grant.unwrap_or(0) == last.unwrap_or(0) && member.is_live(&facts.nodes) {
            offers.extend(answer.batches.iter().map(|batch| Offer { member: &member.name, batch }));
        }
    }
    let pressed = match is_late(facts) {
        true => BTreeSet::new(),
        false => pressed(facts),
    };
    let chosen = choose(offers, &Occupied { busy, pressed }, room);
    for one in &chosen {
        let member = facts.members.get(one.member);
        draft.steps.extend(member.and_then(|member| grant(facts, member, one.batch)));
    }
    chosen.into_iter().map(|one| one.member.clone()).collect()
}

/// Members that have more to do than they get done, by host ID.
fn pressed<'a>(facts: &'a Facts<'_>) -> BTreeSet<&'a HostId> {
    let is_pressed = |m: &&MemberFact| m.status.pressure == Some(Pressure::High);
    facts.joined().filter(is_pressed).filter_map(MemberFact::recorded_host_id).collect()
}

/// So many repair at a time at the most.
fn most(job: &Job<'_>) -> usize {
    let repair = job.task.spec.work.repair.as_ref();
    let parallel = repair.and_then(|repair| repair.parallel);
    parallel.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
}
