//! Everything about one testbed that follows from its configuration: names,
//! addresses, directories, programs. Makes nothing.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::addresses::AddressPlan;
use crate::cache::Cache;
use crate::cgroup::Cgroups;
use crate::config::{Config, Node};
use crate::network::Network;
use crate::parts::Parts;
use crate::pki::Pki;

/// The places and programs of one testbed.
#[derive(Debug, Clone)]
pub struct Site {
    /// The choices it was started with.
    pub config: Config,
    /// The user's cache.
    pub cache: Cache,
    /// The programs it runs.
    pub parts: Parts,
    /// Its addresses.
    pub plan: AddressPlan,
    /// Its namespaces.
    pub network: Network,
    /// The host's cgroups.
    pub cgroups: Cgroups,
}

impl Site {
    /// The site of that configuration.
    pub fn new(config: Config, cache: Cache, parts: Parts) -> Result<Self> {
        Ok(Self {
            plan: AddressPlan::of(&config.name),
            network: Network::of(&config.name),
            cgroups: Cgroups::detect()?,
            config,
            cache,
            parts,
        })
    }

    /// Sockets, keys and records; gone after `down`.
    pub fn run_dir(&self) -> PathBuf {
        self.config.name.run_dir()
    }

    /// Data; gone after `down`.
    pub fn data_dir(&self) -> PathBuf {
        self.config.name.data_dir(&self.cache)
    }

    /// Logs; kept until the next `up`.
    pub fn log_dir(&self) -> PathBuf {
        self.config.name.log_dir(&self.cache)
    }

    /// Which processes were started.
    pub fn records(&self) -> PathBuf {
        self.run_dir().join("records")
    }

    /// The keys.
    pub fn pki(&self) -> Pki {
        Pki::open(&self.run_dir().join("pki"))
    }

    /// A node's sockets and configuration.
    pub fn node_run_dir(&self, node: Node) -> PathBuf {
        self.run_dir().join(node.name())
    }

    /// A node's disk.
    pub fn node_data_dir(&self, node: Node) -> PathBuf {
        self.data_dir().join(node.name())
    }

    /// The directory behind a node's local volume; `number` counts from 1.
    pub fn volume_dir(&self, node: Node, number: u8) -> PathBuf {
        self.node_data_dir(node).join("volumes").join(format!("v{number}"))
    }

    /// The cgroup of the control plane's processes.
    pub fn control_plane_cgroup(&self) -> String {
        format!("{}/control-plane", self.config.name.cgroup())
    }

    /// The cgroup of all that runs on a node, containers too.
    pub fn node_cgroup(&self, node: Node) -> String {
        format!("{}/{}", self.config.name.cgroup(), node.name())
    }

    /// The cgroup of the node's own processes: containers lie beside it.
    pub fn node_system_cgroup(&self, node: Node) -> String {
        format!("{}/system", self.node_cgroup(node))
    }

    /// The kubeconfig of a component or person.
    pub fn kubeconfig(&self, who: &str) -> PathBuf {
        self.run_dir().join(format!("{who}.kubeconfig"))
    }
}

/// The file of a volume's own disk, if it is to have one.
pub fn disk_of(volume: &Path) -> PathBuf {
    volume.with_extension("disk")
}
