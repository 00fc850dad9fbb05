//! Where things are. In a pod every default fits; each can be set by flag or
//! environment, so that the agent also runs on a developer's machine.

use clap::Args;
use palladion_api::cluster::Mode;
use palladion_api::ids::{MemberName, PodUid};
use palladion_api::labels::ports;
use palladion_api::server_config::{CONFIG_DIR, SECRETS_DIR, SHARED_DIR};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// Paths, ports and the identity of the pod.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// Name of the pod, which is the name of its member.
    #[arg(long, env = "POD_NAME", value_parser = MemberName::parse)]
    pub pod_name: MemberName,
    /// Namespace of the pod.
    #[arg(long, env = "POD_NAMESPACE")]
    pub pod_namespace: String,
    /// UID of the pod.
    #[arg(long, env = "POD_UID", value_parser = PodUid::parse)]
    pub pod_uid: PodUid,
    /// Address of the pod: the server listens on it.
    #[arg(long, env = "POD_IP")]
    pub pod_ip: IpAddr,
    /// Node that the pod runs on.
    #[arg(long, env = "NODE_NAME")]
    pub node_name: String,
    /// Revision of the pod (label `controller-revision-hash`).
    #[arg(long, env = "POD_REVISION")]
    pub pod_revision: String,
    /// CPUs of the container.
    #[arg(long, env = "CPU_LIMIT", default_value_t = 1)]
    pub cpu_limit: u32,
    /// Memory of the container in MiB.
    #[arg(long, env = "MEMORY_LIMIT", default_value_t = 2048)]
    pub memory_limit: u64,
    /// Where the init container has put this binary and the Java agents.
    #[arg(long, env = "PALLADION_SHARED_DIR", default_value = SHARED_DIR)]
    pub shared_dir: PathBuf,
    /// Where the operator's ConfigMap is mounted.
    #[arg(long, env = "PALLADION_CONFIG_DIR", default_value = CONFIG_DIR)]
    pub config_dir: PathBuf,
    /// Root of the data volume; by default the one of the stock image.
    #[arg(long, env = "PALLADION_DATA_ROOT")]
    pub data_root: Option<PathBuf>,
    /// Rendered configuration, sockets, credentials; in memory.
    #[arg(long, env = "PALLADION_RUN_DIR", default_value = "/run/palladion")]
    pub run_dir: PathBuf,
    /// Scratch space of the server; also its working directory.
    #[arg(long, env = "PALLADION_TMP_DIR", default_value = "/tmp")]
    pub tmp_dir: PathBuf,
    /// Home of the server in its image.
    #[arg(long, env = "CASSANDRA_HOME", default_value = "/opt/cassandra")]
    pub cassandra_home: PathBuf,
    /// Configuration directory of the server's image, for its JVM option files.
    #[arg(long, env = "CASSANDRA_CONF")]
    pub cassandra_conf: Option<PathBuf>,
    /// Java of the server's image; without it `java` on the path.
    #[arg(long, env = "JAVA_HOME")]
    pub java_home: Option<PathBuf>,
    /// The Scylla server of the image.
    #[arg(long, env = "PALLADION_SCYLLA", default_value = "/usr/bin/scylla")]
    pub scylla: PathBuf,
    /// Probes and metrics.
    #[arg(long, env = "PALLADION_HTTP_ADDRESS", default_value_t = SocketAddr::from(([0, 0, 0, 0], port(ports::AGENT))))]
    pub http_address: SocketAddr,
    /// Loopback address of Jolokia.
    #[arg(long, env = "PALLADION_JOLOKIA_ADDRESS", default_value_t = SocketAddr::from(([127, 0, 0, 1], port(ports::JOLOKIA))))]
    pub jolokia_address: SocketAddr,
    /// Loopback port of JMX.
    #[arg(long, env = "PALLADION_JMX_PORT", default_value_t = port(ports::JMX))]
    pub jmx_port: u16,
    /// Address of Scylla's REST API.
    #[arg(long, env = "PALLADION_SCYLLA_API_ADDRESS", default_value_t = SocketAddr::from(([127, 0, 0, 1], 10000)))]
    pub scylla_api_address: SocketAddr,
    /// Where Secrets are mounted, each in a folder of its own.
    #[arg(long, env = "PALLADION_SECRETS_DIR", default_value = SECRETS_DIR)]
    pub secrets_dir: PathBuf,
    /// Port of the native protocol.
    #[arg(long, env = "PALLADION_CQL_PORT", default_value_t = port(ports::CQL))]
    pub cql_port: u16,
    /// Plain URL of a Kubernetes API, instead of the pod's own configuration.
    #[arg(long, env = "PALLADION_API_URL")]
    pub api_url: Option<String>,
    /// What is logged, as `tracing` directives.
    #[arg(long, env = "RUST_LOG", default_value = "info")]
    pub log: String,
}

/// The catalogue has ports as Kubernetes' signed numbers.
fn port(number: i32) -> u16 {
    u16::try_from(number).expect("should be a port: constants of the catalogue")
}

impl Settings {
    /// Root of the data volume for a mode.
    pub fn data_root(&self, mode: Mode) -> PathBuf {
        self.data_root.clone().unwrap_or_else(|| {
            PathBuf::from(match mode {
                Mode::Cassandra => "/var/lib/cassandra",
                Mode::Scylla => "/var/lib/scylla",
            })
        })
    }

    /// Init's socket: launch, signal, query.
    pub fn init_socket(&self) -> PathBuf {
        self.run_dir.join("init.sock")
    }

    /// The agent's socket: drain.
    pub fn agent_socket(&self) -> PathBuf {
        self.run_dir.join("agent.sock")
    }

    /// Rendered configuration, first on the class path.
    pub fn conf_dir(&self) -> PathBuf {
        self.run_dir.join("conf")
    }

    /// Key and certificate for clients, as the server reads them; in memory.
    pub fn tls_dir(&self) -> PathBuf {
        self.run_dir.join("tls")
    }

    /// What the agent must remember of the running server if it is restarted itself.
    pub fn launch_file(&self) -> PathBuf {
        self.run_dir.join("launch.json")
    }

    /// Where the image keeps its JVM option files.
    pub fn image_conf(&self) -> PathBuf {
        let own = self.cassandra_home.join("conf");
        match &self.cassandra_conf {
            Some(dir) if dir.is_dir() => dir.clone(),
            Some(_) | None => own,
        }
    }

    /// A file of the operator's ConfigMap.
    pub fn config_file(&self, name: &str) -> PathBuf {
        Path::new(&self.config_dir).join(name)
    }
}
