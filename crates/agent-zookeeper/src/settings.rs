//! Where things are. In a pod every default fits; each can be set by flag or
//! environment, so that the agent also runs on a developer's machine.

use clap::Args;
use palladion_agent_core::settings::PodSettings;
use palladion_api::zookeeper::{DATA_DIR, LOG_DIR};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// Paths and addresses.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// The pod, and what every agent has in it.
    #[command(flatten)]
    pub pod: PodSettings,
    /// Root of the volume: marker, ledger and the configuration of the ensemble.
    #[arg(long, env = "PALLADION_DATA_ROOT", default_value = "/palladion")]
    pub data_root: PathBuf,
    /// Where the volume's directory of snapshots is mounted.
    #[arg(long, env = "PALLADION_ZOOKEEPER_DATA", default_value = DATA_DIR)]
    pub data_dir: PathBuf,
    /// Where the volume's directory of transaction logs is mounted.
    #[arg(long, env = "PALLADION_ZOOKEEPER_LOGS", default_value = LOG_DIR)]
    pub log_dir: PathBuf,
    /// Home of ZooKeeper in its image; without it the one on the path.
    #[arg(long, env = "PALLADION_ZOOKEEPER_HOME")]
    pub home: Option<PathBuf>,
    /// Where the image has `logback.xml`.
    #[arg(long, env = "ZOOCFGDIR")]
    pub image_conf: Option<PathBuf>,
    /// Loopback address at which the agent asks its server.
    #[arg(long, env = "PALLADION_ZOOKEEPER_ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub server_address: IpAddr,
}
