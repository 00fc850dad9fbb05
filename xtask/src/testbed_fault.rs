//! `cargo xtask testbed fault`: break something, or mend it.

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use palladion_testbed::Cluster;
use palladion_testbed::control_plane::Component;
use palladion_testbed::faults::{Peer, PodCut, Slow, Victim};

#[derive(Subcommand)]
pub enum Fault {
    /// Crash a node's kubelet; its containers go on
    StopKubelet { node: String },
    /// Start a node's kubelet again
    StartKubelet { node: String },
    /// Take a node's power: everything on it ends at one moment
    PowerOff { node: String },
    /// Give a node its power back
    PowerOn { node: String },
    /// Stop everything on a node where it stands
    FreezeNode { node: String },
    /// Let a frozen node go on
    ThawNode { node: String },
    /// Delete the Node object
    DeleteNode { node: String },
    /// Register a node again whose object was deleted
    RegisterNode { node: String },
    /// Cut a node off from everybody or from some
    CutNode {
        node: String,
        /// all, control-plane, n1, …
        #[arg(default_value = "all")]
        from: Vec<String>,
    },
    /// Make a node's network slow
    SlowNode {
        node: String,
        #[command(flatten)]
        slow: SlowArguments,
    },
    /// Undo every cut and slowness of a node
    HealNode { node: String },
    /// Cut a pod's network
    CutPod {
        #[command(flatten)]
        pod: PodArguments,
        /// Let its own node still reach it, so that probes pass
        #[arg(long)]
        but_its_node: bool,
    },
    /// Make a pod's network slow
    SlowPod {
        #[command(flatten)]
        pod: PodArguments,
        #[command(flatten)]
        slow: SlowArguments,
    },
    /// Undo every cut and slowness of a pod
    HealPod {
        #[command(flatten)]
        pod: PodArguments,
    },
    /// Kill the first process of a container, or all of a name
    Kill {
        #[command(flatten)]
        container: ContainerArguments,
        /// Name as `ps -o comm` shows it
        #[arg(long)]
        process: Option<String>,
    },
    /// Stop a container where it stands
    FreezeContainer {
        #[command(flatten)]
        container: ContainerArguments,
    },
    /// Let a frozen container go on
    ThawContainer {
        #[command(flatten)]
        container: ContainerArguments,
    },
    /// Crash the control plane or one component of it
    StopControlPlane { component: Option<ComponentName> },
    /// Start the control plane again or one component of it
    StartControlPlane { component: Option<ComponentName> },
    /// Lose all that is on a volume
    WipeVolume { volume: String },
    /// Put another, empty file system in a volume's place
    HideVolume { volume: String },
    /// Put an empty file system of so many MiB in a volume's place
    ShrinkVolume { volume: String, size_mib: u32 },
    /// Bring a hidden or shrunk volume back
    UnhideVolume { volume: String },
}

#[derive(Args)]
pub struct PodArguments {
    pod: String,
    #[arg(short, long, default_value = "default")]
    namespace: String,
}

#[derive(Args)]
pub struct ContainerArguments {
    #[command(flatten)]
    pod: PodArguments,
    container: String,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct SlowArguments {
    /// Every packet waits this many milliseconds
    #[arg(long)]
    latency_ms: Option<u32>,
    /// No more than this many kilobits a second
    #[arg(long)]
    rate_kbit: Option<u32>,
    /// This share of packets is lost, in percent
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=100))]
    loss_percent: Option<u8>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ComponentName {
    Etcd,
    Apiserver,
    ControllerManager,
    Scheduler,
}

pub fn run(cluster: &Cluster, fault: &Fault) -> Result<()> {
    let node = |name: &String| cluster.node(name);
    match fault {
        Fault::StopKubelet { node: n } => cluster.stop_kubelet(node(n)?),
        Fault::StartKubelet { node: n } => cluster.start_kubelet(node(n)?),
        Fault::PowerOff { node: n } => cluster.power_off(node(n)?),
        Fault::PowerOn { node: n } => cluster.power_on(node(n)?),
        Fault::FreezeNode { node: n } => cluster.freeze_node(node(n)?),
        Fault::ThawNode { node: n } => cluster.thaw_node(node(n)?),
        Fault::DeleteNode { node: n } => cluster.delete_node_object(node(n)?),
        Fault::RegisterNode { node: n } => cluster.register_node(node(n)?),
        Fault::CutNode { node: n, from } => {
            let peers: Result<Vec<_>> = from.iter().map(|name| peer(cluster, name)).collect();
            cluster.cut_node(node(n)?, &peers?)
        }
        Fault::SlowNode { node: n, slow } => cluster.slow_node(node(n)?, slow.parse()?),
        Fault::HealNode { node: n } => cluster.heal_node(node(n)?),
        Fault::CutPod { pod, but_its_node } => {
            let cut = if *but_its_node { PodCut::EverythingButItsNode } else { PodCut::Everything };
            cluster.cut_pod(&pod.namespace, &pod.pod, cut)
        }
        Fault::SlowPod { pod, slow } => cluster.slow_pod(&pod.namespace, &pod.pod, slow.parse()?),
        Fault::HealPod { pod } => cluster.heal_pod(&pod.namespace, &pod.pod),
        Fault::Kill { container: c, process } => {
            let victim = process.clone().map_or(Victim::Init, Victim::Named);
            let killed = cluster.kill(&c.pod.namespace, &c.pod.pod, &c.container, &victim)?;
            println!("killed {killed}");
            Ok(())
        }
        Fault::FreezeContainer { container: c } => {
            cluster.freeze_container(&c.pod.namespace, &c.pod.pod, &c.container)
        }
        Fault::ThawContainer { container: c } => {
            cluster.thaw_container(&c.pod.namespace, &c.pod.pod, &c.container)
        }
        Fault::StopControlPlane { component: None } => cluster.stop_control_plane(),
        Fault::StopControlPlane { component: Some(c) } => cluster.stop_component((*c).into()),
        Fault::StartControlPlane { component: None } => cluster.start_control_plane(),
        Fault::StartControlPlane { component: Some(c) } => cluster.start_component((*c).into()),
        Fault::WipeVolume { volume } => cluster.wipe_volume(volume),
        Fault::HideVolume { volume } => cluster.hide_volume(volume),
        Fault::ShrinkVolume { volume, size_mib } => cluster.shrink_volume(volume, *size_mib),
        Fault::UnhideVolume { volume } => cluster.unhide_volume(volume),
    }
}

impl SlowArguments {
    fn parse(&self) -> Result<Slow> {
        match (self.latency_ms, self.rate_kbit, self.loss_percent) {
            (Some(delay), None, None) => Ok(Slow::LatencyMs(delay)),
            (None, Some(rate), None) => Ok(Slow::RateKbit(rate)),
            (None, None, Some(share)) => Ok(Slow::LossPercent(share)),
            _ => bail!("give one of --latency-ms, --rate-kbit, --loss-percent"),
        }
    }
}

impl From<ComponentName> for Component {
    fn from(name: ComponentName) -> Self {
        match name {
            ComponentName::Etcd => Self::Etcd,
            ComponentName::Apiserver => Self::ApiServer,
            ComponentName::ControllerManager => Self::ControllerManager,
            ComponentName::Scheduler => Self::Scheduler,
        }
    }
}

fn peer(cluster: &Cluster, name: &str) -> Result<Peer> {
    match name {
        "all" => Ok(Peer::All),
        "control-plane" => Ok(Peer::ControlPlane),
        node => cluster.node(node).map(Peer::Node),
    }
}
