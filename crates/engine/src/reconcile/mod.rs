//! One reconcile: the rooms in their order. Never sleeps and never waits for
//! the world; it says when to look again.

pub mod again;
pub mod settings;

use crate::apply::{Applier, Outcome};
use crate::decide::{Apart, Decision, Left, NoAnswer, decide, exchanges, lock, probes, references};
use crate::exchange::Exchangers;
use crate::expect::PATIENCE;
use crate::faults::Faults;
use crate::gather::{Constants, Owner, owner, snapshot};
use crate::leader::Term;
use crate::lock::Keepers;
use crate::memory::{Late, Memory};
use crate::metrics::{Metrics, ReconcileOutcome, Stage};
use crate::probe::Probers;
use crate::queue::{After, Key};
use crate::reconcile::again::wake;
use crate::request::Api;
use crate::watch::Watches;
use crate::words::Told;
use palladion_plan::lint::Violation;
use palladion_plan::{Mind, Object, ObjectKey, Plan, Snapshot};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug_span};

/// A decision that took too long rests so many times as long as it may take.
const PAUSES: u32 = 4;
/// How often it is looked whether the thread of one has ended after that.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Everything that a reconcile needs.
pub struct Reconciler {
    pub(crate) api: Api,
    pub(crate) watches: Arc<Watches>,
    pub(crate) minds: Vec<Arc<dyn Mind>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) constants: Constants,
    pub(crate) own_namespace: Option<String>,
    pub(crate) term: Term,
    pub(crate) instance: String,
    pub(crate) stopping: CancellationToken,
    pub(crate) apart: Apart,
    pub(crate) memories: Mutex<HashMap<Key, Memory>>,
    pub(crate) probers: Probers,
    pub(crate) exchangers: Exchangers,
    pub(crate) locks: Keepers,
    pub(crate) settings: settings::Settings,
}

/// One owner that is being decided.
pub(crate) struct Case<'a> {
    pub(crate) key: &'a Key,
    pub(crate) mind: &'a Arc<dyn Mind>,
    pub(crate) owner: Arc<Object>,
    pub(crate) owner_key: ObjectKey,
}

impl Reconciler {
    /// Decide for one owner and carry it out; says when to look again.
    pub async fn reconcile(&self, key: &Key) -> After {
        let Some(mind) = self.minds.get(key.mind.0) else {
            return After::Rest;
        };
        let (namespace, name) = (&*key.namespace, &*key.name);
        let span = tracing::info_span!("reconcile", mind = mind.name(), namespace, name);
        self.rooms(key, mind).instrument(span).await
    }

    async fn rooms(&self, key: &Key, mind: &Arc<dyn Mind>) -> After {
        let mut memory = self.memories().remove(key).unwrap_or_default();
        if let Some(after) = self.await_own_writes(key, mind.name(), &mut memory) {
            self.memories().insert(key.clone(), memory);
            return after;
        }
        let found = owner(&self.watches.world(), key);
        match found {
            Owner::Gone => {
                self.metrics.minds.forget(key);
                self.watches.refer(key, &[]);
                self.probers.want(key, Vec::new());
                self.exchangers.want(key, Vec::new());
                self.locks.want(key, None);
                After::Rest
            }
            Owner::Unclear => {
                self.memories().insert(key.clone(), memory);
                After::Rest
            }
            Owner::Present(object) => {
                let after = self.decide_for(key, mind, object, &mut memory).await;
                self.memories().insert(key.clone(), memory);
                after
            }
        }
    }

    /// Wait, without sleeping, until the own writes have come back.
    fn await_own_writes(
        &self,
        key: &Key,
        mind: &'static str,
        memory: &mut Memory,
    ) -> Option<After> {
        let since = memory.expected_since?;
        let mut world = self.watches.world();
        if !world.caught_up(&memory.expectations) {
            if since.elapsed() < PATIENCE {
                self.metrics.reconcile(mind, ReconcileOutcome::Deferred);
                return Some(After::WakeAt(since + PATIENCE));
            }
            self.metrics.late_expectations.inc();
            tracing::warn!(
                "own writes did not come back through the watch; deciding with what there is"
            );
        }
        world.awaited.forget(key);
        memory.expectations.clear();
        memory.expected_since = None;
        None
    }

