//! How a task goes on and how it ends, as its status reports it.

use crate::decide::draft::Draft;
use crate::decide::tasks::read::{Task, kind};
use crate::facts::Facts;
use crate::metrics;
use crate::resources as kinds;
use crate::words::jobs;
use crate::words::tasks::Doing;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::conditions::{COMPLETE, FAILED};
use palladion_api::ids::HostId;
use palladion_api::reasons::Reason;
use palladion_api::task::{CassandraTaskStatus, TaskPhase};
use palladion_plan::words::{Message, Reasoned};
use palladion_plan::{Conditions, Count, Event, Step, Truth};
use serde_json::{Value, json};

/// How a task goes on.
#[derive(Clone)]
pub enum Course {
    /// It has not begun.
    Waiting(Said),
    /// It is under way.
    Running(Said),
    /// It has reached its end.
    Done(Said),
    /// It has ended, and not everywhere as it should.
    Partial(Said),
    /// It has failed, or has lost its purpose.
    Failed(Said),
    /// It was aborted.
    Aborted(Said),
    /// It cannot be done as it stands.
    Refused(Said),
}

/// A sentence with its reason.
#[derive(Clone)]
pub struct Said(Reason, Message);

impl<S: Reasoned> From<S> for Said {
    fn from(sentence: S) -> Self {
        Self(sentence.reason(), sentence.into())
    }
}

impl Course {
    /// Of `Complete` and of `Failed`: exactly one is True at the end, so that
    /// whoever waits for them does not wait for ever.
    fn truths(&self) -> (Truth, Truth) {
        match self {
            Course::Waiting(_) | Course::Running(_) => (Truth::False, Truth::False),
            Course::Done(_) => (Truth::True, Truth::False),
            Course::Partial(_) | Course::Failed(_) | Course::Aborted(_) | Course::Refused(_) => {
                (Truth::False, Truth::True)
            }
        }
    }

    /// Has it ended?
    pub fn is_end(&self) -> bool {
        match self {
            Course::Waiting(_) | Course::Running(_) => false,
            Course::Done(_)
            | Course::Partial(_)
            | Course::Failed(_)
            | Course::Aborted(_)
            | Course::Refused(_) => true,
        }
    }

    /// The phase that it is in.
    fn phase(&self) -> TaskPhase {
        match self {
            Course::Waiting(_) => TaskPhase::Waiting,
            Course::Running(_) => TaskPhase::Running,
            Course::Done(_) => TaskPhase::Done,
            Course::Partial(_) => TaskPhase::Partial,
            Course::Failed(_) => TaskPhase::Failed,
            Course::Aborted(_) => TaskPhase::Aborted,
            Course::Refused(_) => TaskPhase::Refused,
        }
    }

    fn said(&self) -> &Said {
        match self {
            Course::Waiting(said)
            | Course::Running(said)
            | Course::Done(said)
            | Course::Partial(said)
            | Course::Failed(said)
            | Course::Aborted(said)
            | Course::Refused(said) => said,
        }
    }

    /// The reason of `Failed`: while it goes on, whether it has begun.
    fn reason_of_failed(&self) -> Reason {
        match self {
            Course::Waiting(_) => Reason::TaskWaiting,
            Course::Running(_) => Reason::TaskRunning,
            Course::Done(said)
            | Course::Partial(said)
            | Course::Failed(said)
            | Course::Aborted(said)
            | Course::Refused(said) => said.0,
        }
    }

    /// What is told of its end, to whoever looks at the ring or at the task.
    pub fn event(&self, task: &str) -> Option<Event> {
        let (task, said) = (task.to_string(), self.said().1.to_string());
        match self {
            Course::Waiting(_) | Course::Running(_) => None,
            Course::Done(_) => Some(Event::normal(jobs::Happened::Done { task, said })),
            Course::Aborted(_) => Some(Event::normal(jobs::Happened::Aborted { task, said })),
            Course::Partial(_) => Some(Event::warning(jobs::Happened::Partial { task, said })),
            Course::Failed(_) => Some(Event::warning(jobs::Happened::Failed { task, said })),
            Course::Refused(_) => Some(Event::warning(jobs::Happened::Refused { task, said })),
        }
    }
}

impl Task<'_> {
    /// It cannot be done as it stands, and nothing of it was.
    pub fn refuse(&self, facts: &Facts<'_>, why: impl Into<Said>, draft: &mut Draft) {
        self.report(facts, None, &Course::Refused(why.into()), draft);
    }

    /// Write how a replacement goes, where that differs, and tell of its end.
    pub fn report(
        &self,
        facts: &Facts<'_>,
        host_id: Option<&HostId>,
        course: &Course,
        draft: &mut Draft,
    ) {
        let mut status = self.status.clone();
        status.host_id = host_id.cloned();
        if status.started_at.is_none() && host_id.is_some() {
            status.started_at = Some(Time(facts.now()));
        }
        let event = course.event(self.name());
        let event = event.map(|event| event.also_about(kinds::TASK, &self.object.meta));
        let step = self.write(facts.now(), status, course);
        draft.steps.extend(step.map(|step| step.announced(event)));
    }

    /// Write how it goes, where that differs. As it was seen: a leader that was
    /// frozen must not write over its successor's words.
    pub fn write(
        &self,
        now: Timestamp,
        status: CassandraTaskStatus,
        course: &Course,
    ) -> Option<Step> {
        let patch = self.patch(now, status, course)?;
        let meta = &self.object.meta;
        let step = Step::patch_status_as_seen(kinds::TASK, meta, patch, self.doing());
        Some(step.counting(self.counted(course)))
    }

    fn counted(&self, course: &Course) -> Option<Count> {
        metrics::ended(kind(self.object)?, course.phase())
    }

    fn doing(&self) -> Doing {
        Doing::Report { task: self.name().to_string() }
    }

    /// The change of its status, with what its course says; none where nothing differs.
    fn patch(
        &self,
        now: Timestamp,
        mut status: CassandraTaskStatus,
        course: &Course,
    ) -> Option<Value> {
        let ((complete, failed), Said(reason, said)) = (course.truths(), course.said());
        let generation = self.object.meta.generation;
        let mut conditions = Conditions::new(&status.conditions, generation, now);
        conditions.set(COMPLETE, complete, *reason, said);
        conditions.set(FAILED, failed, course.reason_of_failed(), said);
        status.conditions = conditions.all().to_vec();
        status.kind = kind(self.object);
        status.phase = TaskPhase::of(&status.conditions);
        status.observed_generation = Some(generation);
        if course.is_end() {
            status.ended_at = Some(Time(now));
            status.current = None;
            status.position = None;
        }
        if status == self.status {
            return None;
        }
        Some(json!({ "status": self.change(&status) }))
    }

    /// A merge patch that leaves nothing behind of what the status had before.
    fn change(&self, status: &CassandraTaskStatus) -> Value {
        let mut patch = json!(status);
        for field in ["position", "progress", "current"] {
            if patch.get(field).is_none() && self.object.at("/status").is_some() {
                patch[field] = Value::Null;
            }
        }
        if let Some(current) = patch.get_mut("current").filter(|c| c.is_object()) {
            for field in ["keyspace", "table", "done", "total", "unit"] {
                if current.get(field).is_none() {
                    current[field] = Value::Null;
                }
            }
        }
        patch
    }
}
