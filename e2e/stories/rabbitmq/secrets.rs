//! The credentials of a cluster are in its Secret, and nowhere else that people or programs
//! read: not in what operator and agents log, not in events, pods, status or any other object
//! of the namespace.

use palladion_e2e::bed;
use palladion_e2e::bed::{OPERATOR_NAMESPACE, text};
use palladion_e2e::rabbitmq::Cluster;
use serde_json::Value;

use super::forming::three;

/// What no log and no object may show.
const SECRET_KEYS: [&str; 3] = ["erlang-cookie", "agent-password", "password"];

/// Objects of the namespace besides Secrets: with their arguments, environment and status.
const KINDS: [&str; 9] = [
    "configmaps",
    "events",
    "persistentvolumeclaims",
    "poddisruptionbudgets",
    "pods",
    "rabbitmqclusters",
    "servicemembers",
    "services",
    "statefulsets",
];

/// A text, and where it was read.
struct Place {
    name: String,
    text: String,
}

pub fn are_nowhere() {
    let cluster = three();
    let places = places(&cluster);
    // The search finds what is there.
    let secret = format!("{}-rmq", cluster.name);
    for (known, place) in [
        (secret.as_str(), "pods"),
        (cluster.name, "log of the operator"),
        (cluster.name, "rabbitmqclusters"),
        (cluster.name, "servicemembers"),
        (cluster.name, "events"),
    ] {
        let found = found(&places, known);
        assert!(found.iter().any(|name| name.starts_with(place)), "{known} is not in {place}");
    }
    for key in SECRET_KEYS {
        let value = read(&cluster, key);
        assert!(value.len() >= 16, "{key} would be found by chance");
        // Base64 is how a Secret would show it.
        for shown in [value.clone(), encoded(&cluster, key)] {
            let found = found(&places, shown.trim_end_matches('='));
            assert!(found.is_empty(), "{key} is in {found:?}");
        }
    }
    println!("{} texts searched", places.len());
}

fn found<'a>(places: &'a [Place], word: &str) -> Vec<&'a str> {
    let has = places.iter().filter(|place| place.text.contains(word));
    has.map(|place| place.name.as_str()).collect()
}

fn places(cluster: &Cluster) -> Vec<Place> {
    let mut all = Vec::new();
    for kind in KINDS {
        let words = format!("get {kind} -n {} -o json --show-managed-fields", cluster.name);
        let text = bed().kubectl(&words).unwrap_or_else(|e| panic!("{kind}: {e:#}"));
        all.push(Place { name: kind.to_string(), text });
    }
    all.extend(logs(cluster.name, "log of pod"));
    let operator = logs(OPERATOR_NAMESPACE, "log of the operator");
    assert!(!operator.is_empty(), "there is an operator");
    all.extend(operator);
    for ordinal in 0..3 {
        all.push(processes(cluster, ordinal));
    }
    all
}

/// What the containers of a namespace have logged.
fn logs(namespace: &str, called: &str) -> Vec<Place> {
    let pods = bed().list(namespace, "pods").expect("pods");
    let log = |pod: &Value| {
        let name = text(pod, "/metadata/name");
        let words = format!("logs {name} -n {namespace} --all-containers --tail=-1");
        let text = bed().kubectl(&words).unwrap_or_else(|e| panic!("the log of {name}: {e:#}"));
        Place { name: format!("{called} {name}"), text }
    };
    pods.iter().map(log).collect()
}

/// Arguments and environment of every process in the pod of a member, as they are now.
fn processes(cluster: &Cluster, ordinal: u32) -> Place {
    let pod = cluster.service().member_name(ordinal);
    let script = "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/cmdline; tr '\\0' '\\n' < $p/environ; done 2>/dev/null; true";
    let text = bed().exec(cluster.name, &pod, &["sh", "-c", script]).expect("processes");
    assert!(text.contains("RABBITMQ_NODENAME"), "the environment of the node is read: {text}");
    Place { name: format!("processes of {pod}"), text }
}

fn read(cluster: &Cluster, key: &str) -> String {
    of_secret(cluster, &format!("{{{{index .data {key:?} | base64decode}}}}"))
}

fn encoded(cluster: &Cluster, key: &str) -> String {
    of_secret(cluster, &format!("{{{{index .data {key:?}}}}}"))
}

fn of_secret(cluster: &Cluster, template: &str) -> String {
    let (secret, output) = (format!("{}-rmq", cluster.name), format!("-o=go-template={template}"));
    let words = ["get", "secret", &secret, "-n", cluster.name, &output];
    bed().cluster.kubectl_with_input(&words, "").expect("the Secret")
}
