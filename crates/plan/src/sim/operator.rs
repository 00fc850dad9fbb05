//! One operator process: it gathers, asks the mind, and carries out the plan
//! one write at a time as the engine does, so that everything else in the
//! simulation can happen between two writes.

mod apply;
mod gather;
mod prepare;
mod report;

use super::Activity;
use super::cache::Cache;
use super::faults::Faults;
use super::lock::Keeper;
use super::store::Store;
use crate::figures::{Count, Figure};
use crate::lint::{self, Violation};
use crate::mind::Mind;
use crate::object::{Object, ObjectKey, Resource};
use crate::plan::{Event, Plan};
use crate::proof::ProofKind;
use crate::snapshot::{Failure, FailureClass, NotWritten};
use crate::wait::Wait;
use apply::Request;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longest wait for an own write to come back through the watch.
const PATIENCE: SignedDuration = SignedDuration::from_secs(30);

/// A write that was sent, or what became of the process.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// What was done, in the plan's words; empty for status.
    pub doing: String,
    /// The object.
    pub object: ObjectKey,
    /// Which kind of write.
    pub write: Write,
    /// How it ended.
    pub end: End,
    /// The event that went with it.
    pub event: Option<Event>,
    /// What was counted with it.
    pub counted: Option<Count>,
    /// What was shown to prove that it may be done.
    pub proof: Option<ProofKind>,
}

/// Kinds of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Server-side apply.
    Apply,
    /// Creation.
    Create,
    /// Merge patch.
    Patch,
    /// The owner's turn.
    CompareAndSet,
    /// What an authority made.
    Issue,
    /// Deletion without loss.
    Delete,
    /// Deletion of a pod.
    DeleteProcess,
    /// Eviction of a pod.
    Evict,
    /// Deletion of data.
    DeleteData,
    /// The owner's status.
    Status,
}

/// How a write ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Done.
    Done,
    /// Refused or not answered, as the process saw it.
    Failed(FailureClass, String),
    /// Done, as the process could not see.
    AnswerLost,
    /// The process died before it was sent.
    DiedBefore,
    /// It was done, and the process died before it knew.
    DiedAfter,
}

/// Life of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It runs.
    Running,
    /// It was frozen before a write.
    Frozen,
    /// It is dead.
    Dead,
}

/// Does a plan go on?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// To its end.
    On,
    /// A step has failed; what supposes nothing of it is carried out.
    Apart,
    /// A step has failed; only the status is reported.
    Stopped,
}

#[derive(Clone, Debug)]
struct Running {
    plan: Plan,
    next: usize,
    course: Course,
    /// A step that stands alone and was refused: what, of which object, why.
    refused: Option<(String, ObjectKey, String)>,
    /// All that failed so far.
    not_written: Vec<NotWritten>,
    owner: Arc<Object>,
    /// A request that was ready when the process was frozen.
    in_flight: Option<Request>,
}

/// The process.
#[derive(Clone)]
pub struct Operator<M> {
    mind: M,
    owner: ObjectKey,
    settings: Arc<BTreeMap<String, String>>,
    epoch: i64,
    decisions: u64,
    /// What its machine's clock is ahead.
    pub clock: SignedDuration,
    /// What it knows.
    pub cache: Cache,
    life: Life,
    /// Was it frozen with a request that was ready?
    holds_request: bool,
    running: Option<Running>,
    failure: Option<Failure>,
    failures: u32,
    /// Is nothing decided until the failed plan is tried again?
    holds: bool,
    /// The version of the owner that is gone, and until when that is believed.
    gone: Option<(String, Timestamp)>,
    /// Kind, resourceVersion and until when it is waited for.
    expected: Vec<(Resource, u64, Timestamp)>,
    /// What was applied last, with its hash: hashing is most of a decision's cost.
    memo: BTreeMap<ObjectKey, (Arc<Value>, String)>,
    dirty: bool,
    wake: Option<Timestamp>,
    /// Decisions in a row that asked to be looked at again in the past: a loop.
    pub past_wakes: usize,
    /// What the plans waited for last.
    pub waits: Vec<Wait>,
    /// What the plans added to gauges last.
    pub figures: Vec<Figure>,
    /// Plans that the linter refused.
    pub violations: Vec<Violation>,
    /// Writes since this was last emptied.
    pub done: Vec<Done>,
    /// What it knows of the lock between regions.
    keeper: Keeper,
}

impl<M: Mind + Clone> Operator<M> {
    /// Is there a plan that it has not carried out to its end?
    pub fn is_busy(&self) -> bool {
        self.life == Life::Running && self.running.is_some()
    }

