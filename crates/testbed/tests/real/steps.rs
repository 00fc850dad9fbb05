//! What a cluster must be able to do, one step after the other.

use std::fs;
use std::net::SocketAddrV4;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use palladion_testbed::Cluster;
use palladion_testbed::control_plane::Component;
use palladion_testbed::faults::{Peer, PodCut, Victim};

/// Everything below takes seconds; this is for a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "waited {PATIENCE:?} in vain: {what}");
        sleep(Duration::from_millis(300));
    }
}

fn web_pods(cluster: &Cluster) -> Vec<(String, String, String)> {
    let columns =
        "jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName} {.status.podIP}{\"\\n\"}{end}";
    let text = cluster
        .kubectl(&["get", "pods", "-l", "app=web", "-o", columns, "--sort-by=.spec.nodeName"])
        .expect("should list");
    let rows = text.lines().map(|line| {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        (words[0].clone(), words[1].clone(), words[2].clone())
    });
    rows.collect()
}

fn fetch(cluster: &Cluster, from_pod: &str, url: &str) -> Option<String> {
    let answer = cluster.kubectl(&["exec", from_pod, "--", "curl", "-s", "-m", "2", url]).ok()?;
    Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty())
}

pub fn pods_reach_each_other(cluster: &Cluster) {
    let pods = web_pods(cluster);
    assert_eq!(pods.len(), 3);
    for (from, ..) in &pods {
        for (to, _, address) in &pods {
            let answer = fetch(cluster, from, &format!("http://{address}:8080"));
            assert_eq!(answer.as_ref(), Some(to), "{from} to {to}");
        }
        for host in ["web", "web.default", "web.default.svc.cluster.local"] {
            let answer = fetch(cluster, from, &format!("http://{host}"));
            assert!(answer.is_some(), "{from} should reach the Service as {host}");
        }
    }
    let away =
        cluster.kubectl(&["exec", &pods[0].0, "--", "curl", "-s", "-m", "2", "http://192.0.2.1"]);
    assert!(away.is_err(), "nothing outside the testbed should answer");

    let service = cluster
        .kubectl(&["get", "service", "web", "-o", "jsonpath={.spec.clusterIP}"])
        .expect("should have an address");
    for target in [format!("{service}:80"), format!("{}:8080", pods[2].2)] {
        let target: SocketAddrV4 = target.parse().expect("should be an address");
        let port = cluster.forward(target).expect("should forward");
        let url = format!("http://127.0.0.1:{port}");
        let output = Command::new("curl").args(["-s", "-m", "3", &url]).output();
        let output = output.expect("should run");
        assert!(output.stdout.starts_with(b"web-"), "{target} from the host: {output:?}");
    }
}

pub fn requests_are_counted(cluster: &Cluster) {
    let path = cluster.site().run_dir().join("counted.kubeconfig");
    cluster.kubeconfig_for(&path, "counted", &["system:masters"]).expect("should write");
    let mark = cluster.audit_mark().expect("should mark");
    let mut kubectl = Command::new(cluster.kubectl_command().get_program());
    kubectl.arg("--kubeconfig").arg(&path).args(["get", "--raw", "/api/v1/namespaces"]);
    for _ in 0..2 {
        assert!(kubectl.output().expect("should run").status.success());
    }
    let counts = cluster.audit_counts(mark, "counted").expect("should count");
    assert_eq!(counts.len(), 1, "{counts:?}");
    let found = (counts[0].verb.as_str(), counts[0].resource.as_str(), counts[0].count);
    assert_eq!(found, ("list", "namespaces", 2));
}

pub fn a_killed_container_comes_back(cluster: &Cluster) {
    let pod = &web_pods(cluster)[0].0;
    let restarts = || {
        let path = "jsonpath={.status.containerStatuses[0].restartCount}";
        cluster.kubectl(&["get", "pod", pod, "-o", path]).expect("should read")
    };
    let before = restarts();
    let killed = cluster.kill("default", pod, "web", &Victim::Init).expect("should kill");
    assert_eq!(killed, 1);
    until("the container should be started again", || restarts() != before);
    until("it should answer again", || fetch(cluster, pod, "http://localhost:8080").is_some());
}

pub fn networks_are_cut_and_healed(cluster: &Cluster) {
    let pods = web_pods(cluster);
    let [(first, ..), (_, second_node, second), (third_pod, _, third)] = &pods[..] else {
        panic!("three pods should run: {pods:?}");
    };
    let url = |address: &String| format!("http://{address}:8080");
    let node = cluster.node(second_node).expect("should be a node");
    let n1 = cluster.nodes()[0];

    cluster.cut_node(node, &[Peer::Node(n1)]).expect("should cut");
    assert_eq!(fetch(cluster, first, &url(second)), None);
    assert!(fetch(cluster, third_pod, &url(second)).is_some(), "others still reach it");
    cluster.heal_node(node).expect("should heal");
    assert!(fetch(cluster, first, &url(second)).is_some());

    cluster.cut_pod("default", third_pod, PodCut::EverythingButItsNode).expect("should cut");
    assert_eq!(fetch(cluster, first, &url(third)), None);
    cluster.heal_pod("default", third_pod).expect("should heal");
    assert!(fetch(cluster, first, &url(third)).is_some());
}

pub fn a_node_loses_its_power_and_its_disk_stays(cluster: &Cluster) {
    let path = "jsonpath={.spec.nodeName}";
    let node = cluster.kubectl(&["get", "pod", "writer", "-o", path]).expect("should read");
    let node = cluster.node(&node).expect("should be a node");
    let group = cluster.site().node_cgroup(node);
    assert!(!cluster.site().cgroups.processes(&group).is_empty());
    cluster.power_off(node).expect("should go off");
    assert!(cluster.site().cgroups.processes(&group).is_empty());
    cluster.power_on(node).expect("should come on");
    let read = || cluster.kubectl(&["exec", "writer", "--", "cat", "/disk/file"]);
    until("the pod should run again and find its file", || {
        read().is_ok_and(|text| text == "kept\n")
    });
    until("its web server should answer again", || {
        let pods = web_pods(cluster);
        pods.iter().all(|(pod, ..)| fetch(cluster, pod, "http://localhost:8080").is_some())
    });
}

pub fn the_control_plane_goes_and_comes(cluster: &Cluster) {
    cluster.stop_component(Component::ApiServer).expect("should stop");
    assert!(cluster.kubectl(&["get", "nodes"]).is_err());
    cluster.stop_control_plane().expect("should stop the rest");
    cluster.start_control_plane().expect("should start");
    cluster.kubectl(&["get", "nodes"]).expect("should answer");
}

pub fn volumes_are_recycled(cluster: &Cluster) {
    let volume = cluster.volume_of_claim("default", "disk").expect("should be bound");
    let directory = cluster.volume_dir(&volume).expect("should be ours");
    assert!(directory.join("file").exists());
    cluster.kubectl(&["delete", "pod/writer", "pvc/disk", "--wait=true"]).expect("should delete");
    until("the volume should be released and recycled", || {
        cluster.recycle_volumes().expect("should recycle").contains(&volume)
    });
    assert_eq!(fs::read_dir(&directory).expect("should read").count(), 0);
    until("the volume should be available", || {
        let path = "jsonpath={.status.phase}";
        cluster.kubectl(&["get", "pv", &volume, "-o", path]).expect("should read") == "Available"
    });
}
