//! A task as it is stored, and how its status tells how it goes.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::conditions::{self, COMPLETE};
use palladion_api::ids::HostId;
use palladion_api::reasons::Reason;
use palladion_api::task::{CassandraTaskSpec, CassandraTaskStatus, TaskPhase};
use palladion_plan::{Object, ObjectKey, Precondition, Step, Subresource};
use serde_json::{Value, json};

/// A task as it is stored.
pub struct Task<'a> {
    /// The stored object.
    pub object: &'a Object,
    /// What is wanted.
    pub spec: CassandraTaskSpec,
    /// How it went so far.
    pub status: CassandraTaskStatus,
}

/// How a task goes on.
pub enum Course {
    /// It is under way.
    Running(String),
    /// It has ended.
    Ended(TaskPhase, String),
}

impl<'a> Task<'a> {
    /// Read it; `None` for one of another version of this kind.
    pub fn read(object: &'a Object) -> Option<Self> {
        let part = |field: &str| object.body.get(field).cloned().unwrap_or(Value::Null);
        let status: Option<CassandraTaskStatus> = serde_json::from_value(part("status")).ok()?;
        Some(Self {
            object,
            spec: serde_json::from_value(part("spec")).ok()?,
            status: status.unwrap_or_default(),
        })
    }

    /// It cannot be done as it stands, and nothing of it was.
    pub fn refuse(&self, facts: &Facts<'_>, why: String, draft: &mut Draft) {
        let course = Course::Ended(TaskPhase::Refused, why);
        self.tell(facts, None, &course, draft);
    }

    /// Write how it goes, where that differs.
    pub fn tell(
        &self,
        facts: &Facts<'_>,
        host_id: Option<&HostId>,
        course: &Course,
        draft: &mut Draft,
    ) {
        let now = facts.now();
        let (phase, reason, words) = match course {
            Course::Running(words) => (TaskPhase::Running, Reason::TaskRunning, words),
            Course::Ended(phase, words) => (*phase, reason_of(*phase), words),
        };
        let generation = Some(self.object.meta.generation);
        let mut status = self.status.clone();
        let is_done = phase == TaskPhase::Done;
        let new = conditions::condition(COMPLETE, is_done, reason.as_str(), words, generation, now);
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
        draft.steps.push(Step::Patch {
            key: ObjectKey::new(kinds::TASK, &meta.namespace, &meta.name),
            patch: json!({ "status": status }),
            subresource: Subresource::Status,
            precondition: Precondition::Uid(meta.uid.clone()),
            fence: None,
            proof: None,
            doing: format!("tell how the task {} goes", meta.name),
            event: None,
        });
    }
}

fn reason_of(phase: TaskPhase) -> Reason {
    match phase {
        TaskPhase::Running => Reason::TaskRunning,
        TaskPhase::Done => Reason::TaskDone,
        TaskPhase::Refused => Reason::TaskRefused,
        TaskPhase::Aborted => Reason::TaskAborted,
        TaskPhase::Failed => Reason::TaskFailed,
    }
}
