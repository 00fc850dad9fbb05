//! The configuration files and command lines of a node's processes.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::Part;
use crate::cache::hex;
use crate::config::Node;
use crate::images;
use crate::site::{Site, disk_of};

/// Where every kubelet keeps its pods. Each node has its own directory mounted
/// there, so that paths inside a node are the usual ones.
pub const KUBELET_ROOT: &str = "/var/lib/kubelet";

/// What a kubelet would set for the whole machine, and the value it wants. The
/// node shows it these values instead, and the host's stay as they are.
const TUNABLES: [(&str, &str); 6] = [
    ("vm/overcommit_memory", "1"),
    ("vm/panic_on_oom", "0"),
    ("kernel/panic", "10"),
    ("kernel/panic_on_oops", "1"),
    ("kernel/keys/root_maxkeys", "1000000"),
    ("kernel/keys/root_maxbytes", "25000000"),
];

/// The share of the machine's memory, in percent, that all nodes together offer
/// to pods.
const OFFERED_MEMORY: u64 = 85;

/// Where a node's containerd answers.
pub fn containerd_socket(site: &Site, node: Node) -> PathBuf {
    site.node_run_dir(node).join("containerd.sock")
}

/// The command line of one process of a node.
pub fn words(site: &Site, node: Node, part: Part) -> Vec<String> {
    let run = site.node_run_dir(node);
    let file = |name: &str| run.join(name).to_string_lossy().into_owned();
    match part {
        Part::Mounts => vec!["/bin/sh".into(), file("mounts.sh")],
        Part::Containerd => {
            vec!["/usr/bin/containerd".into(), format!("--config={}", file("containerd.toml"))]
        }
        Part::Kubelet => vec![
            site.parts.program("kubelet"),
            format!("--config={}", file("kubelet.yaml")),
            format!("--kubeconfig={}", file("kubelet.kubeconfig")),
            format!("--root-dir={KUBELET_ROOT}"),
            format!("--hostname-override={}", node.name()),
            format!("--node-ip={}", site.plan.node(node.number())),
            format!(
                "--node-labels=topology.kubernetes.io/zone={},topology.kubernetes.io/region=r1",
                node.zone()
            ),
        ],
        Part::Proxy => {
            vec![site.parts.program("kube-proxy"), format!("--config={}", file("kube-proxy.yaml"))]
        }
    }
}

