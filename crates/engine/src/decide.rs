//! The door to the minds. A mind that panics loses its own decision and takes
//! nobody else's with it, and neither does one that computes for long; a plan that
//! breaks a safety rule is not carried out.

mod apart;

pub use apart::{Apart, LONGEST, Left, NoAnswer, STACK, at_once};
use palladion_plan::lint::{Violation, violations_of};
use palladion_plan::{
    Exchange, LockQuestion, Mind, Object, ObjectKey, Plan, ProbeRequest, Snapshot,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What came of asking a mind.
#[derive(Debug)]
pub enum Decision {
    /// A plan that may be carried out.
    Plan(Plan),
    /// A plan that may not; its status is still told.
    Vetoed(Plan, Vec<Violation>),
    /// The mind panicked: a bug of ours.
    Panicked(String),
}

/// Ask the mind.
pub fn decide(mind: &dyn Mind, snapshot: &Snapshot) -> Decision {
    match catch_unwind(AssertUnwindSafe(|| mind.decide(snapshot))) {
        Err(panic) => Decision::Panicked(words(panic.as_ref())),
        Ok(plan) => match violations_of(mind, &plan, snapshot) {
            found if found.is_empty() => Decision::Plan(plan),
            found => Decision::Vetoed(plan, found),
        },
    }
}

/// Ask the mind what the owner refers to.
pub fn references(mind: &dyn Mind, owner: &Object) -> Result<Vec<ObjectKey>, String> {
    catch_unwind(AssertUnwindSafe(|| mind.references(owner))).map_err(|panic| words(panic.as_ref()))
}

/// Ask the mind which probes it wants.
pub fn probes(mind: &dyn Mind, facts: &Snapshot) -> Result<Vec<ProbeRequest>, String> {
    catch_unwind(AssertUnwindSafe(|| mind.probes(facts))).map_err(|panic| words(panic.as_ref()))
}

/// Ask the mind which calls are to be sent; `None` = it cannot tell now.
pub fn exchanges(mind: &dyn Mind, facts: &Snapshot) -> Result<Option<Vec<Exchange>>, String> {
    catch_unwind(AssertUnwindSafe(|| mind.exchanges(facts))).map_err(|panic| words(panic.as_ref()))
}

/// Ask the mind what it asks of the lock between regions; `None` = it cannot tell now.
pub fn lock(mind: &dyn Mind, facts: &Snapshot) -> Result<Option<Option<LockQuestion>>, String> {
    catch_unwind(AssertUnwindSafe(|| mind.lock(facts))).map_err(|panic| words(panic.as_ref()))
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no words".to_string())
}
