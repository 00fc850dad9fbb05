//! Members that work for a task and of which nobody hears: their machines answer no more,
//! they are at a repair and serve nobody any more, or have not begun and do not serve. Their
//! part is given again when they are back, and no other task waits for that.

use super::doubts::{self, Doubt};
use super::follow::{TRIES, end};
use super::pass::PATIENCE;
use super::read::Task;
use super::units;
use crate::decide::evidence::given::{self, GRANT};
use crate::decide::evidence::marks;
use crate::facts::{Facts, MemberFact};
use crate::words::jobs::Member as Said;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::task::{Body, Means, MemberTaskState as State, TaskKind, TaskMember};

/// Why nobody counts on a member that was given a part.
enum Silence {
    /// Its machine does not answer.
    Machine,
    /// It is at a repair by grants, and holds up that of others; or its agent has not begun,
    /// because its server does not serve, and may never again.
    Doubted(Doubt),
}

fn silence(facts: &Facts<'_>, task: &Task<'_>, entry: &TaskMember) -> Option<Silence> {
    let body = task.spec.work.body();
    match body.map(|body| body.kind()).map(TaskKind::means) {
        Some(Means::Job) => {}
        // It has the turn of the ring, which has rules of its own.
        Some(Means::Turn | Means::Authority) | None => return None,
    }
    let member = units::member(facts, &entry.name).filter(|_| entry.state == State::Running)?;
    let is_by_grants = body.is_some_and(Body::is_repair_by_grants);
    if is_by_grants && doubts::runs_unheard(facts, member) && marks::of(member).is_none() {
        // Its Node is not ready, and others see its server up: it repairs as before, and
        // while its agent answers, that counts.
        return unanswered_since(member).map(|_| Silence::Doubted(Doubt::Unanswered));
    }
    if !member.agent_answers(&facts.nodes) {
        return Some(Silence::Machine);
    }
    if is_by_grants {
        return doubts::doubt(facts, member).map(Silence::Doubted);
    }
    let has_begun = given::answer(member).is_some();
    (!has_begun && !member.is_live(&facts.nodes)).then_some(Silence::Doubted(Doubt::ServesNobody))
}

/// When it was asked last about the part that it has, if it has not answered.
fn unanswered_since(member: &MemberFact) -> Option<Timestamp> {
    given::asked(member).and_then(|part| doubts::unanswered_since(member, &part.id))
}

/// Note when its silence was seen first: that it was seen down before is no silence. Once
/// it is heard again, or works no more, the next silence is another one.
pub fn note(facts: &Facts<'_>, task: &Task<'_>, entry: &mut TaskMember) {
    entry.silent_since = match silence(facts, task, entry).is_some() {
        true => entry.silent_since.take().or_else(|| Some(Time(facts.now()))),
        false => None,
    };
}

/// From when on nobody waits for the part that a member was given: it does not serve, and
/// has been silent for long. While others see its server up, that repairs what it was granted
/// until its agent gives up.
pub fn until(facts: &Facts<'_>, task: &Task<'_>, entry: &TaskMember) -> Option<Timestamp> {
    let silence = silence(facts, task, entry)?;
    let member = units::member(facts, &entry.name)?;
    let (from, time) = match silence {
        Silence::Machine => {
            member.down_note()?;
            (entry.silent_since.as_ref()?.0, PATIENCE)
        }
        Silence::Doubted(Doubt::Unanswered) if doubts::may_repair_with_others(facts, member) => {
            (unanswered_since(member)?, GRANT)
        }
        Silence::Doubted(Doubt::Unanswered | Doubt::ServesNobody) => {
            (entry.silent_since.as_ref()?.0, PATIENCE)
        }
    };
    from.checked_add(time).ok()
}

/// It can only be waited for: its part has ended for now. A machine that died counts as a
/// try, as if its server had ended; who repairs is not to blame for a network, and what was
/// not begun is no try.
pub fn give_up(facts: &Facts<'_>, task: &Task<'_>, entry: &mut TaskMember) {
    if until(facts, task, entry).is_none_or(|at| facts.now() < at) {
        return;
    }
    let Some(silence) = silence(facts, task, entry) else { return };
    entry.silent_since = None;
    let member = entry.name.clone();
    match silence {
        Silence::Doubted(doubt) => {
            entry.tries = entry.tries.saturating_sub(1);
            end(facts, entry, State::Interrupted, &doubt.said(member));
        }
        Silence::Machine if entry.tries < TRIES => {
            end(facts, entry, State::Interrupted, &Said::Silent { member });
        }
        Silence::Machine => {
            let why = Said::Silent { member }.to_string();
            end(facts, entry, State::Failed, &Said::Twice { why });
        }
    }
}
