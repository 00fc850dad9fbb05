//! A rotation of an authority that a person asks for. It is taken up by the record of the new
//! authority; what is done goes by that record, beside all other work of the ring, and the task
//! reports how far it is.

use super::end::Course;
use super::read::{Task, is_over};
use crate::decide::certificates::rotation::{self, Rotation, Stage};
use crate::decide::certificates::{authorities, wanted};
use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::facts::{Facts, MemberFact};
use crate::internode;
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::jobs;
use crate::words::rotations::{Aborted, Done, Failed, Of, Refused, Running, Waiting};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::Purpose;
use palladion_api::task::RotateAuthorityTask;
use palladion_plan::Reason;
use palladion_plan::words::{Count, Names};

/// Take up, follow and end the rotations of this cluster.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for (task, body) in &open(facts) {
        let purpose = body.purpose;
        match under_way(facts, task, purpose) {
            Some(rotation) => follow(facts, valid, task, &rotation, draft),
            None if task.status.authority.is_some() => {
                task.tell(facts, (None, None), &gone(task, purpose), draft);
            }
            None if task.spec.abort => {
                let course = Course::Aborted(Aborted::InTime { of: purpose.into() }.into());
                task.tell(facts, (None, None), &course, draft);
            }
            None => match stands_in_the_way(facts, valid, task, purpose) {
                Some(course) => task.tell(facts, (None, None), &course, draft),
                None => {
                    let course = Course::Running(Running::Made { of: purpose.into() }.into());
                    // In this order: the record says which task it is for, and is found by it.
                    draft.steps.push(rotation::begin(facts, purpose, task.object));
                    task.tell(facts, (None, None), &course, draft);
                }
            },
        }
    }
}

/// Nothing is decided for the ring: it waits. One that was not taken up can be aborted.
pub(super) fn hold(facts: &Facts<'_>, why: &jobs::Waiting, draft: &mut Draft) {
    for (task, body) in &open(facts) {
        let is_taken_up = under_way(facts, task, body.purpose).is_some();
        let course = match (is_taken_up || task.status.authority.is_some(), task.spec.abort) {
            (true, _) => Course::Running(why.clone().into()),
            (false, true) => Course::Aborted(Aborted::InTime { of: body.purpose.into() }.into()),
            (false, false) => Course::Waiting(why.clone().into()),
        };
        task.tell(facts, (None, None), &course, draft);
    }
}

/// The rotations of this cluster that have not ended, in the order in which they came.
fn open<'a>(facts: &'a Facts<'_>) -> Vec<(Task<'a>, RotateAuthorityTask)> {
    let cluster = &facts.snapshot.owner.meta.name;
    let open =
        facts.objects(kinds::TASK).iter().filter(|o| !is_over(o) && !o.meta.is_terminating());
    let tasks = open.filter_map(|o| Task::read(o)).filter(|task| task.spec.cluster == *cluster);
    let mut all: Vec<_> = tasks
        .filter_map(|task| {
            let body = task.spec.rotate_authority.clone()?;
            Some((task, body))
        })
        .collect();
    all.sort_by_key(|(task, _)| order(task));
    all
}

fn order(task: &Task<'_>) -> (Option<jiff::Timestamp>, String) {
    (task.object.meta.creation_timestamp, task.name().to_string())
}

/// The rotation of this task.
fn under_way<'a>(facts: &'a Facts<'_>, task: &Task<'_>, purpose: Purpose) -> Option<Rotation<'a>> {
    let rotation = rotation::under_way(facts, purpose)?;
    (rotation.record.task_uid == *task.uid()).then_some(rotation)
}

/// It was taken up, and the new authority is on record no more.
fn gone(task: &Task<'_>, purpose: Purpose) -> Course {
    match task.spec.abort {
        true => Course::Aborted(Aborted::InTime { of: purpose.into() }.into()),
        false => {
            let authority = task.status.authority.clone().unwrap_or_default();
            Course::Failed(Failed::Gone { authority }.into())
        }
    }
}

/// Why it is refused, or what it waits for before it begins.
fn stands_in_the_way(
    facts: &Facts<'_>,
    valid: &Valid,
    task: &Task<'_>,
    purpose: Purpose,
) -> Option<Course> {
    if !facts.ring_exists() {
        return Some(Course::Waiting(jobs::Waiting::NotInitialized.into()));
    }
    let of = || Of::from(purpose);
    let refused = |why: Refused| Some(Course::Refused(why.into()));
    if !wanted(valid).any(|known| known == purpose) {
        return refused(Refused::NoAuthority { reason: Reason::NoAuthority, of: of() });
    }
    let is_changing = internode::wanted(facts) != valid.internode_tls.unwrap_or_default();
    if purpose == Purpose::Internode && is_changing {
        return refused(Refused::Changing { reason: Reason::InternodeTlsChanging });
    }
    let others = open(facts).into_iter().filter(|(_, body)| body.purpose == purpose);
    let first = others.map(|(other, _)| other).find(|other| {
        let comes_first = order(other) < order(task);
        other.uid() != task.uid() && (comes_first || under_way(facts, other, purpose).is_some())
    });
    if let Some(first) = first {
        let (reason, task) = (Reason::AlreadyRotating, first.name().to_string());
        return refused(Refused::Already { reason, task, of: of() });
    }
    waits(facts, purpose).map(|why| Course::Waiting(why.into()))
}

