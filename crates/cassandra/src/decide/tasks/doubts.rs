//! Members at a repair by grants of which it is doubtful whether they repair: what they
//! were granted keeps the other copies from every other repair. That a repair stands still
//! is no doubt, since a segment may take half an hour.

use super::pass::PATIENCE;
use super::queue::Job;
use super::units::asked;
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::{Facts, MemberFact};
use crate::words::jobs::Member as Said;
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::{MemberName, Nonce};

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

/// Is it doubtful whether this member repairs what it was granted?
pub fn doubt(facts: &Facts<'_>, member: &MemberFact) -> Option<Doubt> {
    if !member.is_live(&facts.nodes) {
        return Some(Doubt::ServesNobody);
    }
    let job = asked(member)?;
    unanswered_since(member, &job.id).map(|_| Doubt::Unanswered)
}

/// Ask those that repair: at once whom others see down, and again ten minutes later, since
/// who has answered may be lost afterwards; the others once an hour, since an agent that has
/// lost the API server alone shows by nothing else.
pub fn ask(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) {
    for entry in job.running() {
        let member = facts.members.get(&entry.name).filter(|m| m.agent_answers(&facts.nodes));
        let Some((member, part)) = member.and_then(|m| Some((m, asked(m)?))) else { continue };
        if unanswered_since(member, &part.id).is_some() {
            continue;
        }
        let is_seen_down = member.down_note().is_some();
        let pause = if is_seen_down { PATIENCE } else { HOURLY };
        let due = match asked_at(member, &part.id) {
            Some(last) => facts.again(last, None, pause),
            None if is_seen_down => facts.now(),
            None => match &entry.started_at {
                Some(begun) => facts.again(begun.0, None, pause),
                None => continue,
            },
        };
        if facts.now() < due {
            draft.wake_at(due);
            continue;
        }
        let nonce = Nonce::new(format!("{}{}", question(&part.id), facts.now().as_second()));
        evidence::ask(&[member], &nonce, &facts.job_fence(), draft);
    }
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
