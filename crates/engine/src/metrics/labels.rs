//! The labels of the operator's metrics and every value that they can have.

use palladion_api::metrics::{Label, Metric};

/// Labels with a fixed set of values.
macro_rules! label_values {
    ($($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal),+ })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)+ }

        impl $name {
            /// Every value, as Prometheus shows it.
            pub const VALUES: &'static [&'static str] = &[$($word,)+];

            pub(super) fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }
    )+};
}

label_values! {
    /// What was asked of the API server; `apply` is server-side apply, `patch` any other patch.
    Verb {
        Get = "get", List = "list", Watch = "watch", Create = "create", Apply = "apply",
        Patch = "patch", Update = "update", Delete = "delete"
    }
    /// How a request ended; what is transient may succeed when it is tried again.
    RequestOutcome {
        Ok = "ok", NotFound = "not_found", Conflict = "conflict", Transient = "transient",
        Refused = "refused"
    }
    /// How a reconcile ended: with nothing to do, with every step done, with a
    /// step that failed, with a plan that the linter refused, with a panic of
    /// the mind, with a decision that took too long, or put off until a first list or an
    /// own write has arrived.
    ReconcileOutcome {
        AtRest = "at_rest", Done = "done", Failed = "failed", Vetoed = "vetoed",
        Panicked = "panicked", Late = "late", Deferred = "deferred"
    }
    /// Why a watch was opened again: it came to its ordinary end, it failed, the
    /// server has forgotten the version and everything is listed again, or the same
    /// because the server's store is older than what was read from it.
    RestartCause {
        Ended = "ended", Failed = "failed", Expired = "expired", WentBack = "went_back"
    }
    /// A stage of a reconcile whose time is measured.
    Stage { Gather = "gather", Decide = "decide", Apply = "apply", Report = "report" }
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
