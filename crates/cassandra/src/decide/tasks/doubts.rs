//! Members at a repair by grants of which it is doubtful whether they repair: what they
//! were granted keeps the other copies from every other repair. That a repair stands still
//! is no doubt, since a segment may take half an hour.

use super::pass::PATIENCE;
use super::queue::Job;
use super::units::{self, Unit};
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::evidence::given::{self, asked};
use crate::facts::{Facts, MemberFact};
use crate::words::jobs::Member as Said;
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::{MemberName, Nonce};
use palladion_api::member::{JobWanted, Liveness, RingSummary};
use palladion_api::task::Body;

/// Whoever repairs is asked so often whether its agent hears, where nothing is wrong.
const HOURLY: SignedDuration = SignedDuration::from_hours(1);

/// Why it is doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// By all that is known it serves nobody: what it has copies of fails.
    ServesNobody,
    /// Its agent was asked and has not answered. Pod and Node may be Ready all the same, and
    /// what the agent said last is that it repairs.
    Unanswered,
}

impl Doubt {
    /// What is told of it.
    pub fn said(self, member: MemberName) -> Said {
        match self {
            Doubt::ServesNobody => Said::ServesNobody { member },
            Doubt::Unanswered => Said::Unanswered { member },
        }
    }
}

/// May its server repair together with others, also if nobody hears from its agent? It may
/// as long as one of them sees it up, by the word of an agent that is heard; where none of
/// these says what it sees, nobody knows better.
pub fn may_repair_with_others(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let Some(host_id) = member.recorded_host_id() else {
        return false;
    };
    let others = evidence::others(facts, &member.name);
    let heard = others.into_iter().filter(|other| other.agent_answers(&facts.nodes));
    let mut views = heard.filter_map(|other| other.status.ring.as_ref()).peekable();
    let sees_up = |view: &RingSummary| {
        let seen = view.exceptions.iter().find(|seen| seen.host_id == *host_id);
        seen.is_none_or(|seen| seen.liveness != Liveness::Down)
    };
    views.peek().is_none() || views.any(sees_up)
}

/// Is its Node or its pod not ready, or its pod about to go, while its server may repair
/// with others all the same?
pub fn runs_unheard(facts: &Facts<'_>, member: &MemberFact) -> bool {
    !member.agent_answers(&facts.nodes) && may_repair_with_others(facts, member)
}

/// Is it doubtful whether this member repairs what it was granted?
pub fn doubt(facts: &Facts<'_>, member: &MemberFact) -> Option<Doubt> {
    if !member.is_live(&facts.nodes) {
        return Some(Doubt::ServesNobody);
    }
    let job = asked(member)?;
    unanswered_since(member, &job.id).map(|_| Doubt::Unanswered)
}

/// Ask those that repair: at once whom others see down, whose Node is not ready, or who has
/// not read that it is to stop, and again ten minutes later, since who has answered may be
/// lost afterwards; the others once an hour, since an agent that has lost the API server alone
/// shows by nothing else.
pub fn ask(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) {
    for entry in job.running() {
        let Some(member) = facts.members.get(&entry.name) else { continue };
        let runs_unheard = runs_unheard(facts, member);
        if !runs_unheard && !member.agent_answers(&facts.nodes) {
            continue;
        }
        let Some(part) = asked(member) else { continue };
        let is_doubtful = runs_unheard || member.down_note().is_some() || ignores_a_stop(member);
        let begun = entry.started_at.as_ref().map(|begun| begun.0);
        ask_about(facts, (member, &part.id), (is_doubtful, begun), draft);
    }
    // What they were at before, and nobody has heard the end of.
    let unheard = facts.members.values().filter(|member| units::may_be_at_it(facts, member));
    for member in unheard {
        let told = member.status.job.as_ref();
        let told = told.filter(|told| asked(member).is_none_or(|part| part.id != told.id));
        if let Some(told) = told {
            ask_about(facts, (member, &told.id), (true, None), draft);
        }
    }
}

/// Something comes before what these are at, and they were asked to stop: ask those that
/// have not read that, since nobody waits for them for ever.
pub fn ask_the_unheard(facts: &Facts<'_>, units: &[Unit<'_>], draft: &mut Draft) {
    for unit in units.iter().filter(|unit| ignores_a_stop(unit.member)) {
        let part = unit.job.filter(|job| job.work.body().is_some_and(Body::is_repair_by_grants));
        if let Some(part) = part {
            ask_about(facts, (unit.member, &part.id), (true, None), draft);
            wake(facts, (unit.member, &part.id), draft);
        }
    }
}

/// Look again when nobody waits any more for the answer to the last question.
fn wake(facts: &Facts<'_>, (member, part): (&MemberFact, &str), draft: &mut Draft) {
    let Some(put) = unanswered_since(member, part) else { return };
    let times = [PATIENCE, given::GRANT].map(|time| put.checked_add(time).ok());
    let later = times.into_iter().flatten().filter(|at| *at > facts.now());
    later.for_each(|at| draft.wake_at(at));
}

/// Is it asked to stop, and has not read that?
fn ignores_a_stop(member: &MemberFact) -> bool {
    let generation = member.object.as_ref().map_or(0, |object| object.meta.generation);
    let has_read = member.status.observed_generation.is_none_or(|seen| seen >= generation);
    !has_read && asked(member).is_some_and(|part| part.wanted == JobWanted::Stop)
}

/// Ask one about what it was given then, where it is time.
fn ask_about(
    facts: &Facts<'_>,
    (member, part): (&MemberFact, &str),
    (is_doubtful, begun): (bool, Option<Timestamp>),
    draft: &mut Draft,
) {
    if unanswered_since(member, part).is_some() {
        return;
    }
    let pause = if is_doubtful { PATIENCE } else { HOURLY };
    let due = match (asked_at(member, part), begun) {
        (Some(last), _) => facts.again(last, None, pause),
        (None, _) if is_doubtful => facts.now(),
        (None, Some(begun)) => facts.again(begun, None, pause),
        (None, None) => return,
    };
    if facts.now() < due {
        draft.wake_at(due);
        return;
    }
    let nonce = Nonce::new(format!("{}{}", question(part), facts.now().as_second()));
    evidence::ask(facts, &[member], &nonce, &facts.job_fence(), draft);
}

/// The questions to a member about this part of a task, up to when they were put: at most 64
/// characters in all, of which the ID of a part has about 44.
fn question(part: &str) -> String {
    format!("{part}-at-")
}

/// When it was asked about this part last, by the clock of the operator that has asked.
fn asked_at(member: &MemberFact, part: &str) -> Option<Timestamp> {
    let nonce = &member.spec.as_ref()?.evidence.as_ref()?.nonce;
    let seconds = nonce.as_str().strip_prefix(&question(part))?.parse().ok()?;
    Timestamp::from_second(seconds).ok()
}

/// Was it asked about its last part, and has not answered?
pub fn is_unheard(member: &MemberFact) -> bool {
    let told = member.status.job.as_ref();
    told.is_some_and(|told| unanswered_since(member, &told.id).is_some())
}

/// When it was asked about this part last, if it has not answered.
pub fn unanswered_since(member: &MemberFact, part: &str) -> Option<Timestamp> {
    let put = asked_at(member, part)?;
    let nonce = member.spec.as_ref()?.evidence.as_ref().map(|e| &e.nonce);
    let answer = member.status.evidence.as_ref().map(|answer| &answer.nonce);
    (answer != nonce).then_some(put)
}
