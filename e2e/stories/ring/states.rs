//! One member by what users want of it: stopped while the ring serves, a restart
//! that is only recorded, started, terminated for good, and replaced.

use std::collections::BTreeSet;
use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed::text;
use palladion_e2e::{Ring, WantedRing, Writes, a_ring, bed, wait_for};
use serde_json::{Value, json};

use super::NAMESPACE;

const MEMBER: &str = "ring-dc1-b-0";
/// One of the two of its rack that are seeds by themselves.
const PINNED: &str = "ring-dc1-a-1";
/// Who is asked for in vain.
const NEW: &str = "ring-dc1-a-2";
const SOON: Duration = Duration::from_secs(300);
/// In which the operator asks the ring and gives a permit, where nothing forbids one.
const A_MOMENT: Duration = Duration::from_secs(8);
/// A replacement streams, after a ring delay.
const REPLACED_IN: Duration = Duration::from_secs(900);

fn racks(a: u32) -> WantedRing {
    a_ring().racks(&[("a", a), ("b", 1)])
}

/// The Service of clients names the members that serve, and no other.
fn clients_find(ring: &Ring<'_>, members: &[&str]) {
    let pods = bed().list(NAMESPACE, "pods").expect("pods");
    let is_wanted = |pod: &&Value| members.contains(&text(pod, "/metadata/name"));
    let wanted: BTreeSet<String> =
        pods.iter().filter(is_wanted).map(|pod| text(pod, "/status/podIP").to_string()).collect();
    assert_eq!(wanted.len(), members.len());
    let mut last = BTreeSet::new();
    let found = wait_for("the Service of clients to name who serves", SOON, || {
        // The client says with an error that it finds nobody.
        let said = ring.in_client(&["getent", "ahostsv4", "ring-client"]).unwrap_or_default();
        let first = |line: &str| line.split_whitespace().next().map(str::to_string);
        last = said.lines().filter_map(first).collect();
        Ok((last == wanted).then_some(()))
    });
    assert!(found.is_ok(), "{last:?} instead of {wanted:?}");
}

/// Nothing but the number of members changes: while one of them does not serve,
/// nobody joins. And who never joined goes when it is not wanted any more.
fn nobody_joins_meanwhile(ring: &Ring<'_>) {
    let ask = |a: u32| {
        bed().apply(NAMESPACE, &racks(a).manifest(NAMESPACE)).expect("apply");
    };
    ask(3);
    wait_for("the agent of the new member to report", SOON, || {
        let names = ring.member_names()?;
        let reports = names.iter().any(|n| n == NEW)
            && ring.member(NEW)?["status"]["agent"]["podUID"].is_string();
        Ok(reports.then_some(()))
    })
    .expect("its pod is there");
    // Once that is told it has been decided; whoever were to decide otherwise takes a moment.
    wait_for("the ring to tell what the new member waits for", SOON, || {
        let waits = ring.cluster()?["status"]["waits"].as_array().cloned().unwrap_or_default();
        let is_held_up = |wait: &Value| {
            wait["reason"] == Reason::StoppedByIntent.as_str() && wait.to_string().contains(NEW)
        };
        Ok(waits.iter().any(is_held_up).then_some(()))
    })
    .unwrap_or_else(|error| panic!("{error:#}: {:?}", ring.cluster().map(|c| c["status"].clone())));
    std::thread::sleep(A_MOMENT);
    let member = ring.member(NEW).expect("the new member");
    assert!(member["spec"]["start"].is_null(), "no permit: {}", member["spec"]);
    assert_eq!(member["status"]["server"]["state"], "Waiting", "{}", member["status"]["server"]);
    ask(2);
}

fn want(wanted: &Value) {
    let patch = json!({ "spec": { "wanted": wanted } });
    bed().patch(NAMESPACE, "cassandramember", MEMBER, &patch).expect("the wish is accepted");
}

fn wait_state(ring: &Ring<'_>, state: &str) -> Value {
    wait_for(&format!("the server to be {state}"), SOON, || {
        let member = ring.member(MEMBER)?;
        Ok((member["status"]["server"]["state"] == state).then_some(member))
    })
    .expect("the state that is wanted")
}

