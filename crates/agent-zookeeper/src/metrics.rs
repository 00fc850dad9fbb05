//! Metrics of the agent: its own, and the main ones of its server.

mod declared;

use crate::read::Reading;
use declared::{FIGURES, MODES, RESULTS};
use palladion_agent_core::metrics::{Common, add};
use palladion_api::metrics::Metric;
use palladion_api::service_member::{MemberHealth, MemberHealthRecord, ServerMode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

type Number = Gauge<f64, AtomicU64>;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Mode {
    mode: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    result: &'static str,
}

/// Every metric of the agent of a server of ZooKeeper that other agents have not.
pub fn declared() -> Vec<Metric> {
    let figures = FIGURES.iter().map(|(_, metric)| *metric);
    [declared::MODE, declared::HEALTH].into_iter().chain(figures).collect()
}

/// All metrics.
#[derive(Debug, Default)]
pub struct Metrics {
    /// What every agent counts.
    pub common: Common,
    mode: Family<Mode, Gauge>,
    health: Family<Outcome, Gauge>,
    figures: [Number; FIGURES.len()],
    registry: Mutex<Option<Registry>>,
}

impl Metrics {
    /// Registered.
    pub fn new() -> Self {
        let metrics = Self::default();
        let mut all = Registry::default();
        metrics.common.register(&mut all);
        add(&mut all, &declared::MODE, metrics.mode.clone());
        add(&mut all, &declared::HEALTH, metrics.health.clone());
        for ((_, declared), figure) in FIGURES.iter().zip(&metrics.figures) {
            add(&mut all, declared, figure.clone());
        }
        *metrics.registry.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
        metrics.note(None, &BTreeMap::new());
        metrics.note_health(&[]);
        metrics
    }

    /// Note a look at the server, and its figures by their names in `mntr`; `None` where
    /// none runs.
    pub fn note(&self, reading: Option<&Reading>, figures: &BTreeMap<String, f64>) {
        let now = reading.and_then(Reading::mode).map(|mode| match mode {
            ServerMode::Leader => "leader",
            ServerMode::Follower => "follower",
            ServerMode::Observer => "observer",
            ServerMode::Standalone | ServerMode::Unknown => "other",
        });
        for name in MODES.iter().copied() {
            self.mode.get_or_create(&Mode { mode: name }).set(i64::from(Some(name) == now));
        }
        for ((name, _), figure) in FIGURES.iter().zip(&self.figures) {
            figure.set(figures.get(*name).copied().unwrap_or_default());
        }
    }

    /// Note the health that holds now; none while nobody has looked for long enough.
    pub fn note_health(&self, records: &[MemberHealthRecord]) {
        let open = records.first().filter(|record| record.until.is_none());
        let now = open.and_then(|open| match open.result {
            MemberHealth::Healthy => Some("Healthy"),
            MemberHealth::Unhealthy => Some("Unhealthy"),
            MemberHealth::NoAnswer => Some("NoAnswer"),
            MemberHealth::Unknown => None,
        });
        for result in RESULTS.iter().copied() {
            let is_now = i64::from(now == Some(result));
            self.health.get_or_create(&Outcome { result }).set(is_now);
        }
    }

    /// All metrics, in Prometheus' text format.
    pub fn text(&self) -> String {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        self.common.text(registry.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::testing::{config, reading};

    #[test]
    fn what_is_served_is_what_is_declared() {
        let text = Metrics::new().text();
        let all = [palladion_agent_core::metrics::DECLARED, &declared()].concat();
        assert_eq!(palladion_api::metrics::differences(&all, &text), Vec::<String>::new());
    }

    #[test]
    fn the_mode_and_the_figures_are_those_of_the_last_look() {
        let metrics = Metrics::new();
        let leads = reading(Some(ServerMode::Leader), config(1 << 32, &[1], &[]));
        let figures = [("zk_num_alive_connections".to_string(), 7.0)].into();
        metrics.note(Some(&leads), &figures);
        let text = metrics.text();
        assert!(text.contains("palladion_agent_zookeeper_mode{mode=\"leader\"} 1"), "{text}");
        assert!(text.contains("palladion_agent_zookeeper_connections 7"), "{text}");
        metrics.note(None, &BTreeMap::new());
        assert!(metrics.text().contains("palladion_agent_zookeeper_mode{mode=\"leader\"} 0"));
        assert!(metrics.text().contains("palladion_agent_zookeeper_connections 0"));
    }
}
