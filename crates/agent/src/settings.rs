//! Where things are. In a pod every default fits; each can be set by flag or
//! environment, so that the agent also runs on a developer's machine.

use clap::Args;
use palladion_agent_core::settings::{PodSettings, port};
use palladion_api::backup::BACKUP_CREDENTIALS_SECRET;
use palladion_api::cluster::Mode;
use palladion_api::labels::ports;
use palladion_api::server_config::{SECRETS_DIR, SHARED_DIR};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// See [`Settings::restore_batch_bytes`]: 8 GiB, so that what is fetched again after a crash is
/// minutes, and the table has few small SSTables more.
const RESTORE_BATCH: u64 = 8 * 1024 * 1024 * 1024;

/// Paths, ports and the identity of the pod.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// The pod, and what every agent has in it.
    #[command(flatten)]
    pub pod: PodSettings,
    /// Address of the pod: the server listens on it.
    #[arg(long, env = "POD_IP")]
    pub pod_ip: IpAddr,
    /// CPUs of the container.
    #[arg(long, env = "CPU_LIMIT", default_value_t = 1)]
    pub cpu_limit: u32,
    /// Memory of the container in MiB.
    #[arg(long, env = "MEMORY_LIMIT", default_value_t = 2048)]
    pub memory_limit: u64,
    /// Where the init container has put this binary and the Java agents.
    #[arg(long, env = "PALLADION_SHARED_DIR", default_value = SHARED_DIR)]
    pub shared_dir: PathBuf,
    /// Root of the data volume; by default the one of the stock image.
    #[arg(long, env = "PALLADION_DATA_ROOT")]
    pub data_root: Option<PathBuf>,
    /// Home of the server in its image.
    #[arg(long, env = "CASSANDRA_HOME", default_value = "/opt/cassandra")]
    pub cassandra_home: PathBuf,
    /// Configuration directory of the server's image, for its JVM option files.
    #[arg(long, env = "CASSANDRA_CONF")]
    pub cassandra_conf: Option<PathBuf>,
    /// The Scylla server of the image.
    #[arg(long, env = "PALLADION_SCYLLA", default_value = "/usr/bin/scylla")]
    pub scylla: PathBuf,
    /// The Secret that is mounted as the credentials of the store of backups.
    #[arg(long, env = BACKUP_CREDENTIALS_SECRET)]
    pub backup_secret: Option<String>,
    /// Bytes of backups that are fetched at a time, at the most, when they are loaded into the
    /// ring; and never more than a tenth of what is free.
    #[arg(long, env = "PALLADION_RESTORE_BATCH_BYTES", default_value_t = RESTORE_BATCH)]
    pub restore_batch_bytes: u64,
    /// Seconds for which a server may still carry out a truncation that was not answered:
    /// `truncate_request_timeout`. Rows that are loaded before would go with it.
    #[arg(long, env = "PALLADION_TRUNCATE_SECONDS", default_value_t = 60)]
    pub truncate_seconds: u64,
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

    /// Rendered configuration, first on the class path.
    pub fn conf_dir(&self) -> PathBuf {
        self.pod.run_dir.join("conf")
    }

    /// Key and certificate for clients, as the server reads them; in memory.
    pub fn tls_dir(&self) -> PathBuf {
        self.pod.run_dir.join("tls")
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
        Path::new(&self.pod.config_dir).join(name)
    }
}
