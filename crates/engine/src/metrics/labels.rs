//! The labels of the operator's metrics and every value that they can have.

use palladion_api::metrics::{Label, Metric};

/// A label with a fixed set of values.
macro_rules! label_values {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])+ $variant,)+ }

        impl $name {
            /// Every value, as Prometheus shows it.
            pub const VALUES: &'static [&'static str] = &[$($word,)+];

            pub(super) fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }
    };
}

label_values! {
    /// What was asked of the API server.
    Verb {
        /// One object, live.
        Get = "get",
        /// A page of a kind.
        List = "list",
        /// A watch that was opened.
        Watch = "watch",
        /// A new object.
        Create = "create",
        /// Server-side apply.
        Apply = "apply",
        /// Any other patch.
        Patch = "patch",
        /// A whole object replaced.
        Update = "update",
        /// A deletion.
        Delete = "delete",
    }
}

label_values! {
    /// How a request ended.
    RequestOutcome {
        /// It succeeded.
        Ok = "ok",
        /// The object does not exist.
        NotFound = "not_found",
        /// Somebody else had written, or holds, what was to be written.
        Conflict = "conflict",
        /// It may succeed when it is tried again.
        Transient = "transient",
        /// It was refused and will be refused again.
        Refused = "refused",
    }
}

label_values! {
    /// How a reconcile ended.
    ReconcileOutcome {
        /// Nothing had to be done.
        AtRest = "at_rest",
        /// Every step was carried out.
        Done = "done",
        /// A step failed.
        Failed = "failed",
        /// The plan linter refused the plan.
        Vetoed = "vetoed",
        /// The mind panicked.
        Panicked = "panicked",
        /// Not decided yet: a first list or an own write has not arrived.
        Deferred = "deferred",
    }
}

label_values! {
    /// Why a watch was opened again.
    RestartCause {
        /// It came to its ordinary end.
        Ended = "ended",
        /// It failed.
        Failed = "failed",
        /// The server has forgotten the version: everything is listed again.
        Expired = "expired",
    }
}

label_values! {
    /// A stage of a reconcile whose time is measured.
    Stage {
        /// Facts are taken from the stores.
        Gather = "gather",
        /// The mind makes a plan.
        Decide = "decide",
        /// The plan is carried out.
        Apply = "apply",
        /// Status and events are written.
        Report = "report",
    }
}

/// Values of the labels that a metric declares, in their order.
pub(super) type Values<const N: usize> = [(&'static str, &'static str); N];

/// The values with the names that the metric declares.
pub(super) fn values<const N: usize>(metric: &Metric, values: [&'static str; N]) -> Values<N> {
    std::array::from_fn(|at| (metric.labels.get(at).map_or("", |label| label.name), values[at]))
}

const fn listed(name: &'static str, values: &'static [&'static str]) -> Label {
    Label { name, values, meaning: "" }
}

const KIND: Label =
    Label { name: "kind", values: &[], meaning: "a kind of object, for example `StatefulSet`" };
const CONTROLLER: Label = Label {
    name: "controller",
    values: &[],
    meaning: "the controller that reconciles, for example `cassandra`",
};

pub(super) const REQUEST: &[Label] =
    &[listed("verb", Verb::VALUES), KIND, listed("outcome", RequestOutcome::VALUES)];
pub(super) const RECONCILE: &[Label] = &[CONTROLLER, listed("outcome", ReconcileOutcome::VALUES)];
pub(super) const STAGE: &[Label] = &[CONTROLLER, listed("stage", Stage::VALUES)];
pub(super) const RESTART: &[Label] = &[KIND, listed("cause", RestartCause::VALUES)];
pub(super) const BY_KIND: &[Label] = &[KIND];
