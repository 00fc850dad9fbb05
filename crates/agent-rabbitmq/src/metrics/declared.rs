//! Every metric of the agent of a node of RabbitMQ: the reference page is generated
//! from here.

use palladion_api::metrics::{Label, Metric};

/// How a node sees nodes of its cluster.
pub(super) const VIEWS: &[&str] = &["running", "member", "partitioned"];
/// Results of looking at a node.
pub(super) const RESULTS: &[&str] = &["Healthy", "Unhealthy", "NoAnswer"];

const NODE_STATE: &[Label] = &[Label { name: "state", values: VIEWS, meaning: "" }];
const HEALTH_RESULT: &[Label] = &[Label { name: "result", values: RESULTS, meaning: "" }];

pub(super) const NODES: Metric = Metric::gauge(
    "palladion_agent_rabbitmq_nodes",
    NODE_STATE,
    "Nodes as this node sees them: those that run, all members of the cluster, and those from which it is partitioned",
);
pub(super) const HEALTH: Metric = Metric::gauge(
    "palladion_agent_rabbitmq_health",
    HEALTH_RESULT,
    "1 for the result that looks at the node have now, 0 for the others",
);

/// Where a figure comes from, in the answers of the management API.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// `queue_totals` of the overview.
    Messages(&'static str),
    /// `object_totals` of the overview.
    Objects(&'static str),
    /// `mem_used` of the own node.
    Memory,
    /// `disk_free` of the own node.
    Disk,
    /// `fd_used` of the own node.
    Files,
    /// `proc_used` of the own node.
    Processes,
}

const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric::gauge(name, &[], help)
}

/// Figures of the node and its cluster.
pub(super) const FIGURES: [(Source, Metric); 8] = [
    (
        Source::Objects("connections"),
        gauge("palladion_agent_rabbitmq_connections", "Connections of clients to the cluster"),
    ),
    (Source::Objects("queues"), gauge("palladion_agent_rabbitmq_queues", "Queues of the cluster")),
    (
        Source::Messages("messages_ready"),
        gauge(
            "palladion_agent_rabbitmq_messages_ready",
            "Messages of the cluster that wait for a consumer",
        ),
    ),
    (
        Source::Messages("messages_unacknowledged"),
        gauge(
            "palladion_agent_rabbitmq_messages_unacknowledged",
            "Messages of the cluster that were delivered and not acknowledged yet",
        ),
    ),
    (Source::Memory, gauge("palladion_agent_rabbitmq_memory_bytes", "Memory that the node uses")),
    (
        Source::Disk,
        gauge("palladion_agent_rabbitmq_disk_free_bytes", "Free space on the volume of the node"),
    ),
    (
        Source::Files,
        gauge("palladion_agent_rabbitmq_open_files", "File descriptors that the node has open"),
    ),
    (
        Source::Processes,
        gauge("palladion_agent_rabbitmq_processes", "Erlang processes of the node"),
    ),
];
