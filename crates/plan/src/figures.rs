//! Figures for Prometheus that only a mind knows. It declares their metrics
//! ([`crate::Mind::metrics`]); the engine makes one value of those of all owners, and counts
//! what a step has done when it is done.

use palladion_api::metrics::Metric;

/// The value of a gauge for one owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// A gauge without labels.
    pub metric: &'static Metric,
    /// Its value for this owner.
    pub value: i64,
    /// What the gauge shows of several owners; for one metric always the same.
    pub of_all: OfAll,
}

/// What a gauge shows of the values of several owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfAll {
    /// Their sum.
    Sum,
    /// The least of them.
    Least,
}

impl Figure {
    /// One of those that are added up.
    pub fn new(metric: &'static Metric, value: i64) -> Self {
        Self { metric, value, of_all: OfAll::Sum }
    }

    /// One of those of which the least is shown.
    pub fn least(metric: &'static Metric, value: i64) -> Self {
        Self { metric, value, of_all: OfAll::Least }
    }
}

/// What a gauge shows of these; 0 of none.
pub fn of_all<'a>(figures: impl Iterator<Item = &'a Figure>) -> i64 {
    let join = |all: Option<i64>, figure: &Figure| match (all, figure.of_all) {
        (None, _) => Some(figure.value),
        (Some(all), OfAll::Sum) => Some(all.saturating_add(figure.value)),
        (Some(all), OfAll::Least) => Some(all.min(figure.value)),
    };
    figures.fold(None, join).unwrap_or_default()
}

/// One more of what a counter counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// A counter.
    pub metric: &'static Metric,
    /// The values of its labels, in their order.
    pub labels: Vec<&'static str>,
}
