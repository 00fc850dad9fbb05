//! Which Secrets the operator may create: those with the users of a ring, by name and type, and the
//! credentials of a RabbitmqCluster, by label and type, and no other.

use palladion_e2e::bed;
use serde_json::{Value, json};

use super::{NAMESPACE, operator, refused, two_members};

/// How the policy says it.
const SAID: &str = "the operator creates Secrets only with";

pub(super) fn of_rings_alone() {
    two_members();
    let secret = |name: &str, type_: &str, labels: Value| {
        // Without it Kubernetes refuses a token itself.
        let account = json!({ "kubernetes.io/service-account.name": "default" });
        let meta = json!({
            "name": name, "namespace": NAMESPACE, "labels": labels, "annotations": account,
        });
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": type_ }).to_string()
    };
    let create = |text: &str| operator().kubectl(&["create", "-f", "-"], text);
    let user = |name: &str, labels: Value| {
        let mut object: Value =
            serde_json::from_str(&secret(name, "kubernetes.io/basic-auth", labels)).expect("JSON");
        object["stringData"] = json!({ "username": "u", "password": "p" });
        object.to_string()
    };
    let of = |cluster: &str| json!({ "palladion.dev/cluster": cluster });
    let of_queue = || json!({ "palladion.dev/rabbitmq": "queue" });
    for text in [
        user("other-agents", of("demo")),
        user("demo-agents", json!({})),
        user("demo", of("demo")),
        user("demo-agents-superuser", of("demo")),
        secret("demo-agents", "Opaque", of("demo")),
        secret("demo-superuser", "kubernetes.io/service-account-token", of("demo")),
        secret("token", "kubernetes.io/service-account-token", json!({})),
        // The credentials of a RabbitmqCluster are of no type that means something, and labelled.
        secret("queue-rmq", "Opaque", json!({})),
        secret("queue-rmq", "kubernetes.io/service-account-token", of_queue()),
        user("queue-rmq", of_queue()),
    ] {
        refused(create(&text), SAID);
    }
    for name in ["demo-agents", "demo-superuser"] {
        create(&user(name, of("demo"))).expect("a user of a ring");
        bed().kubectl(&format!("delete secret {name} -n {NAMESPACE}")).expect("removed");
    }
    create(&secret("queue-rmq", "Opaque", of_queue())).expect("credentials of a RabbitmqCluster");
    bed().kubectl(&format!("delete secret queue-rmq -n {NAMESPACE}")).expect("removed");
    // What it has created it cannot read.
    operator()
        .kubectl(&["get", "secrets", "-n", NAMESPACE], "")
        .expect_err("the operator reads no Secret of a ring");
}
