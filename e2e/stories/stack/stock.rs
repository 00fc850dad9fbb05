//! An image of Cassandra as it comes, whose configuration is found by the address of its pod.

use palladion_e2e::bed;
use palladion_e2e::stack::{Services, example};
use palladion_e2e::wait_for;

/// A server of Cassandra starts, on a machine that does more than this.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(300);
const POD: &str = "stock-cassandra-0";

pub(super) fn cassandra() {
    let services = Services::start("stack-stock", &example("stock-cassandra"));
    services.wait_long("component", "stock-cassandra");
    let first = reads_its_own(&services);
    let uid = services.uid(POD);
    bed().delete(services.namespace, "pod", POD).expect("deleted");
    wait_for("another pod to be ready", PATIENCE, || {
        let Ok(pod) = services.get("pod", POD) else { return Ok(None) };
        let container = &pod["status"]["containerStatuses"][0];
        let is_new = pod["metadata"]["uid"] != uid.as_str();
        Ok((is_new && container["ready"] == true).then_some(()))
    })
    .expect("a pod under another address");
    let second = reads_its_own(&services);
    assert_ne!(first, second, "each pod has an address of its own");
    services.end();
}

/// The server in the pod has the name, and listens at the address, of the text for this address
/// alone, which is returned.
fn reads_its_own(services: &Services) -> String {
    let pod = services.pod(POD);
    let ip = pod["status"]["podIP"].as_str().expect("an address").to_string();
    let map = services.get("configmap", "stock-cassandra-config").expect("the ConfigMap");
    let key = format!("{}.yaml", ip.replace(':', "-"));
    let text = map["data"][&key].as_str().unwrap_or_else(|| panic!("no {key}: {map}"));
    assert!(text.contains(&format!("listen_address: {ip}\n")), "{text}");
    let ask = |words: &[&str]| bed().exec(services.namespace, POD, words).expect("an answer");
    let line = ask(&["sh", "-c", "tr '\\0' '\\n' < /proc/1/cmdline"]);
    let wanted = format!("-Dcassandra.config=file:///configs/{key}");
    assert!(line.lines().any(|word| word == wanted), "{line}");
    let described = ask(&["nodetool", "describecluster"]);
    assert!(described.contains("Name: stock\n"), "{described}");
    let ring = ask(&["nodetool", "status"]);
    assert!(ring.lines().any(|l| l.starts_with("UN") && l.contains(&ip)), "{ring}");
    let keys: Option<Vec<&String>> = map["data"].as_object().map(|d| d.keys().collect());
    assert_eq!(keys, Some(vec![&key]), "one pod, one text: {}", map["data"]);
    ip
}