pub(super) fn stop_and_start(ring: &Ring<'_>) {
    let (ids, uids) = (ring.host_ids().expect("host IDs"), ring.pod_uids().expect("uids"));
    let writing = ring.writing(Writes::RowsAndRegisters).expect("writing");
    want(&json!({ "run": "Stopped" }));
    wait_state(ring, "Stopped");
    ring.wait_reason("Degraded", Reason::StoppedByIntent, SOON).expect("told");
    assert_eq!(ring.pod_uids().expect("uids"), uids, "its pod stays");
    clients_find(ring, &["ring-dc1-a-0", "ring-dc1-a-1"]);
    nobody_joins_meanwhile(ring);
    // A token starts nobody; it is recorded.
    want(&json!({ "restartToken": "meanwhile" }));
    wait_for("the token to be recorded", SOON, || {
        Ok(ring.member(MEMBER)?["spec"]["restartToken"].is_string().then_some(()))
    })
    .expect("recorded");
    let member = wait_state(ring, "Stopped");
    let starts = member["status"]["startHistory"].as_array().map_or(0, Vec::len);
    want(&json!({ "run": "Running" }));
    wait_state(ring, "Running");
    clients_find(ring, &["ring-dc1-a-0", "ring-dc1-a-1", MEMBER]);
    writing.stop().expect("QUORUM was reached all the time");
    ring.wait_members(3).expect("who never joined is gone");
    bed().delete(NAMESPACE, "pvc", &format!("data-{NEW}")).expect("its empty claim");
    ring.wait_settled().expect("settled");
    let member = ring.member(MEMBER).expect("the member");
    let after = member["status"]["startHistory"].as_array().map_or(0, Vec::len);
    assert_eq!(after, (starts + 1).min(5), "started once: {member}");
    assert_eq!(ring.host_ids().expect("host IDs"), ids, "no other members");
    ring.check_data().expect("all rows");
}

/// A second member is not stopped beside one that is, unless a user says so.
pub(super) fn a_second_one_now(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    want(&json!({ "run": "Stopped" }));
    wait_state(ring, "Stopped");
    is_refused("stopped", &json!({ "member": MEMBER }), Reason::MemberNotTerminated);
    let want_of_another = |wanted: &Value| {
        let patch = json!({ "spec": { "wanted": wanted } });
        bed().patch(NAMESPACE, "cassandramember", PINNED, &patch).expect("the wish is accepted");
    };
    let state = || ring.member(PINNED).expect("the member")["status"]["server"]["state"].clone();
    want_of_another(&json!({ "run": "Stopped" }));
    wait_for("the wish to be listed as unmet", SOON, || {
        let status = ring.cluster()?["status"].clone();
        let unmet = status["unmet"].as_array().into_iter().flatten();
        let is_listed = unmet.clone().any(|wish| wish["member"] == PINNED);
        let waits = status["waits"].to_string();
        Ok((is_listed && waits.contains("set `spec.wanted.when`")).then_some(()))
    })
    .expect("it waits, and says how it does not");
    std::thread::sleep(A_MOMENT);
    assert_eq!(state(), "Running", "it waits");
    want_of_another(&json!({ "run": "Stopped", "when": "Now" }));
    wait_for("it to be stopped all the same", SOON, || Ok((state() == "Stopped").then_some(())))
        .expect("it does not wait");
    let events = bed().list(NAMESPACE, "events.events.k8s.io").expect("events");
    let warns = |event: &&Value| {
        let note = text(event, "/note");
        event["type"] == "Warning" && note.contains("without regard to other members")
    };
    assert_eq!(events.iter().filter(warns).count(), 1, "an event warns");
    want_of_another(&json!({ "run": "Running", "when": "RingIsWell" }));
    want(&json!({ "run": "Running" }));
    ring.wait_ready(3).expect("both are back");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.host_ids().expect("host IDs"), ids, "no other members");
    ring.check_data().expect("all rows");
}

/// The seeds that a server has, but for itself.
fn seeds_of(member: &str) -> anyhow::Result<String> {
    bed().exec(NAMESPACE, member, &["nodetool", "getseeds"])
}

