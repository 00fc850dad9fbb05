//! The NetworkPolicy of a ring: the object alone, since the network of the testbed enforces none.

use std::collections::BTreeSet;

use palladion_e2e::bed::text;
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use super::{NAMESPACE, SOON};

const KIND: &str = "networkpolicy";
const NAME: &str = "secure-dc1";

/// A ring that runs gets one, keeps it as it should be and loses it, and no pod is restarted.
pub fn comes_is_put_back_and_goes(ring: &Ring<'_>) {
    let before = pods();
    assert_eq!(policy(), None, "nobody has asked for it");
    ask(&json!({ "policy": "Managed" }));
    let right = wait_for("the policy", SOON, || Ok(policy())).expect("it comes");
    let everybody = json!({ "ports": [{ "port": 9042, "protocol": "TCP" }] });
    assert_eq!(right["ingress"][1], everybody, "{right}");
    // What the API server makes of it is what was meant: nothing is written again.
    ring.wait_settled().expect("at rest");
    let mut wider = right.clone();
    wider["ingress"][0]["from"][0]["namespaceSelector"] = json!({});
    bed().patch(NAMESPACE, KIND, NAME, &json!({ "spec": wider })).expect("a user changes it");
    let is_right = || Ok((policy().as_ref() == Some(&right)).then_some(()));
    wait_for("the policy as it was", SOON, is_right).expect("put back");
    ask(&json!({ "policy": "None" }));
    let is_gone = || Ok(policy().is_none().then_some(()));
    wait_for("no policy", SOON, is_gone).expect("deleted");
    assert_eq!(pods(), before, "no pod is restarted");
}

fn ask(network: &Value) {
    let patch = json!({ "spec": { "network": network } });
    bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &patch).expect("patch");
}

fn policy() -> Option<Value> {
    let policy = bed().get(NAMESPACE, KIND, NAME).expect("an answer");
    policy.map(|policy| policy["spec"].clone())
}

fn pods() -> BTreeSet<String> {
    let pods = bed().list(NAMESPACE, "pods").expect("pods");
    let members =
        pods.iter().filter(|pod| pod["metadata"]["labels"]["palladion.dev/cluster"].is_string());
    members.map(|pod| text(pod, "/metadata/uid").to_string()).collect()
}
