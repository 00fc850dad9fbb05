//! Where an agent is, whichever server it starts. In a pod every default fits; each can be set
//! by flag or environment, so that the agent also runs on a developer's machine.

use clap::Args;
use palladion_api::ids::{MemberName, PodUid};
use palladion_api::labels::ports;
use palladion_api::server_config::CONFIG_DIR;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The identity of the pod, and what every agent has in it.
#[derive(Args, Clone, Debug)]
pub struct PodSettings {
    /// Name of the pod, which is the name of its member.
    #[arg(long = "pod-name", env = "POD_NAME", value_parser = MemberName::parse)]
    pub name: MemberName,
    /// Namespace of the pod.
    #[arg(long = "pod-namespace", env = "POD_NAMESPACE")]
    pub namespace: String,
    /// UID of the pod.
    #[arg(long = "pod-uid", env = "POD_UID", value_parser = PodUid::parse)]
    pub uid: PodUid,
    /// Node that the pod runs on.
    #[arg(long = "node-name", env = "NODE_NAME")]
    pub node: String,
    /// Revision of the pod (label `controller-revision-hash`).
    #[arg(long = "pod-revision", env = "POD_REVISION")]
    pub revision: String,
    /// Where the operator's ConfigMap is mounted.
    #[arg(long, env = "PALLADION_CONFIG_DIR", default_value = CONFIG_DIR)]
    pub config_dir: PathBuf,
    /// Rendered configuration, sockets, credentials; in memory.
    #[arg(long, env = "PALLADION_RUN_DIR", default_value = "/run/palladion")]
    pub run_dir: PathBuf,
    /// Scratch space of the server; also its working directory.
    #[arg(long, env = "PALLADION_TMP_DIR", default_value = "/tmp")]
    pub tmp_dir: PathBuf,
    /// Java of the server's image; without it `java` on the path.
    #[arg(long, env = "JAVA_HOME")]
    pub java_home: Option<PathBuf>,
    /// Probes and metrics.
    #[arg(long, env = "PALLADION_HTTP_ADDRESS", default_value_t = SocketAddr::from(([0, 0, 0, 0], port(ports::AGENT))))]
    pub http_address: SocketAddr,
    /// Plain URL of a Kubernetes API, instead of the pod's own configuration.
    #[arg(long, env = "PALLADION_API_URL")]
    pub api_url: Option<String>,
    /// What is logged, as `tracing` directives.
    #[arg(long, env = "RUST_LOG", default_value = "info")]
    pub log: String,
}

/// The catalogue has ports as Kubernetes' signed numbers.
///
/// # Panics
/// It is no port: a constant of the catalogue is wrong.
pub fn port(number: i32) -> u16 {
    u16::try_from(number).expect("should be a port: constants of the catalogue")
}

impl PodSettings {
    /// Init's socket: launch, signal, query.
    pub fn init_socket(&self) -> PathBuf {
        self.run_dir.join("init.sock")
    }

    /// The agent's socket: the preStop hook.
    pub fn agent_socket(&self) -> PathBuf {
        self.run_dir.join("agent.sock")
    }

    /// What the agent must remember of the running server if it is restarted itself.
    pub fn launch_file(&self) -> PathBuf {
        self.run_dir.join("launch.json")
    }
}
