//! Objects that somebody deletes: what is lost with them, and what is not.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed::text;
use palladion_e2e::fields::INITIALIZATION;
use palladion_e2e::{Ring, Writes, bed, wait_for};
use serde_json::json;

use super::{NAMESPACE, SOON, three_members};

pub(super) fn status(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let erase = json!([{ "op": "remove", "path": "/status" }]).to_string();
    bed()
        .cluster
        .kubectl(&[
            "patch",
            "cassandracluster",
            "ring",
            "-n",
            NAMESPACE,
            "--subresource=status",
            "--type=json",
            "-p",
            &erase,
        ])
        .expect("erase");
    ring.wait_ready(3).expect("all ready");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    assert!(
        ring.cluster().expect("cluster")["status"][INITIALIZATION].is_null(),
        "a ring that exists is not initialized again"
    );
    ring.check_data().expect("all rows");
}

const FIRST: &str = "ring-dc1-a-0";

/// Services of somebody else get the addresses as soon as they are free; their names.
fn taken_by_strangers(addresses: &[String]) -> Vec<String> {
    let take = |(number, address): (usize, &String)| {
        let name = format!("stranger-{number}");
        let service = json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": { "name": name },
            "spec": { "clusterIP": address, "ports": [{ "port": 80 }] },
        });
        wait_for("the address to be free", SOON, || {
            Ok(bed().apply(NAMESPACE, &service.to_string()).is_ok().then_some(()))
        })
        .expect("taken");
        name
    };
    addresses.iter().enumerate().map(take).collect()
}

fn strangers_go(names: &[String]) {
    let words = format!("delete service {} -n {NAMESPACE}", names.join(" "));
    bed().kubectl(&words).expect("delete");
}

fn address_of(ring: &Ring<'_>, member: &str) -> String {
    text(&ring.member(member).expect("member"), "/spec/address").to_string()
}

/// The cluster is deleted, strangers take these addresses, and it is created again.
fn made_again(taken: &[String]) -> Vec<String> {
    bed()
        .kubectl(&format!("delete cassandracluster ring -n {NAMESPACE} --wait=true --timeout=120s"))
        .expect("delete");
    wait_for("the members to be gone", Duration::from_secs(120), || {
        Ok(bed().list(NAMESPACE, "cassandramembers")?.is_empty().then_some(()))
    })
    .expect("gone");
    assert_eq!(
        bed().list(NAMESPACE, "persistentvolumeclaims").expect("claims").len(),
        3,
        "the data stays"
    );
    let strangers = taken_by_strangers(taken);
    bed().apply(NAMESPACE, &three_members().manifest(NAMESPACE)).expect("apply");
    strangers
}

fn without_the_first(ring: &Ring<'_>, address: &str) -> String {
    let said = ring.wait_reason("Degraded", Reason::AddressTaken, SOON).expect("it is told");
    assert!(said.contains(FIRST) && said.contains(address), "{said}");
    wait_for("the other two", SOON, || {
        Ok((ring.cluster()?["status"]["members"] == "2/3").then_some(()))
    })
    .expect("they start without it");
    said
}

/// The same members as before, in one ring, with all rows.
fn are_the_same(ring: &Ring<'_>, ids: &[(String, String)]) {
    ring.wait_ready(3).expect("all ready");
    ring.wait_settled().expect("settled");
    ring.wait_alike(3).expect("one ring of three");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    assert!(
        ring.cluster().expect("cluster")["status"][INITIALIZATION].is_null(),
        "no ring is initialized over data"
    );
    ring.check_data().expect("all rows");
}

pub(super) fn cluster_made_again(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let address = address_of(ring, FIRST);
    let strangers = made_again(std::slice::from_ref(&address));
    without_the_first(ring, &address);
    strangers_go(&strangers);
    are_the_same(ring, &ids);
    assert_eq!(address_of(ring, FIRST), address, "it has its address again");
}

/// What `nodetool status` of a member says: host ID by address.
fn sees(member: &str) -> Vec<(String, String)> {
    let said = bed().exec(NAMESPACE, member, &["nodetool", "status"]).expect("nodetool status");
    let lines = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let members = lines.filter(|words| words.first() == Some(&"UN"));
    members.map(|words| (words[1].to_string(), words[words.len() - 2].to_string())).collect()
}

