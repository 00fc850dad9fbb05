//! Metrics of the agent: its own, and the main ones of its node.

mod declared;

use crate::read::Reading;
use declared::{FIGURES, RESULTS, Source, VIEWS};
use palladion_agent_core::metrics::{Common, add};
use palladion_api::metrics::Metric;
use palladion_api::service_member::{MemberHealth, MemberHealthRecord};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

type Number = Gauge<f64, AtomicU64>;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct View {
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    result: &'static str,
}

/// Every metric of the agent of a node of RabbitMQ that other agents have not.
pub fn declared() -> Vec<Metric> {
    let figures = FIGURES.iter().map(|(_, metric)| *metric);
    [declared::NODES, declared::HEALTH].into_iter().chain(figures).collect()
}

/// All metrics.
#[derive(Debug, Default)]
pub struct Metrics {
    /// What every agent counts.
    pub common: Common,
    nodes: Family<View, Gauge>,
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
        add(&mut all, &declared::NODES, metrics.nodes.clone());
        add(&mut all, &declared::HEALTH, metrics.health.clone());
        for ((_, declared), figure) in FIGURES.iter().zip(&metrics.figures) {
            add(&mut all, declared, figure.clone());
        }
        *metrics.registry.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
        metrics.note(None);
        metrics.note_health(&[]);
        metrics
    }

    /// Note a look at the node; `None` where none runs.
    pub fn note(&self, reading: Option<&Reading>) {
        let broker = reading.and_then(Reading::broker).unwrap_or_default();
        let counts = [broker.running.len(), broker.members.len(), broker.partitions.len()];
        for (state, count) in VIEWS.iter().zip(counts) {
            self.nodes.get_or_create(&View { state }).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let seen = reading.and_then(|reading| reading.seen.as_ref());
        let own = reading.and_then(Reading::own);
        for ((source, _), figure) in FIGURES.iter().zip(&self.figures) {
            let value = match source {
                Source::Messages(name) => {
                    seen.and_then(|(seen, _)| seen.queue_totals[*name].as_f64())
                }
                Source::Objects(name) => {
                    seen.and_then(|(seen, _)| seen.object_totals[*name].as_f64())
                }
                Source::Memory => own.and_then(|own| own.mem_used),
                Source::Disk => own.and_then(|own| own.disk_free),
                Source::Files => own.and_then(|own| own.fd_used),
                Source::Processes => own.and_then(|own| own.proc_used),
            };
            figure.set(value.unwrap_or_default());
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
    use crate::decide::testing::reading;
    use serde_json::json;

    #[test]
    fn what_is_served_is_what_is_declared() {
        let text = Metrics::new().text();
        let all = [palladion_agent_core::metrics::DECLARED, &declared()].concat();
        assert_eq!(palladion_api::metrics::differences(&all, &text), Vec::<String>::new());
    }

    #[test]
    fn the_figures_are_those_of_the_last_look() {
        let metrics = Metrics::new();
        let mut seen = reading(&["a", "b", "c"], &["a", "b"]);
        let (overview, nodes) = seen.seen.as_mut().unwrap();
        overview.object_totals = json!({ "connections": 7 });
        nodes[0].mem_used = Some(130e6);
        metrics.note(Some(&seen));
        let text = metrics.text();
        assert!(text.contains("palladion_agent_rabbitmq_nodes{state=\"running\"} 2"), "{text}");
        assert!(text.contains("palladion_agent_rabbitmq_nodes{state=\"member\"} 3"), "{text}");
        assert!(text.contains("palladion_agent_rabbitmq_connections 7"), "{text}");
        assert!(text.contains("palladion_agent_rabbitmq_memory_bytes 130000000"), "{text}");
        metrics.note(None);
        assert!(metrics.text().contains("palladion_agent_rabbitmq_connections 0"));
    }
}
