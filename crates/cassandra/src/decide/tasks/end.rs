//! How a task goes on and how it ends, as its status reports it.

use crate::decide::draft::Draft;
use crate::decide::tasks::read::{Task, kind};
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::tasks::{Aborted, Doing, Done, Failed, Refused, Running};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::conditions::{COMPLETE, FAILED};
use palladion_api::ids::HostId;
use palladion_api::reasons::Reason;
use palladion_api::task::TaskPhase;
use palladion_plan::words::{Message, Reasoned};
use palladion_plan::{Conditions, Step, Truth};
use serde_json::json;

/// How a task goes on.
pub enum Course {
    /// It is under way.
    Running(Running),
    /// It has reached its end.
    Done(Done),
    /// It has lost its purpose.
    Failed(Failed),
    /// It was aborted in time.
    Aborted(Aborted),
    /// It cannot be done as it stands.
    Refused(Refused),
}

impl Course {
    /// Of `Complete` and of `Failed`: exactly one is True at the end, so that
    /// whoever waits for them does not wait for ever.
    fn truths(&self) -> (Truth, Truth) {
        match self {
            Course::Running(_) => (Truth::False, Truth::False),
            Course::Done(_) => (Truth::True, Truth::False),
            Course::Failed(_) | Course::Aborted(_) | Course::Refused(_) => {
                (Truth::False, Truth::True)
            }
        }
    }

    fn said(&self) -> (Reason, Message) {
        match self {
            Course::Running(said) => (said.reason(), said.clone().into()),
            Course::Done(said) => (said.reason(), said.clone().into()),
            Course::Failed(said) => (said.reason(), said.clone().into()),
            Course::Aborted(said) => (said.reason(), said.clone().into()),
            Course::Refused(said) => (said.reason(), said.clone().into()),
        }
    }
}

impl Task<'_> {
    /// It cannot be done as it stands, and nothing of it was.
    pub fn refuse(&self, facts: &Facts<'_>, why: Refused, draft: &mut Draft) {
        self.report(facts, None, &Course::Refused(why), draft);
    }

    /// Write how it goes, where that differs.
    pub fn report(
        &self,
        facts: &Facts<'_>,
        host_id: Option<&HostId>,
        course: &Course,
        draft: &mut Draft,
    ) {
        let now = facts.now();
        let ((complete, failed), (reason, said)) = (course.truths(), course.said());
        let generation = self.object.meta.generation;
        let mut status = self.status.clone();
        let mut conditions = Conditions::new(&status.conditions, generation, now);
        conditions.set(COMPLETE, complete, reason, &said);
        conditions.set(FAILED, failed, reason, &said);
        status.conditions = conditions.all().to_vec();
        status.kind = kind(self.object);
        status.phase = TaskPhase::of(&status.conditions);
        status.host_id = host_id.cloned();
        status.observed_generation = Some(generation);
        let time = || Time(now);
        if status.started_at.is_none() && host_id.is_some() {
            status.started_at = Some(time());
        }
        if status.phase.is_some_and(TaskPhase::is_final) {
            status.ended_at = Some(time());
        }
        if status == self.status {
            return;
        }
        let meta = &self.object.meta;
        let doing = Doing::Report { task: meta.name.clone() };
        let patch = json!({ "status": status });
        draft.steps.push(Step::patch_status(kinds::TASK, meta, patch, doing));
    }
}
