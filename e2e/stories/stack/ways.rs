//! The less usual ways of a Component and of a Stack: addresses of nodes, all of a dependency,
//! all pods at once, and what goes with a Stack.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::stack::{PATIENCE, Services, example};
use palladion_e2e::wait_for;
use palladion_testbed::audit::{AuditEntry, AuditMark};
use serde_json::{Value, json};

use super::manifest::service;

const VERSION: &str = "palladion.dev/v1alpha1";

/// A Component of the stand-in, with these fields of its spec besides.
fn component(name: &str, port: u16, more: &Value) -> Value {
    let mut spec = json!({
        "network": { "ports": [{ "name": "http", "port": port }] },
        "template": { "spec": { "terminationGracePeriodSeconds": 1, "containers": [{
            "name": "c", "image": "palladion.dev/tools:dev",
            "command": ["standin", "--port", port.to_string()],
        }] } },
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        match (spec[field].as_object_mut(), value.as_object()) {
            (Some(into), Some(more)) => into.extend(more.clone()),
            _ => spec[field] = value.clone(),
        }
    }
    json!({ "apiVersion": VERSION, "kind": "Component", "metadata": { "name": name },
            "spec": spec })
}

/// All of a dependency are waited for, on the network of their nodes; a change of it takes all pods
/// above away before one of them is back.
pub(super) fn nodes_all_at_once() {
    let mut below = component(
        "below",
        18_080,
        &json!({
            "replicas": 1,
            "network": { "addresses": "HostNetwork" },
            "readiness": { "http": { "container": "c", "port": 18_080, "host": "PodIP" } },
        }),
    );
    // By its port the scheduler knows that a node has room for one.
    below["spec"]["template"]["spec"]["containers"][0]["ports"] =
        json!([{ "containerPort": 18_080 }]);
    let mut above = component(
        "above",
        8080,
        &json!({
            "replicas": 2,
            "dependsOn": [{ "kind": "Component", "name": "below", "minimum": "All" }],
            "config": { "files": [{ "name": "conf",
                "template": "below = {{ dependencies.below.addresses | join(\",\") }}\n" }] },
            "reload": { "policy": "Recreate" },
        }),
    );
    let container = &mut above["spec"]["template"]["spec"]["containers"][0];
    container["command"] = json!(["standin", "--config", "/configs/$(POD_NAME).conf"]);
    container["env"] = json!([{ "name": "POD_NAME",
        "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }]);
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": [below, above] });
    let services = Services::start("stack-ways", &list.to_string());
    let below = services.wait_ready("component", "below");
    services.wait_ready("component", "above");
    let pod = services.pod("below-0");
    let host = pod["status"]["hostIP"].as_str().expect("a node").to_string();
    assert_eq!(pod["status"]["podIP"], host.as_str(), "it is on the network of its node");
    assert_eq!(below["status"]["service"]["nodes"][0]["address"], host.as_str());
    let read = |pod: &str| services.loads(pod).expect("the stand-in");
    assert_eq!(read("above-0")[0].2, format!("below = {host}\n"));
    // A second one below, of which the scheduler has another node.
    let old: Vec<String> = ["above-0", "above-1"].map(|pod| services.uid(pod)).to_vec();
    let mark = bed().cluster.audit_mark().expect("the audit log");
    services.patch("component", "below", &json!({ "spec": { "replicas": 2 } }));
    wait_for("both pods to be new", PATIENCE, || {
        let all = ["above-0", "above-1"].map(|pod| services.get("pod", pod).unwrap_or_default());
        let is_new = |pod: &Value| {
            pod["metadata"]["uid"].as_str().is_some_and(|uid| old.iter().all(|o| o != uid))
        };
        Ok(all.iter().all(is_new).then_some(()))
    })
    .expect("all at once");
    gone_before_any_was_back(&services, mark);
    services.wait_ready("component", "above");
    let second = services.pod("below-1")["status"]["hostIP"].clone();
    assert_ne!(second, host.as_str(), "one port of a node is one pod's");
    for pod in ["above-0", "above-1"] {
        let loads = read(pod);
        let both = second.as_str().is_some_and(|second| loads[0].2.contains(second));
        assert!(loads.len() == 1 && both && loads[0].2.contains(&host), "{pod}: {loads:?}");
    }
    // With one of two away, a pod above that starts waits, since all are asked for.
    let uid = services.uid("above-0");
    {
        let pod = services.pod("below-0");
        let mut others = super::agents::workers(&bed().cluster);
        others.retain(|node| pod["spec"]["nodeName"] != node.as_str());
        let _only_its_node = bed().cordon(&others).expect("cordoned");
        for pod in ["below-1", "above-0"] {
            bed().delete(services.namespace, "pod", pod).expect("deleted");
        }
        let waiting = Reason::WaitingForDependency.as_str();
        services.wait_says(("component", "above"), "DependenciesReady", "False", waiting);
        let is_waiting = |pod: &Value| {
            let init = &pod["status"]["initContainerStatuses"][0]["state"];
            pod["metadata"]["uid"] != uid.as_str() && init["running"].is_object()
        };
        services.wait(("pod", "above-0"), "its gate to be waiting", is_waiting);
        std::thread::sleep(Duration::from_secs(10));
        let pod = services.pod("above-0");
        assert!(is_waiting(&pod), "one of two is not all: {}", pod["status"]);
    }
    services.wait_ready("component", "below");
    services.wait_ready("component", "above");
    services.end();
}

/// By the audit log: kubelets have removed both pods that were there, after their containers had
/// ended, before the first one was created again.
fn gone_before_any_was_back(services: &Services, since: AuditMark) {
    let of_pods = |user: &str, verb: &str| -> Vec<AuditEntry> {
        let all = bed().cluster.audit_entries(since, user).expect("the audit log");
        let ours = |e: &AuditEntry| {
            (e.verb.as_str(), e.resource.as_str(), e.subresource.as_str()) == (verb, "pods", "")
                && e.namespace == services.namespace
                && (200..300).contains(&e.code)
        };
        all.into_iter().filter(ours).collect()
    };
    let time = |e: &AuditEntry| e.time.parse::<jiff::Timestamp>().expect("a time of the audit log");
    let removed = of_pods("system:node:", "delete");
    let removed: Vec<&AuditEntry> =
        removed.iter().filter(|e| e.name.starts_with("above-")).collect();
    assert_eq!(removed.len(), 2, "{removed:?}");
    // The log does not name what is created. The first is the second one below, of which those
    // above are told.
    let mut created: Vec<jiff::Timestamp> =
        of_pods("system:serviceaccount:kube-system:statefulset-controller", "create")
            .iter()
            .map(time)
            .collect();
    created.sort_unstable();
    assert_eq!(created.len(), 3, "{created:?}");
    for gone in removed {
        let (at, back) = (time(gone), created[1]);
        assert!(at < back, "{} was removed at {at}, and a pod was back at {back}", gone.name);
    }
}

/// What is common reaches every child that can take it; what a Stack has created goes with it
/// where it says so, and what it was given stays.
pub(super) fn common_and_deleted() {
    let own = component("given", 8080, &json!({}));
    let mut own = own;
    own["metadata"]["labels"] = json!({ "palladion.dev/stack": "all" });
    let services = Services::start("stack-deleted", &own.to_string());
    let child = |name: &str, create: bool| {
        json!({ "name": name, "kind": "Component", "activate": true, "create": create,
                "spec": component(name, 8080, &json!({}))["spec"] })
    };
    let stack = json!({
        "apiVersion": VERSION, "kind": "Stack", "metadata": { "name": "all" },
        "spec": {
            "deletionPolicy": "Delete",
            "common": {
                "replicas": 2,
                "nodeSelector": { "kubernetes.io/os": "linux" },
                "tolerations": [{ "key": "example.com/maintenance", "operator": "Exists" }],
            },
            "services": [child("made", true), child("left", true), child("given", false)],
        },
    });
    services.apply(&stack.to_string());
    services.wait(("stack", "all"), "all services to be ready", |o| o["status"]["ready"] == "3/3");
    for name in ["made", "given"] {
        let pod = services.pod(&format!("{name}-1"));
        assert_eq!(pod["spec"]["nodeSelector"]["kubernetes.io/os"], "linux", "{name}");
        let tolerations = pod["spec"]["tolerations"].to_string();
        assert!(tolerations.contains("example.com/maintenance"), "{name}: {tolerations}");
    }
    // A service that is taken out stays, and no longer goes with the Stack.
    let fewer = json!({ "spec": { "services": [child("made", true), child("given", false)] } });
    services.patch("stack", "all", &fewer);
    let stack = services.wait(("stack", "all"), "one to be left behind", |o| {
        o["status"]["leftBehind"].as_array().is_some_and(|left| !left.is_empty())
    });
    assert!(stack["status"]["leftBehind"].to_string().contains("left"), "{}", stack["status"]);
    assert_eq!(service(&stack, "given")["created"], false);
    services.wait(("component", "left"), "the Stack to own it no longer", |o| {
        o["metadata"]["ownerReferences"].as_array().is_none_or(Vec::is_empty)
    });
    bed().kubectl("delete stack all -n stack-deleted --wait=true").expect("deleted");
    wait_for("what it created to go", PATIENCE, || {
        Ok(services.get("component", "made").is_err().then_some(()))
    })
    .expect("gone with the Stack");
    std::thread::sleep(Duration::from_secs(10));
    for name in ["left", "given"] {
        let kept = services.get("component", name).expect("it stays");
        assert!(kept["metadata"]["deletionTimestamp"].is_null(), "{name}");
    }
    services.end();
}

/// Agents that are replaced only when somebody deletes them, and then are those of the new spec.
pub(super) fn on_delete() {
    let nodes = super::agents::workers(&bed().cluster);
    let labelled = super::agents::Labelled("example.com/router");
    labelled.set(&nodes[0], "kernel");
    labelled.set(&nodes[1], "kernel");
    let manifest = example("node-agents").replace(
        "  nodeSelector: {example.com/router: kernel}\n",
        "  nodeSelector: {example.com/router: kernel}\n  upgradeStrategy: onDelete\n",
    );
    let services = Services::start("stack-on-delete", &manifest);
    services.wait_ready("nodeagentgroup", "kernel");
    let pods = || -> Vec<(String, String)> {
        let all = bed().list(services.namespace, "pods").expect("pods");
        let text = |p: &Value, field: &str| p["metadata"][field].as_str().unwrap_or("").to_owned();
        all.iter().map(|p| (text(p, "name"), text(p, "uid"))).collect()
    };
    let before = pods();
    assert_eq!(before.len(), 2, "{before:?}");
    let image = json!([{ "name": "router", "image": "palladion.dev/tools:dev",
        "command": ["standin", "--config", "/configs/kernel.router.conf"],
        "env": [{ "name": "CHANGED", "value": "yes" }] }]);
    services.patch(
        "nodeagentgroup",
        "kernel",
        &json!({ "spec": { "template": { "spec": { "containers": image } } } }),
    );
    std::thread::sleep(Duration::from_secs(15));
    assert_eq!(pods(), before, "nobody is restarted");
    bed().delete(services.namespace, "pod", &before[0].0).expect("deleted");
    wait_for("an agent of the new spec", PATIENCE, || {
        let all = bed().list(services.namespace, "pods")?;
        let changed = all.iter().filter(|p| p["spec"].to_string().contains("CHANGED")).count();
        Ok((all.len() == 2 && changed == 1).then_some(()))
    })
    .expect("one is new");
    assert!(pods().contains(&before[1]), "the other one is as it was");
    services.end();
}