    async fn decide_for(
        &self,
        key: &Key,
        mind: &Arc<dyn Mind>,
        owner: Arc<Object>,
        memory: &mut Memory,
    ) -> After {
        if memory.uid != owner.meta.uid {
            *memory = Memory { uid: owner.meta.uid.clone(), ..Memory::default() };
        }
        if let Some((version, until)) = &memory.gone
            && *version == owner.meta.resource_version
            && Instant::now() < *until
        {
            return After::WakeAt(*until);
        }
        let owner_key = ObjectKey::new(mind.owner(), &key.namespace, &key.name);
        if let Some(again) = late_until(memory, owner.meta.generation) {
            return After::WakeAt(again);
        }
        let case = Case { key, mind, owner, owner_key };
        let as_of = Instant::now();
        let gathered = match self.gather(&case, memory) {
            Ok(gathered) => gathered,
            Err(words) => return self.panicked(&case, &words, memory).await,
        };
        let Some(facts) = gathered.map(Arc::new) else {
            // The first list that is missing wakes this key when it arrives.
            self.metrics.reconcile(mind.name(), ReconcileOutcome::Deferred);
            return After::Rest;
        };
        self.follow_settings(&facts);
        let began = Instant::now();
        let all = self.apart.ask(mind, &facts, |mind, facts| {
            (decide(mind, facts), probes(mind, facts), exchanges(mind, facts), lock(mind, facts))
        });
        let answers = all.await;
        self.metrics.stage(mind.name(), Stage::Decide, began.elapsed());
        let decided = answers.and_then(|(decision, probes, exchanges, lock)| {
            self.probers.want(key, probes.map_err(NoAnswer::Panicked)?);
            let (exchanges, lock) = exchanges
                .and_then(|exchanges| Ok((exchanges, lock?)))
                .map_err(NoAnswer::Panicked)?;
            exchanges.into_iter().for_each(|wanted| self.exchangers.want(key, wanted));
            lock.into_iter().for_each(|wanted| self.locks.want(key, wanted));
            Ok(decision)
        });
        match decided {
            Err(NoAnswer::Panicked(words)) | Ok(Decision::Panicked(words)) => {
                self.panicked(&case, &words, memory).await
            }
            Err(NoAnswer::Late(thread)) => self.late(&case, thread, memory).await,
            Err(NoAnswer::Stopping) => After::Rest,
            Ok(Decision::Vetoed(plan, found)) => self.vetoed(&case, &plan, &found, memory).await,
            Ok(Decision::Plan(plan)) => self.carry_out(&case, plan, (facts, as_of), memory).await,
        }
    }

    /// The facts; `None` if a first list is still missing.
    fn gather(&self, case: &Case<'_>, memory: &mut Memory) -> Result<Option<Snapshot>, String> {
        let _span = debug_span!("gather").entered();
        let began = Instant::now();
        let wanted = references(case.mind.as_ref(), &case.owner)?;
        if wanted != memory.references {
            self.watches.refer(case.key, &wanted);
            memory.references = wanted;
        }
        let owner = Arc::clone(&case.owner);
        let mut facts = snapshot(&self.watches.world(), case.key, owner, memory, &self.constants);
        if let Some(facts) = &mut facts {
            facts.probes = self.probers.results(case.key);
            facts.exchanges = self.exchangers.answers(case.key);
            facts.lock = self.locks.fact(case.key);
        }
        self.metrics.stage(case.mind.name(), Stage::Gather, began.elapsed());
        Ok(facts)
    }