/// Every member has each other under the address that is on record.
fn all_see_the_addresses(ring: &Ring<'_>) {
    let mut expected: Vec<(String, String)> = ring
        .members()
        .expect("members")
        .iter()
        .map(|m| (text(m, "/spec/address").to_string(), text(m, "/status/hostID").to_string()))
        .collect();
    expected.sort();
    for member in ring.member_names().expect("names") {
        let mut seen = sees(&member);
        seen.sort();
        assert_eq!(seen, expected, "as {member} has it");
    }
}

/// The member whose address somebody else has gets another one, by the command that
/// the condition shows: the same host ID under the new address, and no ghost.
pub(super) fn address_given_up(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let address = address_of(ring, FIRST);
    let strangers = made_again(std::slice::from_ref(&address));
    let said = without_the_first(ring, &address);
    let command = format!(
        "annotate -n {NAMESPACE} cassandracluster ring --overwrite palladion.dev/give-up-addresses={address}"
    );
    assert!(said.contains(&command), "it says what to do: {said}");
    let writing = ring.writing(Writes::Rows).expect("writing");
    bed().kubectl(&command).expect("annotate");
    ring.wait_ready(3).expect("all ready");
    writing.stop().expect("written");
    are_the_same(ring, &ids);
    let now = address_of(ring, FIRST);
    assert_ne!(now, address, "another address");
    all_see_the_addresses(ring);
    let claim = bed().get(NAMESPACE, "persistentvolumeclaim", &format!("data-{FIRST}"));
    let claim = claim.expect("get").expect("its claim");
    assert_eq!(claim["metadata"]["annotations"]["palladion.dev/address"], now.as_str());
    strangers_go(&strangers);
    // What it has now it keeps: its pod and its machine may go.
    bed().delete(NAMESPACE, "pod", FIRST).expect("delete");
    are_the_same(ring, &ids);
    assert_eq!(address_of(ring, FIRST), now);
}

/// Nobody gets its address again, as where volumes are moved to another cluster: the
/// first member starts by a user's word, the others by what it sees.
pub(super) fn all_addresses_given_up(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let names = ring.member_names().expect("names");
    let addresses: Vec<String> = names.iter().map(|name| address_of(ring, name)).collect();
    let strangers = made_again(&addresses);
    ring.wait_reason("Degraded", Reason::AddressTaken, SOON).expect("it is told");
    std::thread::sleep(Duration::from_secs(20));
    let starts = ring.members().expect("members").len();
    assert_eq!(starts, 0, "nobody has an address, so nobody has a record");
    let given_up = addresses.join(",");
    let command = format!(
        "annotate -n {NAMESPACE} cassandracluster ring --overwrite palladion.dev/give-up-addresses={given_up}"
    );
    bed().kubectl(&command).expect("annotate");
    are_the_same(ring, &ids);
    all_see_the_addresses(ring);
    for name in names {
        assert!(!addresses.contains(&address_of(ring, &name)), "{name} has another address");
    }
    strangers_go(&strangers);
}

pub(super) fn policy_delete(ring: &Ring<'_>) {
    let policy = json!({ "spec": { "deletionPolicy": "Delete" } });
    bed().patch(NAMESPACE, "cassandracluster", "ring", &policy).expect("patch");
    wait_for("the finalizer", SOON, || {
        let cluster = ring.cluster()?;
        Ok(cluster["metadata"]["finalizers"][0].is_string().then_some(()))
    })
    .expect("the finalizer is set");
    bed()
        .kubectl(&format!("delete cassandracluster ring -n {NAMESPACE} --wait=false"))
        .expect("delete");
    let said = ring.wait_reason("Progressing", Reason::Deleting, SOON).expect("what it waits for");
    assert!(said.contains("stopped") || said.contains("PersistentVolumeClaim"), "{said}");
    let words = format!("wait --for=delete cassandracluster/ring -n {NAMESPACE} --timeout=180s");
    bed().kubectl(&words).expect("its end");
    let claims = bed().list(NAMESPACE, "persistentvolumeclaims").expect("claims");
    assert!(claims.is_empty(), "{} claims are left", claims.len());
}
