//! Metrics that minds declare: what they are about, the engine does not know.

use super::add;
use crate::queue::Key;
use palladion_api::metrics::{Metric, MetricType};
use palladion_plan::figures::of_all;
use palladion_plan::{Count, Figure, Mind};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Names and values of the labels of a sample.
type Labels = Vec<(&'static str, &'static str)>;

/// The metrics of all minds, by name.
#[derive(Clone, Default)]
pub struct OfMinds {
    declared: Vec<&'static Metric>,
    counters: BTreeMap<&'static str, Family<Labels, Counter>>,
    gauges: BTreeMap<&'static str, Gauge>,
    /// What each owner adds to the gauges.
    shares: Arc<Mutex<HashMap<Key, Vec<Figure>>>>,
}

impl OfMinds {
    /// Those that these minds declare.
    pub fn new(minds: &[Arc<dyn Mind>]) -> Self {
        let mut all = Self::default();
        for metric in minds.iter().flat_map(|mind| mind.metrics()) {
            all.declared.push(metric);
            match metric.metric_type {
                MetricType::Counter => {
                    let family = Family::default();
                    if metric.labels.is_empty() {
                        // So that it is served before the first.
                        drop(family.get_or_create(&Labels::new()));
                    }
                    all.counters.insert(metric.name, family);
                }
                // Of histograms no mind has any.
                MetricType::Gauge | MetricType::Histogram => {
                    all.gauges.insert(metric.name, Gauge::default());
                }
            }
        }
        all
    }

    /// Register everything under its declared name.
    pub fn register(&self, all: &mut Registry) {
        for metric in &self.declared {
            if let Some(counter) = self.counters.get(metric.name) {
                add(all, metric, counter.clone());
            } else if let Some(gauge) = self.gauges.get(metric.name) {
                add(all, metric, gauge.clone());
            }
        }
    }

    /// One more.
    pub fn count(&self, count: &Count) {
        let names = count.metric.labels.iter().map(|label| label.name);
        let labels: Labels = names.zip(count.labels.iter().copied()).collect();
        if let Some(family) = self.counters.get(count.metric.name) {
            family.get_or_create(&labels).inc();
        }
    }

    /// What an owner adds to the gauges from now on.
    pub fn set(&self, key: &Key, figures: &[Figure]) {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if shares.get(key).map(Vec::as_slice).unwrap_or_default() == figures {
            return;
        }
        match figures.is_empty() {
            true => shares.remove(key),
            false => shares.insert(key.clone(), figures.to_vec()),
        };
        for (name, gauge) in &self.gauges {
            let of_this = shares.values().flatten().filter(|f| f.metric.name == *name);
            gauge.set(of_all(of_this));
        }
    }

    /// An owner is gone.
    pub fn forget(&self, key: &Key) {
        self.set(key, &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MindId;
    use palladion_api::metrics::Label;

    const WAITING: Metric = Metric::gauge("palladion_toys_waiting", &[], "Toys that wait");
    const ENDED: Metric = Metric::counter(
        "palladion_toys_ended_total",
        &[Label { name: "kind", values: &["Ball"], meaning: "" }],
        "Toys that have ended",
    );

    fn key(name: &str) -> Key {
        Key { mind: MindId(0), namespace: "toys".into(), name: name.into() }
    }

    #[test]
    fn of_some_gauges_the_least_counts() {
        let mut all = OfMinds { declared: vec![&WAITING], ..OfMinds::default() };
        all.gauges.insert(WAITING.name, Gauge::default());
        for (name, value, shown) in [("a", 20, 20), ("b", 10, 10), ("c", 30, 10)] {
            all.set(&key(name), &[Figure::least(&WAITING, value)]);
            assert_eq!(all.gauges[WAITING.name].get(), shown, "{name}");
        }
        all.forget(&key("b"));
        assert_eq!(all.gauges[WAITING.name].get(), 20);
        all.forget(&key("a"));
        all.forget(&key("c"));
        assert_eq!(all.gauges[WAITING.name].get(), 0);
    }

    #[test]
    fn a_gauge_is_the_sum_of_its_owners_and_forgets_those_that_are_gone() {
        let mut all = OfMinds { declared: vec![&WAITING, &ENDED], ..OfMinds::default() };
        all.gauges.insert(WAITING.name, Gauge::default());
        all.counters.insert(ENDED.name, Family::default());
        let figure = |value| [Figure::new(&WAITING, value)];
        all.set(&key("a"), &figure(2));
        all.set(&key("b"), &figure(3));
        assert_eq!(all.gauges[WAITING.name].get(), 5);
        all.set(&key("a"), &figure(1));
        assert_eq!(all.gauges[WAITING.name].get(), 4);
        all.forget(&key("b"));
        assert_eq!(all.gauges[WAITING.name].get(), 1);
        all.count(&Count { metric: &ENDED, labels: vec!["Ball"] });
        let mut registry = Registry::default();
        all.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        assert!(text.contains("palladion_toys_ended_total{kind=\"Ball\"} 1"), "{text}");
        let declared = [WAITING, ENDED];
        assert_eq!(palladion_api::metrics::differences(&declared, &text), Vec::<String>::new());
    }
}