    async fn carry_out(
        &self,
        case: &Case<'_>,
        mut plan: Plan,
        (mut facts, gathered): (Arc<Snapshot>, Instant),
        memory: &mut Memory,
    ) -> After {
        let began = Instant::now();
        let applier = Applier {
            api: &self.api,
            watches: &self.watches,
            term: &self.term,
            gathered,
            faults: &self.faults,
            owner: &case.owner,
            owner_key: &case.owner_key,
            own_namespace: self.own_namespace.as_deref(),
            locks: &self.locks,
            key: case.key,
            stopping: &self.stopping,
        };
        let mut outcome = applier.carry_out(&plan, memory).instrument(debug_span!("apply")).await;
        self.metrics.stage(case.mind.name(), Stage::Apply, began.elapsed());
        let went_on = outcome.failed.is_none();
        let retry = match outcome.failed.take().or_else(|| outcome.refused.take()) {
            Some(failed) => {
                let all = std::mem::take(&mut outcome.not_written);
                let mut retry = self.failed(failed, all, memory);
                // People shall see the failure now and not after the next try.
                Arc::make_mut(&mut facts).failure.clone_from(&memory.failure);
                if let Ok(Decision::Plan(told) | Decision::Vetoed(told, _)) =
                    self.apart.ask(case.mind, &facts, decide).await
                {
                    plan.status = told.status;
                }
                if let (true, After::RetryAt(at), Some(wake)) =
                    (went_on, retry, wake(&plan, &facts))
                {
                    retry = After::RetryAt(at.min(wake));
                }
                Some(retry)
            }
            None => {
                memory.failure = None;
                None
            }
        };
        let began = Instant::now();
        self.report(case, &plan, &mut outcome, memory).instrument(debug_span!("report")).await;
        self.metrics.stage(case.mind.name(), Stage::Report, began.elapsed());
        self.metrics.reconcile(case.mind.name(), ended(&outcome, retry.is_some()));
        self.after(case, &plan, &facts, outcome, retry, memory)
    }

    async fn vetoed(
        &self,
        case: &Case<'_>,
        plan: &Plan,
        found: &[Violation],
        memory: &mut Memory,
    ) -> After {
        let words = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        tracing::error!(violations = %words, "plan breaks a safety rule and is not carried out");
        self.veto_event(case, &words, memory);
        let mut outcome = Outcome::default();
        self.report(case, plan, &mut outcome, memory).instrument(debug_span!("report")).await;
        self.metrics.reconcile(case.mind.name(), ReconcileOutcome::Vetoed);
        self.bug(memory)
    }

    async fn panicked(&self, case: &Case<'_>, words: &str, memory: &mut Memory) -> After {
        tracing::error!(
            panic = %words,
            "mind panicked; this is a bug, other objects are not affected"
        );
        self.report_undecided(case, Told::Panicked, memory).instrument(debug_span!("report")).await;
        self.metrics.reconcile(case.mind.name(), ReconcileOutcome::Panicked);
        self.bug(memory)
    }

    /// Its thread is left behind, and while it computes none is begun for the same spec.
    async fn late(&self, case: &Case<'_>, thread: Left, memory: &mut Memory) -> After {
        let seconds = self.apart.longest().as_secs();
        tracing::error!(seconds, "decision takes too long and is not waited for");
        let again = Instant::now() + self.apart.longest() * PAUSES;
        memory.late = Some(Late { generation: case.owner.meta.generation, thread, again });
        let told = Told::TimedOut { seconds };
        self.report_undecided(case, told, memory).instrument(debug_span!("report")).await;
        self.metrics.reconcile(case.mind.name(), ReconcileOutcome::Late);
        After::WakeAt(again)
    }

    fn memories(&self) -> MutexGuard<'_, HashMap<Key, Memory>> {
        self.memories.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Until when nothing is decided for this generation, because it took too long.
fn late_until(memory: &mut Memory, generation: i64) -> Option<Instant> {
    let now = Instant::now();
    let late = memory.late.as_ref().filter(|late| late.generation == generation);
    let until = late.and_then(|late| match late.thread.has_ended() {
        true => (now < late.again).then_some(late.again),
        false => Some(late.again.max(now + LOOK_AGAIN)),
    });
    if until.is_none() {
        memory.late = None;
    }
    until
}

fn ended(outcome: &Outcome, failed: bool) -> ReconcileOutcome {
    match (failed, outcome.done.is_empty()) {
        (true, _) => ReconcileOutcome::Failed,
        (false, true) => ReconcileOutcome::AtRest,
        (false, false) => ReconcileOutcome::Done,
    }
}