/// Writes all files that the node's processes read.
pub fn write(site: &Site, node: Node) -> Result<()> {
    let run = site.node_run_dir(node);
    let put = |name: &str, content: &str| {
        let path = run.join(name);
        // kube-proxy ends when its file is written, even with the same content.
        if fs::read(&path).is_ok_and(|before| before == content.as_bytes()) {
            return Ok(());
        }
        fs::write(&path, content).with_context(|| format!("writing {}", path.display()))
    };
    let tunables = run.join("tunables");
    for (name, value) in TUNABLES {
        let path = tunables.join(name);
        let making = || format!("writing {}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(&tunables)).with_context(making)?;
        fs::write(&path, format!("{value}\n")).with_context(making)?;
    }
    let identity = Sha256::digest(site.network.node(node).as_bytes());
    put("machine-id", &format!("{}\n", hex(&identity[..16])))?;
    put("resolv.conf", "# No way out: names outside the cluster do not resolve.\n")?;
    put("mounts.sh", &mounts_script(site, node))?;
    put("containerd.toml", &containerd(site, node))?;
    put("cni/10-bridge.conflist", &cni(site, node).to_string())?;
    put("kubelet.yaml", &kubelet(site, node)?.to_string())?;
    put("kube-proxy.yaml", &proxy(site, node).to_string())
}

fn mounts_script(site: &Site, node: Node) -> String {
    let (run, data) = (site.node_run_dir(node), site.node_data_dir(node));
    let (run, data) = (run.display(), data.display());
    let mut script = format!(
        "set -e\n\
         rm -f '{run}/mounted'\n\
         mount --make-rshared /\n\
         # A bound directory is in its source's peer group, so that a mount\n\
         # below one would show up below the other: each gets a group alone.\n\
         own() {{ mount --bind \"$1\" \"$2\"; mount --make-private \"$2\"; mount --make-shared \"$2\"; }}\n\
         own '{data}/log' /var/log\n\
         own '{data}/kubelet' {KUBELET_ROOT}\n"
    );
    for (name, _) in TUNABLES {
        let _ = writeln!(script, "mount --bind '{run}/tunables/{name}' /proc/sys/{name}");
    }
    // Machines of their own, restarted at this moment.
    let _ = write!(
        script,
        "cat /proc/sys/kernel/random/uuid >'{run}/boot-id'\n\
         mount --bind '{run}/boot-id' /proc/sys/kernel/random/boot_id\n\
         if [ -e /etc/machine-id ]; then mount --bind '{run}/machine-id' /etc/machine-id; fi\n"
    );
    for number in 1..=site.config.volumes_per_node {
        // A mount of its own, as a real local disk is one, and private: a pod
        // that runs keeps it whatever is mounted over it later.
        let volume = site.volume_dir(node, number);
        let disk = disk_of(&volume);
        let (volume, disk) = (volume.display(), disk.display());
        let _ = writeln!(
            script,
            "if [ -e '{disk}' ]; then mount -o loop '{disk}' '{volume}'\n\
             else mount --bind '{volume}' '{volume}'; fi\n\
             mount --make-private '{volume}'"
        );
    }
    let _ = writeln!(script, "touch '{run}/mounted'\nexec sleep infinity");
    script
}

fn containerd(site: &Site, node: Node) -> String {
    let (run, data) = (site.node_run_dir(node), site.node_data_dir(node));
    let (run, data) = (run.display(), data.display());
    // runc dies when it lowers a score without the capability for it.
    let restrict = !may_lower_oom_score();
    format!(
        r#"version = 2
root = "{data}/containerd"
state = "{run}/state"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp"]

[grpc]
  address = "{run}/containerd.sock"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = {restrict}
  netns_mounts_under_state_dir = true
  disable_hugetlb_controller = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{run}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
"#,
        pause = images::PAUSE,
    )
}

fn cni(site: &Site, node: Node) -> serde_json::Value {
    json!({
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [{
            "type": "bridge",
            "bridge": crate::network::POD_BRIDGE,
            "isDefaultGateway": true,
            // A pod may reach itself through its own Service.
            "hairpinMode": true,
            "ipMasq": false,
            "ipam": {
                "type": "host-local",
                "dataDir": site.node_run_dir(node).join("cni-leases"),
                "ranges": [[{"subnet": site.plan.pods(node.number())}]],
            },
        }],
    })
}

fn kubelet(site: &Site, node: Node) -> Result<serde_json::Value> {
    let (run, pki) = (site.node_run_dir(node), site.pki());
    let certificate = format!("{}-kubelet", node.name());
    Ok(json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": false},
            "webhook": {"enabled": true},
            "x509": {"clientCAFile": pki.path("ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": pki.path(&format!("{certificate}.crt")),
        "tlsPrivateKeyFile": pki.path(&format!("{certificate}.key")),
        "containerRuntimeEndpoint": format!("unix://{}", containerd_socket(site, node).display()),
        "volumePluginDir": run.join("plugins"),
        "resolvConf": run.join("resolv.conf"),
        "clusterDomain": "cluster.local",
        "clusterDNS": [site.plan.dns_service()],
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": format!("/{}", site.node_cgroup(node)),
        "enforceNodeAllocatable": ["pods"],
        "systemReserved": {"memory": format!("{}Mi", reserved_memory_mib(site.config.nodes)?)},
        // The host's own disk and memory are not the nodes' to judge.
        "evictionHard": {
            "memory.available": "0%",
            "nodefs.available": "0%",
            "nodefs.inodesFree": "0%",
            "imagefs.available": "0%",
            "imagefs.inodesFree": "0%",
        },
        // Nothing could pull an image again.
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "serializeImagePulls": false,
        "failSwapOn": false,
        "oomScoreAdj": 0,
        "registerNode": true,
    }))
}

fn proxy(site: &Site, node: Node) -> serde_json::Value {
    json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": site.node_run_dir(node).join("kube-proxy.kubeconfig")},
        "hostnameOverride": node.name(),
        "mode": "iptables",
        "clusterCIDR": site.plan.all_pods(),
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "oomScoreAdj": 0,
        "iptables": {"minSyncPeriod": "200ms", "syncPeriod": "30s"},
        // These settings are the whole machine's.
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    })
}

/// What each node keeps back, so that all nodes together do not promise more
/// memory than the machine has.
fn reserved_memory_mib(nodes: u8) -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo").context("reading /proc/meminfo")?;
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .context("reading MemTotal from /proc/meminfo")?
        / 1024;
    Ok(total - total * OFFERED_MEMORY / 100 / u64::from(nodes))
}

/// Whether this process has CAP_SYS_RESOURCE.
fn may_lower_oom_score() -> bool {
    const SYS_RESOURCE: u32 = 24;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let capabilities = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    capabilities.is_some_and(|mask| mask & (1 << SYS_RESOURCE) != 0)
}
