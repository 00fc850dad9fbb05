//! Zones: sets, names, labels, environment, place; and Services on top.

use palladion_e2e::bed;
use palladion_e2e::story::Story;
use palladion_e2e::wait_for;
use palladion_e2e::zoned::{PATIENCE, Zoned, example};
use serde_json::{Value, json};

/// The default label of QuarksStatefulSet, which nodes had before Kubernetes 1.17.
const OLD_LABEL: &str = "failure-domain.beta.kubernetes.io/zone";

pub fn story() -> Story {
    Story::named("zoned-zones")
        .step("each zone has its set, labels, environment and place", of_each_zone)
        .step("Services of one's own reach the pods by the two labels", services)
        .into()
}

/// The partitioned example with everything that a zone has to be combined with:
/// the old label, node affinity of its own, a toleration, an init container.
fn crowded() -> String {
    let own = json!({
        "tolerations": [{ "key": "example.com/reserved", "operator": "Exists", "effect": "NoSchedule" }],
        "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
            { "matchExpressions": [{ "key": "kubernetes.io/os", "operator": "In", "values": ["linux"] }] },
            { "matchExpressions": [{ "key": "kubernetes.io/hostname", "operator": "Exists" }] },
        ] } } },
        "initContainers": [{
            "name": "early", "image": "palladion.dev/tools:dev",
            "command": ["busybox", "sh", "-c", "test $KUBE_AZ = $BOSH_AZ && test -n \"$AZ_INDEX\""],
        }],
    });
    let mut manifest: Value =
        serde_yaml::from_str(&example("partitioned")).expect("the example is YAML");
    manifest["spec"]["zoneNodeLabel"] = OLD_LABEL.into();
    let pod = &mut manifest["spec"]["template"]["spec"]["template"]["spec"];
    for (key, value) in own.as_object().expect("an object") {
        pod[key.as_str()] = value.clone();
    }
    manifest.to_string()
}

fn label_nodes_the_old_way() {
    for zone in ["z1", "z2", "z3"] {
        let words = format!(
            "label nodes -l topology.kubernetes.io/zone={zone} {OLD_LABEL}={zone} --overwrite"
        );
        bed().kubectl(&words).expect("label nodes");
    }
}

/// Every alternative that the scheduler has names the zone.
fn assert_pinned(pod: &Value, zone: &str) {
    let terms = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"];
    let terms = terms.as_array().expect("terms");
    assert_eq!(terms.len(), 2, "{terms:?}");
    let wanted = json!({ "key": OLD_LABEL, "operator": "In", "values": [zone] });
    for term in terms {
        let all = term["matchExpressions"].as_array().expect("expressions");
        assert!(all.len() == 2 && all.contains(&wanted), "{term}");
    }
    let tolerations = pod["spec"]["tolerations"].as_array().expect("tolerations");
    assert!(tolerations.iter().any(|t| t["key"] == "example.com/reserved"));
}

fn of_each_zone() {
    label_nodes_the_old_way();
    let web = Zoned::start("zoned-zones", "web", &crowded());
    assert_eq!(web.sets(), ["web-z0", "web-z1"]);
    let nodes =
        bed().kubectl("get nodes -l topology.kubernetes.io/zone=z2 -o name").expect("nodes");
    for pod in web.pods() {
        let meta = &pod["metadata"];
        let name = meta["name"].as_str().unwrap_or_default();
        let index = if name.starts_with("web-z1") { "1" } else { "0" };
        let zone = if index == "1" { "z2" } else { "z1" };
        assert_eq!(meta["labels"]["palladion.dev/az-index"], index);
        assert_eq!(meta["labels"]["palladion.dev/az-name"], zone);
        assert_eq!(
            meta["labels"]["palladion.dev/pod-ordinal"],
            name.rsplit('-').next().unwrap_or_default()
        );
        assert_eq!(meta["annotations"]["palladion.dev/zones"], r#"["z1", "z2"]"#);
        assert_pinned(&pod, zone);
        let early = &pod["spec"]["initContainers"][0]["env"];
        assert!(early.to_string().contains(r#""name":"KUBE_AZ""#), "{early}");
        let env = bed().exec(web.namespace, name, &["busybox", "env"]).expect("env");
        let number = if index == "1" { "AZ_INDEX=2" } else { "AZ_INDEX=1" };
        for line in [
            format!("KUBE_AZ={zone}"),
            format!("BOSH_AZ={zone}"),
            format!("CF_OPERATOR_AZ={zone}"),
            number.into(),
            "REPLICAS=2".into(),
        ] {
            assert!(env.lines().any(|l| l == line), "{name} should have {line}");
        }
        let node = format!("node/{}", pod["spec"]["nodeName"].as_str().unwrap_or_default());
        assert_eq!(nodes.lines().any(|n| n == node), zone == "z2", "{name} runs on {node}");
    }
    web.end();
}

fn services() {
    let nats = Zoned::start("zoned-exposing", "nats", &example("exposing"));
    let pod = nats.uids().into_keys().next().expect("a pod");
    for service in ["nats-cluster-ip", "nats-load-balancer"] {
        wait_for("the Service to reach the pod", PATIENCE, || {
            Ok((super::active::endpoints(&nats, service)? == [pod.clone()]).then_some(()))
        })
        .expect("endpoints");
        let url = format!("http://{service}:4222/");
        let words = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", &url];
        let code =
            wait_for("an answer", PATIENCE, || bed().exec(nats.namespace, &pod, &words).map(Some))
                .expect("an answer");
        assert_eq!(code.trim(), "404", "{service} should lead to busybox httpd");
    }
    let ingress = bed().get(nats.namespace, "ingress", "nats").expect("get");
    assert!(ingress.is_some());
    nats.end();
}