/// Users choose who is a seed, and no server restarts for it.
pub(super) fn pinned_as_a_seed(ring: &Ring<'_>) {
    let uids = ring.pod_uids().expect("uids");
    let member = ring.member(PINNED).expect("the member");
    let history = member["status"]["startHistory"].clone();
    let address = text(&member, "/spec/address").to_string();
    let others = ["ring-dc1-a-0", MEMBER];
    let all_name_it = |does: bool| {
        wait_for(&format!("the others to name {address} as a seed: {does}"), SOON, || {
            for other in others {
                if seeds_of(other)?.contains(&address) != does {
                    return Ok(None);
                }
            }
            Ok(Some(()))
        })
        .unwrap_or_else(|why| panic!("{why:#}: {:?}", others.map(seeds_of)));
    };
    let choose = |seed: &str| {
        let patch = json!({ "spec": { "wanted": { "seed": seed } } });
        bed().patch(NAMESPACE, "cassandramember", PINNED, &patch).expect("the wish is accepted");
    };
    all_name_it(true);
    choose("Never");
    all_name_it(false);
    choose("Always");
    all_name_it(true);
    is_refused("pinned", &json!({ "member": PINNED }), Reason::MemberIsPinnedSeed);
    // Of all that stands in its way the first is said: it lives, too, and has another volume.
    let of_another = json!({ "member": PINNED, "volumeID": "another" });
    is_refused("pinned-other", &of_another, Reason::MemberIsPinnedSeed);
    choose("Auto");
    let after = ring.member(PINNED).expect("the member");
    assert_eq!(after["status"]["startHistory"], history, "nobody was started");
    assert_eq!(ring.pod_uids().expect("uids"), uids);
}

/// A replacement that is asked for.
fn ask_to_replace(name: &str, replace: &Value) {
    let task = json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraTask",
        "metadata": { "name": name },
        "spec": { "cluster": NAMESPACE, "replace": replace },
    });
    bed().apply(NAMESPACE, &task.to_string()).expect("the task is accepted");
}

/// It is refused, which its conditions say with the reason.
fn is_refused(name: &str, replace: &Value, reason: Reason) {
    ask_to_replace(name, replace);
    let said = wait_for(&format!("the task {name} to end"), SOON, || {
        let task = bed().get(NAMESPACE, "cassandratask", name)?.unwrap_or_default();
        let is_over = task["status"]["endedAt"].is_string();
        Ok(is_over.then(|| task["status"]["conditions"].to_string()))
    })
    .expect("it ends");
    assert!(said.contains(reason.as_str()), "{reason}: {said}");
}

pub(super) fn terminate_and_replace(ring: &Ring<'_>) {
    let before = ring.member(MEMBER).expect("the member");
    let volume = before["spec"]["volumeID"].clone();
    let of_it = json!({ "member": MEMBER, "volumeID": volume });
    is_refused("nobody", &json!({ "member": "ring-dc1-b-7" }), Reason::NoSuchMember);
    is_refused("living", &of_it, Reason::MemberIsLive);
    let of_another =
        json!({ "spec": { "wanted": { "run": "Terminated", "volumeID": "another" } } });
    let refused = bed().patch(NAMESPACE, "cassandramember", MEMBER, &of_another);
    refused.expect_err("only the volume that it has");
    want(&json!({ "run": "Terminated", "volumeID": volume }));
    wait_state(ring, "Stopped");
    ring.wait_reason("Degraded", Reason::MemberTerminated, SOON).expect("told");
    let running = json!({ "spec": { "wanted": { "run": "Running", "volumeID": null } } });
    let refused = bed().patch(NAMESPACE, "cassandramember", MEMBER, &running);
    let why = refused.expect_err("it is final").to_string();
    assert!(why.contains("which is final"), "{why}");
    // Its pod may come and go: the ledger bans the volume.
    let agent = |member: &Value| member["status"]["agent"]["podUID"].clone();
    let earlier = agent(&ring.member(MEMBER).expect("the member"));
    bed().delete(NAMESPACE, "pod", MEMBER).expect("deleted");
    wait_for("the agent of the next pod to report", SOON, || {
        Ok((agent(&ring.member(MEMBER)?) != earlier).then_some(()))
    })
    .expect("back");
    wait_state(ring, "Stopped");
    let of_another = json!({ "member": MEMBER, "volumeID": "another" });
    is_refused("other-volume", &of_another, Reason::VolumeDiffers);
    ring.loses_a_volume();
    ask_to_replace("replace-it", &of_it);
    is_refused("again", &of_it, Reason::AlreadyReplacing);
    wait_for("the member to be replaced", REPLACED_IN, || {
        let member = ring.member(MEMBER)?;
        let is_new = member["spec"]["volumeID"].is_string() && member["spec"]["volumeID"] != volume;
        Ok((is_new && member["status"]["server"]["state"] == "Running").then_some(()))
    })
    .expect("replaced");
    ring.wait_settled().expect("settled");
    let member = ring.member(MEMBER).expect("the member");
    assert!(member["spec"]["terminated"].is_null(), "void: {}", member["spec"]);
    want(&json!({ "run": "Running", "volumeID": null }));
    ring.check_data().expect("all rows");
}
