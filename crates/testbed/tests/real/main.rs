//! The testbed itself, tried on this machine. These tests need root and start
//! real clusters, so they run only when asked for:
//! `cargo test -p palladion-testbed --test real -- --ignored --test-threads 1`.

mod steps;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use palladion_testbed::cache::Cache;
use palladion_testbed::cgroup::Cgroups;
use palladion_testbed::down::leftovers;
use palladion_testbed::progress::Lines;
use palladion_testbed::{Cluster, ClusterName, Config};

/// One web server per node, which says its pod's name.
const WEB: &str = r#"
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: web
        image: palladion.dev/tools:dev
        command: [sh, -c, "mkdir /w; hostname > /w/index.html; exec busybox httpd -f -p 8080 -h /w"]
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
"#;

const CLAIM: &str = r#"
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: writer}
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{name: disk, persistentVolumeClaim: {claimName: disk}}]
  containers:
  - name: writer
    image: palladion.dev/tools:dev
    command: [sh, -c, "echo kept > /disk/file; exec sleep infinity"]
    volumeMounts: [{name: disk, mountPath: /disk}]
"#;

/// What `down` must bring back to what it was before `up`, read without the
/// testbed's own means.
fn traces_on_the_host() -> BTreeSet<String> {
    let shell = |script: &str| {
        let output = Command::new("sh").args(["-c", script]).output().expect("should run");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // Other testbeds may come and go meanwhile: only what bears this one's
    // name, and what no testbed may ever change.
    let script = "ip netns | grep selftest; ip -o link | cut -d: -f2; ip route
        grep selftest /proc/mounts; find /sys/fs/cgroup -type d -name '*selftest*'
        iptables-save | grep -v '^[#:]'
        grep -slE '(palladion|clusters)/self[t]est/' /proc/[0-9]*/cmdline
        cat /proc/sys/vm/overcommit_memory /proc/sys/kernel/panic";
    shell(script).lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "starts a real cluster and needs root"]
fn a_cluster_comes_up_works_breaks_mends_and_leaves_nothing() {
    let name = ClusterName::parse("selftest").expect("should parse");
    let cache = Cache::of_user().expect("should find");
    Cluster::down(&name, &mut Lines).expect("should clean up");
    let before = traces_on_the_host();
    let config = Config { name: name.clone(), ..Config::default() };
    let cluster = Cluster::up(&config, &mut Lines).expect("should come up");
    assert_ne!(traces_on_the_host(), before, "the comparison below would mean nothing");
    Cluster::up(&config, &mut Lines).expect("a second up should change nothing");

    cluster.kubectl_with_input(&["apply", "-f", "-"], WEB).expect("should apply");
    cluster.kubectl_with_input(&["apply", "-f", "-"], CLAIM).expect("should apply");
    cluster
        .kubectl(&["rollout", "status", "daemonset/web", "--timeout=90s"])
        .expect("should run everywhere");
    steps::pods_reach_each_other(&cluster);
    steps::requests_are_counted(&cluster);
    steps::a_killed_container_comes_back(&cluster);
    steps::networks_are_cut_and_healed(&cluster);
    steps::a_node_loses_its_power_and_its_disk_stays(&cluster);
    steps::the_control_plane_goes_and_comes(&cluster);
    steps::volumes_are_recycled(&cluster);

    Cluster::down(&name, &mut Lines).expect("should end");
    assert_eq!(leftovers(&name, &cache).expect("should look"), Vec::<String>::new());
    let left: Vec<_> = traces_on_the_host().difference(&before).cloned().collect();
    assert!(left.is_empty(), "left on the host: {left:?}");
}

#[test]
#[ignore = "makes cgroups and needs root"]
fn a_version_2_group_is_frozen_killed_and_removed() {
    let mounts = fs::read_to_string("/proc/mounts").expect("should read");
    let unified = mounts.lines().find(|line| line.contains(" cgroup2 "));
    let Some(root) = unified.and_then(|line| line.split(' ').nth(1)) else {
        panic!("this test needs a cgroup2 mount: mount -t cgroup2 none /sys/fs/cgroup/unified");
    };
    let cgroups = Cgroups::V2 { root: root.into() };
    cgroups.create("palladion-v2test/n1/system").expect("should create");
    let mut child = Command::new("sleep").arg("1000").spawn().expect("should start");
    let procs = cgroups.process_dir("palladion-v2test/n1/system").join("cgroup.procs");
    fs::write(procs, child.id().to_string()).expect("should move");
    cgroups.freeze("palladion-v2test/n1").expect("should freeze");
    cgroups.thaw("palladion-v2test/n1").expect("should thaw");
    assert_eq!(cgroups.processes("palladion-v2test").len(), 1);
    cgroups.freeze("palladion-v2test/n1").expect("should freeze");
    let reaper = std::thread::spawn(move || child.wait().expect("should end"));
    cgroups.kill("palladion-v2test").expect("should kill, frozen or not");
    assert!(!reaper.join().expect("should reap").success());
    cgroups.remove("palladion-v2test").expect("should remove");
    assert!(cgroups.leftovers("palladion-v2test").is_empty());
}
