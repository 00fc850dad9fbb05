//! An upgrade that a machine lost in its middle holds up. It takes minutes, and
//! the simulator kills the operator at each of its writes: `cargo xtask soak`.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::fields::STEP_REPLACE;
use palladion_e2e::story::Story;
use palladion_e2e::wanted::{OLDER_VERSION, VERSION};
use palladion_e2e::{Ring, a_ring, wait_for};
use serde_json::{Value, json};

const NAMESPACE: &str = "upgrade";
const MEMBERS: usize = 3;
/// The last in the order in which members are restarted.
const LAST: &str = "upgrade-dc1-b-0";
/// A replacement sleeps for 60 s, by Cassandra's own rule, besides streaming.
const PATIENCE: Duration = Duration::from_secs(600);

pub fn story() -> Story {
    let older = a_ring().version(OLDER_VERSION).racks(&[("a", 2), ("b", 1)]).rows(2);
    Story::named(NAMESPACE)
        .breaks_machines()
        .ring(older.line("nodeGoneGraceSeconds: 0"))
        .step(
            "an upgrade goes on without a lost member when a person says so",
            without_a_lost_member,
        )
        .in_soak()
        .leaves_no_ring()
        .into()
}

fn runs(ring: &Ring<'_>, version: &str) -> anyhow::Result<Vec<String>> {
    let is = |m: &&Value| m["status"]["server"]["version"] == version;
    let name = |m: &Value| m["metadata"]["name"].as_str().map(str::to_string);
    Ok(ring.members()?.iter().filter(is).filter_map(name).collect())
}

fn without_a_lost_member(ring: &Ring<'_>) {
    let bed = ring.bed;
    let node = bed.node_of(NAMESPACE, LAST).expect("its node");
    for other in ring.member_names().expect("names") {
        let its = bed.node_of(NAMESPACE, &other).expect("its node");
        assert_eq!(its == node, other == LAST, "two lost are another story");
    }
    let node = bed.cluster.node(&node).expect("a node");
    bed.move_operator_from(node).expect("moved");
    let old = ring.member(LAST).expect("member")["spec"]["hostID"].clone();

    let change = json!({ "spec": { "version": VERSION } });
    bed.patch(NAMESPACE, "cassandracluster", NAMESPACE, &change).expect("patch");
    wait_for("the first to be upgraded", PATIENCE, || {
        Ok((!runs(ring, VERSION)?.is_empty()).then_some(()))
    })
    .expect("upgraded");
    bed.cluster.power_off(node).expect("power off");
    bed.cluster.delete_node_object(node).expect("delete");
    ring.loses_a_volume();
    ring.wait_told("Degraded", Reason::MixedVersions, "palladion.dev/upgrade-without=", PATIENCE)
        .expect("told what to do");
    // Nobody is replaced while two lines run, whatever the grace time.
    std::thread::sleep(Duration::from_secs(20));
    let lost = ring.member(LAST).expect("member");
    assert_eq!(lost["spec"]["hostID"], old);
    assert_ne!(lost["spec"]["start"]["kind"], STEP_REPLACE);
    assert!(runs(ring, VERSION).expect("members").len() < MEMBERS);

    let annotation =
        json!({ "metadata": { "annotations": { "palladion.dev/upgrade-without": "" } } });
    bed.patch(NAMESPACE, "cassandramember", LAST, &annotation).expect("patch");
    wait_for("all to run the newer line", PATIENCE, || {
        Ok((runs(ring, VERSION)?.len() == MEMBERS).then_some(()))
    })
    .expect("upgraded");
    ring.wait_ready(3).expect("all ready");
    ring.wait_alike(MEMBERS).expect("one ring, no ghost");
    ring.wait_settled().expect("settled");
    let new = ring.member(LAST).expect("member")["spec"]["hostID"].clone();
    assert_ne!(old, new, "it was replaced");
    bed.cluster.power_on(node).expect("power on");
    bed.wait_node_is_back(node).expect("back");
    ring.restart_client().expect("client");
    ring.wait_alike(MEMBERS).expect("one ring");
    ring.check_data().expect("all rows");
}
