//! Metrics that every agent has: its own memory, and how it gets on with the API
//! server and with its server.

use palladion_api::metrics::{Label, Metric};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{self, Registry};

const PROCESS: &[Label] = &[Label { name: "process", values: &["agent", "init"], meaning: "" }];

const MEMORY: Metric = Metric::gauge(
    "palladion_agent_memory_bytes",
    PROCESS,
    "Resident memory of the agent and of the init process",
);
const API_CONNECTIONS: Metric = Metric::counter(
    "palladion_agent_api_connections_total",
    &[],
    "Lists and watches opened against the Kubernetes API server",
);
const API_FAILURES: Metric = Metric::counter(
    "palladion_agent_api_failures_total",
    &[],
    "Requests to the Kubernetes API server that failed",
);
const UNREADABLE: Metric = Metric::gauge(
    "palladion_agent_member_unreadable",
    &[],
    "1 while the agent cannot read its CassandraMember, which a newer operator has written, otherwise 0",
);
const STATUS_WRITES: Metric =
    Metric::counter("palladion_agent_status_writes_total", &[], "Writes of the member's status");
const SERVER_STARTS: Metric =
    Metric::counter("palladion_agent_server_starts_total", &[], "Starts of the server");
const READ_FAILURES: Metric = Metric::counter(
    "palladion_agent_server_read_failures_total",
    &[],
    "Attempts to read the state of the server that failed",
);
const SLOW_READS: Metric = Metric::counter(
    "palladion_agent_server_slow_reads_total",
    &[],
    "Attempts to read the state of the server that took longer than a second",
);

/// Every metric of this file.
pub const DECLARED: &[Metric] = &[
    MEMORY,
    API_CONNECTIONS,
    API_FAILURES,
    UNREADABLE,
    STATUS_WRITES,
    SERVER_STARTS,
    READ_FAILURES,
    SLOW_READS,
];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Of {
    process: &'static str,
}

/// What every agent counts.
#[derive(Clone, Debug, Default)]
pub struct Common {
    /// Lists and watches that were opened.
    pub api_connections: Counter,
    /// Status writes.
    pub status_writes: Counter,
    /// Requests to the API that failed.
    pub api_failures: Counter,
    /// 1 while our member cannot be read.
    pub unreadable: Gauge,
    /// Starts of the server.
    pub server_starts: Counter,
    /// Readings of the server that failed.
    pub read_failures: Counter,
    /// Readings of the server that took longer than a second.
    pub slow_reads: Counter,
    memory: Family<Of, Gauge>,
}

impl Common {
    /// Have them served.
    pub fn register(&self, all: &mut Registry) {
        add(all, &MEMORY, self.memory.clone());
        add(all, &API_CONNECTIONS, self.api_connections.clone());
        add(all, &API_FAILURES, self.api_failures.clone());
        add(all, &UNREADABLE, self.unreadable.clone());
        add(all, &STATUS_WRITES, self.status_writes.clone());
        add(all, &SERVER_STARTS, self.server_starts.clone());
        add(all, &READ_FAILURES, self.read_failures.clone());
        add(all, &SLOW_READS, self.slow_reads.clone());
    }

    /// All that is registered, in Prometheus' text format.
    pub fn text(&self, registry: Option<&Registry>) -> String {
        self.memory.get_or_create(&Of { process: "agent" }).set(resident("self"));
        self.memory.get_or_create(&Of { process: "init" }).set(resident(&parent()));
        let mut text = String::new();
        if let Some(registry) = registry {
            // Writing to a string does not fail.
            let _ = encode(&mut text, registry);
        }
        text
    }
}

/// Have a metric served under the name and with the help of its declaration.
pub fn add(all: &mut Registry, declared: &Metric, metric: impl registry::Metric) {
    all.register(declared.registered_name(), declared.help, metric);
}

fn parent() -> String {
    rustix::process::getppid().map_or("self".into(), |pid| pid.as_raw_pid().to_string())
}

/// Resident bytes of a process.
fn resident(process: &str) -> i64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let kib = line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse::<i64>().ok());
    kib.unwrap_or_default() * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_served_is_what_is_declared() {
        let common = Common::default();
        let mut all = Registry::default();
        common.register(&mut all);
        let text = common.text(Some(&all));
        let found = palladion_api::metrics::differences(DECLARED, &text);
        assert_eq!(found, Vec::<String>::new());
        let memory =
            text.lines().find(|l| l.starts_with("palladion_agent_memory_bytes{process=\"agent\"}"));
        assert_ne!(memory.and_then(|line| line.rsplit(' ').next()), Some("0"));
    }
}
