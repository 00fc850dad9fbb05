//! How a task goes on and how it ends, as its status reports it.

use crate::decide::draft::Draft;
use crate::decide::tasks::read::Task;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::tasks::{Aborted, Doing, Done, Failed, Refused, Running};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::conditions::{self, COMPLETE};
use palladion_api::ids::HostId;
use palladion_api::reasons::Reason;
use palladion_api::task::TaskPhase;
use palladion_plan::Step;
use palladion_plan::words::{Message, Reasoned};
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
    fn phase(&self) -> TaskPhase {
        match self {
            Course::Running(_) => TaskPhase::Running,
            Course::Done(_) => TaskPhase::Done,
            Course::Failed(_) => TaskPhase::Failed,
            Course::Aborted(_) => TaskPhase::Aborted,
            Course::Refused(_) => TaskPhase::Refused,
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
        let (phase, (reason, said)) = (course.phase(), course.said());
        let said = said.to_string();
        let generation = Some(self.object.meta.generation);
        let mut status = self.status.clone();
        let is_done = phase == TaskPhase::Done;
        let new = conditions::condition(COMPLETE, is_done, reason.as_str(), &said, generation, now);
        conditions::set(&mut status.conditions, new);
        status.phase = Some(phase);
        status.host_id = host_id.cloned();
        status.observed_generation = generation;
        let time = || Time(now);
        if status.started_at.is_none() && host_id.is_some() {
            status.started_at = Some(time());
        }
        if phase.is_final() {
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
