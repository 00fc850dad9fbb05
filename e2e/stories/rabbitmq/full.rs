//! The example with everything in it, applied, and what its nodes and clients find of it.

use std::collections::BTreeMap;
use std::time::Instant;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text, wait_for};
use palladion_e2e::rabbitmq::{Client, Cluster, PATIENCE, VERSION, example};
use serde_json::{Value, json};

/// As the example calls it.
const NAME: &str = "messages";
const VHOST: &str = "orders";
/// Who may use it: of the Secret with the credentials, and of the definitions.
const OWNER: (&str, &str) = ("owner", "owns-orders-0123456789");
const CLERK: (&str, &str) = ("clerk", "writes-orders-01");
/// The password that the clerk gets later.
const NEXT: &str = "writes-orders-02";
/// Salted and hashed, as RabbitMQ exports them.
const HASHES: [&str; 2] = [
    "AQIDBF9pQ8CxHDUYSH1463Y+Scy40z5KOVVmWO8vwQO1Jc2C",
    "BQYHCDAL5vWcmhfUC+2xSWmiDHYHQeBGBfNC4Ow9ydstmIy2",
];

/// What the testbed cannot have is replaced: it has three machines with small disks and one
/// version. The ports are the defaults in the example.
fn manifest() -> Value {
    let mut object: Value = serde_yaml::from_str(&example("full")).expect("the example");
    assert_eq!(object["metadata"]["name"], NAME);
    let spec = &mut object["spec"];
    assert_eq!(spec["vhost"], VHOST);
    spec["nodes"] = json!(3);
    spec["version"] = json!(VERSION);
    spec["repository"] = json!("palladion.dev/rabbitmq");
    spec["storage"]["volumeClaimTemplate"]["spec"]["resources"]["requests"]["storage"] =
        json!("1Gi");
    spec["ports"] = json!({ "amqp": 5673, "distribution": 25673, "management": 15673 });
    object
}

fn secret(name: &str, data: &BTreeMap<&str, String>) {
    let secret = json!({ "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": name }, "stringData": data });
    bed().apply(NAME, &secret.to_string()).expect("a Secret");
}

/// A user, a policy and queues, as an export has them.
fn define(hash: &str, most: u32, queues: &[&str]) {
    let queue = |name: &&str| {
        json!({ "name": name, "vhost": VHOST, "durable": true, "auto_delete": false,
            "arguments": { "x-queue-type": "quorum" } })
    };
    let definitions = json!({
        "rabbitmq_version": VERSION,
        "users": [{ "name": CLERK.0, "password_hash": hash,
            "hashing_algorithm": "rabbit_password_hashing_sha256", "tags": [] }],
        "permissions": [{ "user": CLERK.0, "vhost": VHOST,
            "configure": "", "write": ".*", "read": ".*" }],
        "policies": [{ "vhost": VHOST, "name": "short", "pattern": ".*", "apply-to": "queues",
            "priority": 0, "definition": { "max-length": most } }],
        "queues": queues.iter().map(queue).collect::<Vec<_>>(),
    });
    let data = BTreeMap::from([("definitions.json", definitions.to_string())]);
    secret("messages-definitions", &data);
}

/// Wait until other definitions are on record than these; their hash.
fn imported(cluster: &Cluster, before: &Value) -> Value {
    let found = cluster.service().wait("definitions to be imported", |o| {
        let hash = &o["status"]["definitionsHash"];
        hash.is_string() && hash != before
    });
    found["status"]["definitionsHash"].clone()
}

/// What each node answers.
fn each_says(cluster: &Cluster, expression: &str, expected: &str) {
    for ordinal in 0..3 {
        let told = cluster.ctl(ordinal, &["eval", expression]);
        let pod = cluster.service().member_name(ordinal);
        assert!(told.contains(expected), "{pod}: {expression} is {told}");
    }
}

pub fn all_of_it() {
    let cluster = Cluster { name: NAME };
    let service = cluster.service();
    bed().fresh_namespace(NAME).expect("a namespace");
    let credentials = BTreeMap::from([
        ("erlang-cookie", "COOKIEOFTHEUSERSOWN".to_string()),
        ("agent-password", "of-the-agents-0123456789".to_string()),
        ("username", OWNER.0.to_string()),
        ("password", OWNER.1.to_string()),
    ]);
    secret("messages-credentials", &credentials);
    define(HASHES[0], 1000, &["incoming"]);
    let begin = Instant::now();
    service.apply(&manifest().to_string());
    cluster.wait_nodes(3);
    let formed = begin.elapsed();
    let first = imported(&cluster, &Value::Null);
    let own = bed().get(NAME, "secret", "messages-rmq").expect("get");
    assert!(own.is_none(), "no Secret is made beside that of the user");
    settings(&cluster);
    clients(&cluster);
    let changed = imported_again(&cluster, &first);
    autoheal(&cluster);
    println!(
        "figure: rmq-full: formed in {:.0} s, changed definitions imported in {:.0} s",
        formed.as_secs_f64(),
        changed.as_secs_f64()
    );
    service.end();
}

