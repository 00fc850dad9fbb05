//! Where things are. In a pod every default fits; each can be set by flag or
//! environment, so that the agent also runs on a developer's machine.

use clap::Args;
use palladion_agent_core::settings::PodSettings;
use palladion_api::rabbitmq::{CREDENTIALS_DIR, DEFINITIONS_DIR, RABBITMQ_DATA_DIR};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// Paths and addresses.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// The pod, and what every agent has in it.
    #[command(flatten)]
    pub pod: PodSettings,
    /// Root of the volume: marker, ledger and the node's configuration.
    #[arg(long, env = "PALLADION_DATA_ROOT", default_value = "/palladion")]
    pub data_root: PathBuf,
    /// Where the volume's directory of the node's data is mounted; also the home of its user.
    #[arg(long, env = "PALLADION_RABBITMQ_DATA", default_value = RABBITMQ_DATA_DIR)]
    pub data_dir: PathBuf,
    /// Where the Secret with the credentials is mounted.
    #[arg(long, env = "PALLADION_RABBITMQ_CREDENTIALS", default_value = CREDENTIALS_DIR)]
    pub credentials_dir: PathBuf,
    /// Where the Secret with the definitions is mounted.
    #[arg(long, env = "PALLADION_RABBITMQ_DEFINITIONS", default_value = DEFINITIONS_DIR)]
    pub definitions_dir: PathBuf,
    /// Directory of `rabbitmq-server` in its image; without it the one on the path.
    #[arg(long, env = "PALLADION_RABBITMQ_BIN")]
    pub bin: Option<PathBuf>,
    /// Loopback address at which the agent asks its node.
    #[arg(long, env = "PALLADION_RABBITMQ_ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub server_address: IpAddr,
}
