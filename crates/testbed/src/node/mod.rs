//! A node: its mounts, container runtime, kubelet and Service proxy.

mod kubelet;
pub mod settings;

use std::fs;
use std::net::IpAddr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::config::Node;
use crate::process::{self, Daemon, Inside, Record};
use crate::site::Site;
use crate::{control_plane, image_store, kubeconfig};

/// Mounting takes milliseconds and containerd a second; this is for a machine
/// whose disks are busy.
const START_PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// A process of a node that can be stopped and started by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Holds the node's mounts; ends with the node.
    Mounts,
    /// The container runtime.
    Containerd,
    /// The kubelet.
    Kubelet,
    /// The implementation of Services.
    Proxy,
}

impl Part {
    /// In the order in which they start.
    pub const ALL: [Self; 4] = [Self::Mounts, Self::Containerd, Self::Kubelet, Self::Proxy];

    /// What its record and log on that node are called.
    pub fn record(self, node: Node) -> String {
        let part = match self {
            Self::Mounts => "mounts",
            Self::Containerd => "containerd",
            Self::Kubelet => "kubelet",
            Self::Proxy => "kube-proxy",
        };
        format!("{}-{part}", node.name())
    }
}

/// Puts a node's files in place and starts it. What runs already is left alone.
pub fn start(site: &Site, node: Node, images: &std::path::Path) -> Result<()> {
    site.network.create_node(node, &site.config.node_list())?;
    site.cgroups.create(&site.node_cgroup(node))?;
    site.cgroups.create(&site.node_system_cgroup(node))?;
    prepare(site, node, images)?;
    Part::ALL.iter().try_for_each(|part| start_part(site, node, *part))
}

/// Starts one process of a node, if it does not run, and waits until it serves.
pub fn start_part(site: &Site, node: Node, part: Part) -> Result<()> {
    start_process(site, node, part)?;
    let what = part.record(node);
    match part {
        Part::Mounts => wait(&what, || site.node_run_dir(node).join("mounted").exists()),
        Part::Containerd => {
            let socket = settings::containerd_socket(site, node);
            wait(&what, || UnixStream::connect(&socket).is_ok())
        }
        // A kubelet ends when the container runtime takes connections and is
        // not yet initialized; on a machine of its own, systemd starts it again.
        Part::Kubelet => wait_starting(&what, || match kubelet::state(site, node)? {
            kubelet::State::Serving => Ok(true),
            kubelet::State::Starting => Ok(false),
            kubelet::State::Ended => start_process(site, node, part).map(|()| false),
        }),
        Part::Proxy => Ok(()),
    }
}

fn start_process(site: &Site, node: Node, part: Part) -> Result<()> {
    let inside = match part {
        Part::Mounts => Inside::FreshMounts(site.network.node(node)),
        Part::Containerd | Part::Kubelet | Part::Proxy => inside(site, node)?,
    };
    let daemon = Daemon {
        name: part.record(node),
        inside,
        cgroup: site.cgroups.process_dir(&site.node_system_cgroup(node)),
        words: settings::words(site, node, part),
        environment: vec![],
        input: None,
    };
    process::start(&site.records(), &site.log_dir(), daemon).map(drop)
}

/// The namespaces of a running node.
pub fn inside(site: &Site, node: Node) -> Result<Inside> {
    let record = Record::read(&site.records(), &Part::Mounts.record(node))?;
    let Some(record) = record.filter(Record::is_running) else {
        bail!("entering node {}: it does not run; hint: cargo xtask testbed up", node.name());
    };
    Ok(Inside::Node { network: site.network.node(node), mounts_of: record.pid })
}

fn prepare(site: &Site, node: Node, images: &std::path::Path) -> Result<()> {
    let (run, data) = (site.node_run_dir(node), site.node_data_dir(node));
    let mut directories: Vec<PathBuf> =
        ["state", "cni", "cni-leases", "plugins"].map(|d| run.join(d)).to_vec();
    directories.extend(["kubelet", "log/pods", "log/containers"].map(|d| data.join(d)));
    directories.extend((1..=site.config.volumes_per_node).map(|n| site.volume_dir(node, n)));
    // An empty directory on the host, hidden on the node by the node's own.
    directories.push(PathBuf::from(settings::KUBELET_ROOT));
    for directory in directories {
        fs::create_dir_all(&directory)
            .with_context(|| format!("creating {}", directory.display()))?;
    }
    image_store::give(images, &data.join("containerd"))?;
    keys(site, node)?;
    settings::write(site, node)
}

/// The node's own keys, made once.
fn keys(site: &Site, node: Node) -> Result<()> {
    let run = site.node_run_dir(node);
    if run.join("kube-proxy.kubeconfig").exists() {
        return Ok(());
    }
    let pki = site.pki();
    let name = node.name();
    let address = IpAddr::V4(site.plan.node(node.number()));
    pki.server_files(&format!("{name}-kubelet"), &[&name], &[address])?;
    let kubelet = pki.client(&format!("system:node:{name}"), &["system:nodes"])?;
    let proxy = pki.client("system:kube-proxy", &[])?;
    let server = format!("https://{}:{}", site.plan.control_plane(), control_plane::API_PORT);
    for (who, user) in [("kubelet", &kubelet), ("kube-proxy", &proxy)] {
        let path = run.join(format!("{who}.kubeconfig"));
        kubeconfig::write(&path, site.config.name.as_str(), &server, &pki, user)?;
    }
    Ok(())
}

fn wait(what: &str, ready: impl Fn() -> bool) -> Result<()> {
    wait_starting(what, || Ok(ready()))
}

fn wait_starting(what: &str, ready: impl Fn() -> Result<bool>) -> Result<()> {
    let end = Instant::now() + START_PATIENCE;
    while !ready()? {
        if Instant::now() > end {
            bail!(
                "starting {what}: not ready after {START_PATIENCE:?}; hint: cargo xtask testbed logs {what}"
            );
        }
        sleep(POLL);
    }
    Ok(())
}