/// What the example sets, as each node has it.
fn settings(cluster: &Cluster) {
    each_says(cluster, "application:get_env(rabbit, vm_memory_high_watermark).", "{ok,0.6}");
    each_says(cluster, "application:get_env(rabbit, disk_free_limit).", "2GB");
    each_says(
        cluster,
        "application:get_env(rabbit, cluster_partition_handling).",
        "pause_minority",
    );
    each_says(cluster, r#"os:getenv("TZ")."#, "Etc/UTC");
    each_says(cluster, "erlang:get_cookie().", "COOKIEOFTHEUSERSOWN");
    for ordinal in 0..3 {
        let pod = cluster.service().member_name(ordinal);
        let list = ["rabbitmq-plugins", "--quiet", "list", "--enabled", "--minimal"];
        let told = bed().exec(NAME, &pod, &list).expect("rabbitmq-plugins");
        let plugins: Vec<&str> = told.split_whitespace().collect();
        for plugin in ["rabbitmq_management", "rabbitmq_prometheus"] {
            assert!(plugins.contains(&plugin), "{pod}: {plugins:?}");
        }
    }
    let ports = cluster.service().status()["service"]["ports"].take();
    assert_eq!(ports["amqp"], 5673, "{ports:#}");
}

/// Both users work in their virtual host, and nobody in another.
fn clients(cluster: &Cluster) {
    let nodes = cluster.forwarded().expect("forwarded");
    assert_eq!(nodes.len(), 3);
    for (number, node) in nodes.iter().enumerate() {
        let mut clerk = Client::open_in(*node, CLERK, VHOST).expect("the clerk logs in");
        clerk.publish("incoming", &format!("order {number}")).expect("confirmed");
        let elsewhere = Client::open_in(*node, CLERK, "/");
        assert!(elsewhere.is_err(), "the clerk has no rights in any other");
        let owner = Client::open_in(nodes[(number + 1) % 3], OWNER, VHOST);
        let taken = owner.expect("the owner logs in").take("incoming").expect("an answer");
        assert_eq!(taken, Some(format!("order {number}")));
        let guest = Client::open_in(*node, ("guest", "guest"), VHOST);
        assert!(guest.is_err(), "everybody knows the password of guest");
    }
    let may_not = Client::open_in(nodes[0], CLERK, VHOST).expect("the clerk logs in");
    assert!({ may_not }.queue("own", "quorum").is_err(), "the clerk configures nothing");
    assert_eq!(policies(cluster), "incoming\tshort");
    let replicas =
        "[length(maps:get(nodes, amqqueue:get_type_state(Q))) || Q <- rabbit_amqqueue:list()].";
    assert_eq!(cluster.ctl(0, &["eval", replicas]).trim(), "[3]", "one queue, of three replicas");
}

/// Which policy each queue has.
fn policies(cluster: &Cluster) -> String {
    let list = ["list_queues", "-p", VHOST, "name", "policy", "--no-table-headers"];
    let mut lines: Vec<String> = cluster.ctl(0, &list).lines().map(str::to_string).collect();
    lines.sort();
    lines.join("\n").trim().to_string()
}

/// Another password, another limit and one more queue, and nobody is restarted.
fn imported_again(cluster: &Cluster, first: &Value) -> std::time::Duration {
    let nodes = cluster.forwarded().expect("forwarded");
    let pods = cluster.service().pods();
    let mut clerk = Client::open_in(nodes[0], CLERK, VHOST).expect("the clerk logs in");
    clerk.publish("incoming", "kept").expect("confirmed");
    define(HASHES[1], 500, &["incoming", "returned"]);
    let begin = Instant::now();
    imported(cluster, first);
    let took = begin.elapsed();
    cluster.wait_nodes(3);
    assert_eq!(cluster.service().pods(), pods, "nobody is restarted for that");
    let earlier = Client::open_in(nodes[1], CLERK, VHOST);
    assert!(earlier.is_err(), "the clerk has another password");
    let mut clerk = Client::open_in(nodes[1], (CLERK.0, NEXT), VHOST).expect("and logs in by it");
    clerk.publish("returned", "back").expect("confirmed");
    assert_eq!(clerk.take("incoming").expect("an answer").as_deref(), Some("kept"));
    assert_eq!(policies(cluster), "incoming\tshort\nreturned\tshort");
    let listed = cluster.ctl(0, &["list_policies", "-p", VHOST]);
    assert!(listed.contains(r#"{"max-length":500}"#), "{listed}");
    took
}

/// That changes may be thrown away is said as long as it is so.
fn autoheal(cluster: &Cluster) {
    let service = cluster.service();
    let partitioned = |o: &Value| condition(o, "Partitioned");
    let before = partitioned(&service.owner().expect("the object"));
    assert_eq!((&before["status"], &before["reason"]), (&json!("False"), &json!("UpToDate")));
    let pods = service.pods();
    service.patch_spec(&json!({ "partitionHandling": "Autoheal" }));
    let may = Reason::ChangesMayBeLost.as_str();
    let said = service.wait("the risk to be said", |o| partitioned(o)["reason"] == may);
    let said = partitioned(&said);
    assert_eq!(said["status"], "False", "nobody reports a partition");
    assert!(text(&said, "/message").contains("confirmed messages in classic queues"), "{said}");
    service.wait_new(&pods);
    cluster.wait_nodes(3);
    each_says(cluster, "application:get_env(rabbit, cluster_partition_handling).", "autoheal");
    let taken = wait_for("the message to be there", PATIENCE, || {
        let node = cluster.forwarded()?[2];
        Ok(Client::open_in(node, (CLERK.0, NEXT), VHOST)?.take("returned")?)
    });
    assert_eq!(taken.expect("a message"), "back");
}