    /// A fresh process for one owner.
    pub fn new(mind: M, owner: ObjectKey, settings: &BTreeMap<String, String>, epoch: i64) -> Self {
        Operator {
            cache: Cache::new(mind.watches()),
            mind,
            owner,
            settings: Arc::new(settings.clone()),
            epoch,
            decisions: 0,
            clock: SignedDuration::ZERO,
            life: Life::Running,
            holds_request: false,
            running: None,
            failure: None,
            failures: 0,
            holds: false,
            gone: None,
            expected: Vec::new(),
            memo: BTreeMap::new(),
            dirty: true,
            wake: None,
            past_wakes: 0,
            waits: Vec::new(),
            figures: Vec::new(),
            violations: Vec::new(),
            done: Vec::new(),
            keeper: Keeper::default(),
        }
    }

    /// Does it run?
    pub fn life(&self) -> Life {
        self.life
    }

    /// A frozen process wakes up and goes on where it was.
    pub fn thaw(&mut self) {
        if self.life == Life::Frozen {
            self.life = Life::Running;
        }
    }

    /// Its writes were refused; what it was about to write it decides anew.
    pub fn abandon(&mut self) {
        self.running = None;
        self.dirty = true;
    }

    /// Look again although nothing has changed.
    pub fn resync(&mut self) {
        self.dirty = true;
    }

    /// Do the next thing: one decision or one write.
    pub fn step(&mut self, store: &mut Store, faults: &mut Faults) -> Activity {
        if self.life != Life::Running {
            return Activity::default();
        }
        self.dirty |= self.cache.follow(store);
        let now = store.now + self.clock;
        self.dirty |= self.keeper.act(&mut store.locks, now);
        let keeper = self.keeper.next().map(|next| next - self.clock);
        let mut activity = self.decide_or_write(store, faults);
        if let Some(keeper) = keeper {
            activity = activity.at(keeper);
        }
        activity
    }

    fn decide_or_write(&mut self, store: &mut Store, faults: &mut Faults) -> Activity {
        if let Some(running) = self.running.take() {
            return self.go_on(running, store, faults);
        }
        let now = store.now;
        let cache = &self.cache;
        self.expected
            .retain(|(kind, version, until)| !cache.has_seen(*kind, *version) && *until > now);
        if let Some(until) = self.expected.iter().map(|(_, _, until)| *until).min() {
            return Activity::default().at(until);
        }
        if self.wake.is_some_and(|wake| wake <= now) {
            self.dirty = true;
            self.wake = None;
        }
        if !self.dirty || (self.holds && self.wake.is_some()) {
            return Activity { acted: false, next: self.wake };
        }
        let owner = self.cache.get(&self.owner);
        if let (Some((version, until)), Some(owner)) = (&self.gone, owner)
            && *version == owner.meta.resource_version
            && now < *until
        {
            return Activity::default().at(*until);
        }
        self.dirty = false;
        self.decide(store);
        Activity { acted: self.running.is_some(), next: self.wake }
    }

    fn decide(&mut self, store: &Store) {
        let Some(owner) = self.cache.get(&self.owner).cloned() else {
            return;
        };
        let snapshot = self.gather(store, &owner);
        let mut plan = self.mind.decide(&snapshot);
        if let Some(wanted) = self.mind.lock(&snapshot) {
            self.keeper.want(wanted);
        }
        self.wake = plan.wake_at().map(|wake| wake - self.clock);
        self.past_wakes = match self.wake {
            Some(wake) if wake <= store.now => self.past_wakes + 1,
            Some(_) | None => 0,
        };
        self.waits.clone_from(&plan.waits);
        self.figures.clone_from(&plan.figures);
        let violations = lint::violations_of(&self.mind, &plan, &snapshot);
        if !violations.is_empty() {
            plan.steps.clear();
            self.violations.extend(violations);
        }
        self.running = Some(Running {
            plan,
            next: 0,
            course: Course::On,
            refused: None,
            not_written: Vec::new(),
            owner,
            in_flight: None,
        });
    }

    fn expect(&mut self, store: &Store, resource: Resource, version: u64) {
        if self.mind.watches().iter().any(|w| w.resource == resource) {
            self.expected.push((resource, version, store.now + PATIENCE));
        }
    }

    fn fail(
        &mut self,
        store: &Store,
        doing: &str,
        object: &ObjectKey,
        class: FailureClass,
        message: String,
    ) {
        let (first, longest) = match class {
            FailureClass::Conflict => (50, 5_000),
            FailureClass::Held => (1_000, 15_000),
            FailureClass::Transient => (500, 60_000),
            FailureClass::Refused | FailureClass::Foreign => (5_000, 30_000),
        };
        let delay = (first << self.failures.min(12)).min(longest);
        self.failures += 1;
        self.holds = true;
        self.wake = Some(store.now + SignedDuration::from_millis(delay));
        self.failure = Some(Failure {
            doing: doing.to_string(),
            object: Some(object.clone()),
            class,
            message,
            at: store.now + self.clock,
            all: Vec::new(),
        });
    }
}
