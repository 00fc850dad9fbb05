//! What a mind is to the engine: which objects it wants to see, how they are
//! routed to an owner, and one pure function from facts to plan.

use crate::exchange::Exchange;
use crate::hazard::Hazard;
use crate::lock::LockQuestion;
use crate::object::{Object, ObjectKey, Resource};
use crate::plan::Plan;
use crate::probe::ProbeRequest;
use crate::snapshot::Snapshot;
use palladion_api::metrics::Metric;
use palladion_api::rights::Right;

/// How an object finds the owner whose decision it may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It is the owner.
    Owner,
    /// The owner of the same namespace that this label names.
    Label(&'static str),
    /// Every owner of its namespace: rare objects that name an owner in their spec, where no label of ours can be asked for.
    Namespace,
    /// Every owner: rare objects such as settings, nodes, storage classes.
    Every,
    /// The owners of those objects of another watched kind that name this one,
    /// for example a volume and the claims that are bound to it. For kinds
    /// without a namespace.
    Named {
        /// The kind that names it; watched with [`Route::Label`].
        by: Resource,
        /// JSON pointer to the name, in what the store keeps of that kind.
        at: &'static str,
    },
}

/// Which fields of an object the store keeps.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// All but `managedFields`: for objects that we write and compare.
    Everything,
    /// Only these JSON pointers (without wildcards; a pointer to an array or object keeps it whole), besides the metadata.
    Only(&'static [&'static str]),
    /// What this function leaves of the object.
    Projection(fn(&serde_json::Value) -> serde_json::Value),
}

/// One watch for the whole process.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// The kind.
    pub resource: Resource,
    /// Label selector, empty for all.
    pub selector: &'static str,
    /// What to keep.
    pub keep: Keep,
    /// Whose decision it may change.
    pub route: Route,
}

/// A mind decides for one kind of owner.
pub trait Mind: Send + Sync + 'static {
    /// Name for logs and metrics.
    fn name(&self) -> &'static str;

    /// The kind that it decides for; among [`Mind::watches`] with [`Route::Owner`].
    fn owner(&self) -> Resource;

    /// What it wants to see.
    fn watches(&self) -> Vec<Watch>;

    /// What the operator may do for this mind, with the reason for each right:
    /// the chart's roles are made from it.
    fn rights(&self) -> &'static [Right];

    /// Where an owner says that work on it is open, as JSON pointers to what it keeps of it:
    /// with a value at one of them it is decided before those that nothing was begun with.
    fn open_work(&self) -> &'static [&'static str] {
        &[]
    }

    /// Objects that this owner refers to by name and that no watch selects
    /// (for example a user's ConfigMap). The engine watches each by name.
    fn references(&self, owner: &Object) -> Vec<ObjectKey>;

    /// Questions to ask of pods again and again, as of this snapshot; the
    /// answers are in the snapshots that follow. Asked after each decision.
    fn probes(&self, _snapshot: &Snapshot) -> Vec<ProbeRequest> {
        Vec::new()
    }

    /// Calls to the APIs of services that are to be sent, as of this snapshot: what a
    /// status has recorded and nobody has answered yet. A call goes on for as long as
    /// its key is among them; the answers are in the snapshots that follow. `None`
    /// where that cannot be told now: what is under way goes on.
    fn exchanges(&self, _snapshot: &Snapshot) -> Option<Vec<Exchange>> {
        Some(Vec::new())
    }

    /// What is asked of the lock between regions, as of this snapshot: `Some(None)` where the owner
    /// needs none now, and `None` where that cannot be told: then it is asked for as before. Asked
    /// after each decision; the answer is in the snapshots that follow.
    fn lock(&self, _snapshot: &Snapshot) -> Option<Option<LockQuestion>> {
        Some(None)
    }

    /// Is this owner one of a ring that regions share, so that no step of a turn may be without
    /// the token of the lock? Said by its spec alone: the linter compares plans with it.
    fn is_locked(&self, _owner: &Object) -> bool {
        false
    }

    /// Have its owners the conditions Degraded and Progressing? Where nothing can be decided for
    /// one without them, events alone say so.
    fn reports_health(&self) -> bool {
        true
    }

    /// The metrics of its own: gauges without labels ([`crate::Plan::figures`]), and
    /// counters ([`crate::Step::counting`]).
    fn metrics(&self) -> &'static [Metric] {
        &[]
    }

    /// What in its steps could hurt; the linter looks for the proofs.
    fn hazards(&self) -> &'static [Hazard];

    /// From facts to plan: pure and total.
    fn decide(&self, snapshot: &Snapshot) -> Plan;
}
