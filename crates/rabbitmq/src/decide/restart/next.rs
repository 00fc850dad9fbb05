//! Which member is restarted next, and what must be so before it has the turn.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Question, disabled_flags, is_new_line};
use crate::decide::maintain;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::restart::{Doing, Waiting};
use palladion_api::service::ServiceStep;
use palladion_plan::members::revisions::is_outdated;
use palladion_plan::words::Names;
use palladion_plan::{Flow, turn};

/// The next member on an older revision, or whose restart was asked for, if the others
/// can spare it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    take(facts, valid, due(facts, valid).next(), draft)
}

/// One that does not serve, on an older revision, goes before everything: it is what
/// keeps the others from changing anything.
pub fn of_broken(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    take(facts, valid, due(facts, valid).find(|m| !m.serves), draft)
}

fn take(facts: &Facts<'_>, valid: &Valid, member: Option<&MemberFact>, draft: &mut Draft) -> Flow {
    let Some((member, volume)) = member.and_then(|m| Some((m, m.volume_id()?))) else {
        return Flow::Free;
    };
    if let Err(why) = evidence::is_quiet(facts, &question(facts, member)) {
        let waiting = Waiting::ForCluster { member: member.name.clone(), why };
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    if maintain::before_stop(facts, member, draft).is_busy() {
        return Flow::Busy;
    }
    let flags = disabled_flags(facts);
    if is_new_line(facts, valid) && !flags.is_empty() {
        let waiting = Waiting::ForFlags { member: member.name.clone(), flags: Names::of(flags) };
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    let turn = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Restart);
    draft.steps.push(lock::write(facts, &turn, Doing::Begin { member: member.name.clone() }));
    Flow::Busy
}

/// All must answer and run, but for one that does not serve; and those that stay must be
/// a majority.
pub(super) fn question<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Question<'a> {
    let question = Question { spares_whom: true, ..Question::about(member) };
    match member.serves {
        true => question,
        false => question.without([facts.node_of(member)]),
    }
}

/// Members on an older revision, or whose restart was asked for.
fn due<'a>(facts: &'a Facts<'_>, valid: &Valid) -> impl Iterator<Item = &'a MemberFact> {
    let is_wanted = |m: &&MemberFact| m.ordinal < valid.size && !m.is_lost() && m.has_served();
    let is_due = |m: &&MemberFact| is_outdated(facts, m) || valid.token_due(m).is_some();
    facts.enrolled().filter(is_wanted).filter(is_due).collect::<Vec<_>>().into_iter()
}