fn waits(facts: &Facts<'_>, purpose: Purpose) -> Option<Waiting> {
    let of = Of::from(purpose);
    if !facts.can_sign() {
        return Some(Waiting::SigningOff);
    }
    if let Some(rotation) = rotation::under_way(facts, purpose) {
        return Some(Waiting::Ending { authority: rotation.to.name.to_string() });
    }
    if authorities::has_former(facts, purpose) {
        return Some(Waiting::Former { of });
    }
    if authorities::signer(facts, purpose).is_none() {
        return Some(Waiting::NoAuthority { of });
    }
    let has_none = |m: &&MemberFact| {
        let known = m.status.tls.as_ref().and_then(|tls| tls.of(purpose));
        known.is_none_or(|status| status.stored.is_none())
    };
    let joined = facts.joined().filter(|m| marks::of(m).is_none());
    let without: Vec<_> = joined.filter(has_none).map(|m| &m.name).collect();
    let members = Names::of(without.iter().copied());
    (!without.is_empty()).then_some(Waiting::Uncertified { of, members })
}

/// How far it is.
fn follow(
    facts: &Facts<'_>,
    valid: &Valid,
    task: &Task<'_>,
    rotation: &Rotation<'_>,
    draft: &mut Draft,
) {
    let purpose = rotation.purpose();
    let authority = || rotation.to.name.to_string();
    let all = rotation::counted(facts).count();
    if !wanted(valid).any(|known| known == purpose) {
        let course = Course::Failed(Failed::NotSigned { of: purpose.into() }.into());
        return task.tell(facts, (Some(authority()), None), &course, draft);
    }
    let stage = rotation.stage(facts);
    let (step, behind) = match &stage {
        Stage::Trust { behind, .. } => (0, behind),
        Stage::Certificates(behind) => (1, behind),
        Stage::Removal(behind) => (2, behind),
    };
    let done = all.saturating_sub(behind.len());
    let percent = (step * all + done) * 100 / (3 * all).max(1);
    let progress = Some(format!("{percent}%"));
    let course = course(facts, task, rotation, &stage, (done, all));
    task.tell(facts, (Some(authority()), progress), &course, draft);
}

fn course(
    facts: &Facts<'_>,
    task: &Task<'_>,
    rotation: &Rotation<'_>,
    stage: &Stage<'_>,
    (done, all): (usize, usize),
) -> Course {
    let authority = rotation.to.name.to_string();
    if rotation.is_taken_back(facts) {
        return Course::Running(Running::TakingBack { authority }.into());
    }
    if !facts.can_sign() {
        return Course::Running(Waiting::SigningOff.into());
    }
    let members = Count::of(all, "member");
    let names = |all: &[&MemberFact]| Names::of(all.iter().map(|m| &m.name));
    let said = match stage {
        Stage::Trust { behind, until } if behind.is_empty() => match *until {
            None => Running::Unpublished { authority },
            Some(until) if until > facts.now() => Running::Overlap { authority, until },
            Some(_) if rotation.waits_for_others(facts) => {
                let fingerprint = rotation.to.record.fingerprint.clone();
                Running::Elsewhere { authority, fingerprint }
            }
            Some(_) => Running::Trusted { authority },
        },
        Stage::Trust { behind, .. } => {
            let said = Running::Trust { authority, done, members, behind: names(behind) };
            held_up(facts, rotation.purpose(), said, behind)
        }
        Stage::Certificates(behind) if behind.is_empty() => Running::Certified { authority },
        Stage::Certificates(behind) => {
            let said = Running::Certificates { authority, done, members, behind: names(behind) };
            held_up(facts, rotation.purpose(), said, behind)
        }
        Stage::Removal(behind) if behind.is_empty() => {
            let of = rotation.purpose().into();
            return Course::Done(Done::Rotated { authority, of }.into());
        }
        Stage::Removal(behind) => {
            let said = Running::Removal { authority, done, members, behind: names(behind) };
            held_up(facts, rotation.purpose(), said, behind)
        }
    };
    match task.spec.abort {
        true => Course::Running(Running::TooLate { progress: said.to_string() }.into()),
        false => Course::Running(said.into()),
    }
}

/// The same with who needs a person.
fn held_up(facts: &Facts<'_>, purpose: Purpose, said: Running, behind: &[&MemberFact]) -> Running {
    let is_silent = |m: &&&MemberFact| !m.agent_answers(&facts.nodes);
    let silent: Vec<_> = behind.iter().filter(is_silent).map(|m| &m.name).collect();
    if !silent.is_empty() {
        let silent = Names::of(silent);
        return Running::Silent { progress: said.to_string(), silent };
    }
    match rotation::old_agent(purpose, behind) {
        Some(member) => {
            let agent = member.status.agent.as_ref().map(|a| a.version.clone());
            let (progress, agent) = (said.to_string(), agent.unwrap_or_default());
            Running::OldAgent { progress, member: member.name.clone(), agent }
        }
        None => said,
    }
}

impl Task<'_> {
    /// Write how a rotation goes, where that differs, and tell of its end.
    fn tell(
        &self,
        facts: &Facts<'_>,
        (authority, progress): (Option<String>, Option<String>),
        course: &Course,
        draft: &mut Draft,
    ) {
        let mut status = self.status.clone();
        status.progress = progress.or(status.progress);
        if authority.is_some() {
            status.authority = authority;
            status.started_at = status.started_at.or_else(|| Some(Time(facts.now())));
        }
        let event = course.event(self.name());
        let event = event.map(|event| event.also_about(kinds::TASK, &self.object.meta));
        let step = self.write(facts.now(), status, course);
        draft.steps.extend(step.map(|step| step.announced(event)));
    }
}

impl From<Purpose> for Of {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Client => Of::Client,
            Purpose::Internode => Of::Internode,
        }
    }
}
