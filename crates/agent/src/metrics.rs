//! Figures for Prometheus: the agent's own and the server's main ones.

use crate::admin::Reading;
use palladion_api::member::Liveness;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;

type Number = Gauge<f64, AtomicU64>;

/// Modes that a server can be in; one that is not listed counts as `OTHER`.
const MODES: [&str; 11] = [
    "STARTING",
    "NORMAL",
    "JOINING",
    "JOINING_FAILED",
    "LEAVING",
    "DECOMMISSIONED",
    "DECOMMISSION_FAILED",
    "MOVING",
    "DRAINING",
    "DRAINED",
    "OTHER",
];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Mode {
    mode: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Of {
    process: &'static str,
}

/// All figures.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Lists and watches begun anew.
    pub api_connections: Counter,
    /// Status writes.
    pub status_writes: Counter,
    /// Requests to the API that failed.
    pub api_failures: Counter,
    /// Starts of the server.
    pub server_starts: Counter,
    /// Looks at the server that failed.
    pub read_failures: Counter,
    memory: Family<Of, Gauge>,
    mode: Family<Mode, Gauge>,
    native: Gauge,
    live: Gauge,
    down: Gauge,
    load: Number,
    pending: Number,
    heap: Number,
    clients: Number,
    registry: Mutex<Option<Registry>>,
}

impl Metrics {
    /// Registered.
    pub fn new() -> Self {
        let metrics = Self::default();
        let mut all = Registry::with_prefix("palladion_agent");
        metrics.register_own(&mut all);
        metrics.register_servers(&mut all);
        *metrics.registry.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
        metrics
    }

    fn register_own(&self, all: &mut Registry) {
        all.register("memory_bytes", "Resident memory of agent and init", self.memory.clone());
        all.register(
            "api_connections",
            "Lists and watches begun anew",
            self.api_connections.clone(),
        );
        all.register(
            "api_failures",
            "Requests to the Kubernetes API that failed",
            self.api_failures.clone(),
        );
        all.register("status_writes", "Writes of the member's status", self.status_writes.clone());
        all.register("server_starts", "Starts of the server", self.server_starts.clone());
        all.register(
            "server_read_failures",
            "Looks at the server that failed",
            self.read_failures.clone(),
        );
    }

    fn register_servers(&self, all: &mut Registry) {
        all.register("server_mode", "1 for the mode that the server is in", self.mode.clone());
        all.register(
            "server_native_transport",
            "1 while the server takes CQL",
            self.native.clone(),
        );
        all.register("server_members_live", "Members that the server sees up", self.live.clone());
        all.register("server_members_down", "Members that the server sees down", self.down.clone());
        all.register("server_load_bytes", "Data on disk", self.load.clone());
        all.register("server_pending_compactions", "Compactions that wait", self.pending.clone());
        all.register("server_heap_used_bytes", "Heap in use", self.heap.clone());
        all.register("server_clients", "Native connections", self.clients.clone());
    }

    /// Note a look at the server; `None` where none runs.
    pub fn note(&self, reading: Option<&Reading>) {
        let mode = reading.and_then(|r| r.mode.as_deref());
        let known =
            mode.map(|m| MODES.iter().find(|known| **known == m).copied().unwrap_or("OTHER"));
        for name in MODES {
            self.mode.get_or_create(&Mode { mode: name }).set(i64::from(Some(name) == known));
        }
        self.native.set(i64::from(reading.is_some_and(|r| r.native_transport == Some(true))));
        let count = |liveness| {
            let members = reading.and_then(|r| r.members.as_ref());
            let count =
                members.map_or(0, |all| all.iter().filter(|m| m.liveness == liveness).count());
            i64::try_from(count).unwrap_or(i64::MAX)
        };
        self.live.set(count(Liveness::Up));
        self.down.set(count(Liveness::Down));
        let figures = reading.map(|r| r.figures).unwrap_or_default();
        self.load.set(figures.load.unwrap_or_default());
        self.pending.set(figures.pending_compactions.unwrap_or_default());
        self.heap.set(figures.heap_used.unwrap_or_default());
        self.clients.set(figures.clients.unwrap_or_default());
    }

    /// In Prometheus' text format.
    pub fn text(&self) -> String {
        self.memory.get_or_create(&Of { process: "agent" }).set(resident("self"));
        self.memory.get_or_create(&Of { process: "init" }).set(resident(&parent()));
        let mut text = String::new();
        if let Some(registry) =
            self.registry.lock().unwrap_or_else(PoisonError::into_inner).as_ref()
        {
            // Writing to a string does not fail.
            let _ = encode(&mut text, registry);
        }
        text
    }
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
    fn a_mode_is_one_of_a_known_set() {
        let metrics = Metrics::new();
        let mut reading = Reading {
            mode: Some("NORMAL".into()),
            native_transport: Some(true),
            ..Reading::default()
        };
        metrics.note(Some(&reading));
        let text = metrics.text();
        assert!(text.contains("palladion_agent_server_mode{mode=\"NORMAL\"} 1"), "{text}");
        assert!(text.contains("palladion_agent_server_native_transport 1"));
        reading.mode = Some("SOMETHING_NEW".into());
        metrics.note(Some(&reading));
        let text = metrics.text();
        assert!(text.contains("mode=\"OTHER\"} 1") && text.contains("mode=\"NORMAL\"} 0"));
        let memory = text
            .lines()
            .find(|l| l.starts_with("palladion_agent_memory_bytes{process=\"agent\"}"))
            .unwrap();
        assert_ne!(memory.rsplit(' ').next(), Some("0"));
    }
}
