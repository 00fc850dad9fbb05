//! Figures for Prometheus that only a mind knows. It declares their metrics
//! ([`crate::Mind::metrics`]); the engine adds gauges up over all owners, and counts what
//! a step has done when it is done.

use palladion_api::metrics::Metric;

/// The value of a gauge for one owner; the gauge shows the sum over all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// A gauge without labels.
    pub metric: &'static Metric,
    /// Its value for this owner.
    pub value: i64,
}

/// One more of what a counter counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// A counter.
    pub metric: &'static Metric,
    /// The values of its labels, in their order.
    pub labels: Vec<&'static str>,
}
