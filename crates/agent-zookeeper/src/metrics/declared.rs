//! Every metric of the agent of a server of ZooKeeper: the reference page is generated
//! from here.

use palladion_api::metrics::{Label, Metric};

/// Modes that a server with a quorum can be in.
pub(super) const MODES: &[&str] = &["leader", "follower", "observer", "other"];
/// Results of looking at a server.
pub(super) const RESULTS: &[&str] = &["Healthy", "Unhealthy", "NoAnswer"];

const SERVER_MODE: &[Label] = &[Label { name: "mode", values: MODES, meaning: "" }];
const HEALTH_RESULT: &[Label] = &[Label { name: "result", values: RESULTS, meaning: "" }];

pub(super) const MODE: Metric = Metric::gauge(
    "palladion_agent_zookeeper_mode",
    SERVER_MODE,
    "1 for the mode that the server is in, 0 for the others; without a quorum it is in none",
);
pub(super) const HEALTH: Metric = Metric::gauge(
    "palladion_agent_zookeeper_health",
    HEALTH_RESULT,
    "1 for the result that looks at the server have now, 0 for the others",
);

/// Figures of the server, each by its name in the answer to `mntr`.
pub(super) const FIGURES: [(&str, Metric); 8] = [
    (
        "zk_num_alive_connections",
        Metric::gauge("palladion_agent_zookeeper_connections", &[], "Open connections of clients"),
    ),
    (
        "zk_outstanding_requests",
        Metric::gauge(
            "palladion_agent_zookeeper_outstanding_requests",
            &[],
            "Requests that the server has taken and not answered yet",
        ),
    ),
    (
        "zk_avg_latency",
        Metric::gauge(
            "palladion_agent_zookeeper_average_latency_milliseconds",
            &[],
            "Average time of a request since the server was started",
        ),
    ),
    (
        "zk_znode_count",
        Metric::gauge("palladion_agent_zookeeper_znodes", &[], "Znodes of the ensemble"),
    ),
    (
        "zk_watch_count",
        Metric::gauge("palladion_agent_zookeeper_watches", &[], "Watches of clients of the server"),
    ),
    (
        "zk_approximate_data_size",
        Metric::gauge(
            "palladion_agent_zookeeper_data_bytes",
            &[],
            "Approximate size of all znodes of the ensemble",
        ),
    ),
    (
        "zk_synced_followers",
        Metric::gauge(
            "palladion_agent_zookeeper_synced_followers",
            &[],
            "Followers in sync with the server, if it leads, otherwise 0",
        ),
    ),
    (
        "zk_open_file_descriptor_count",
        Metric::gauge(
            "palladion_agent_zookeeper_open_files",
            &[],
            "File descriptors that the server has open",
        ),
    ),
];
