//! Day two of a ring: stop and start, restarts, drift, volumes, pauses,
//! rollouts, an upgrade from 4.1 to 5.0, racks that come and go. One ring,
//! walked through in the order of the names.
//!
//! `PALLADION_SOAK=1` repeats the stops, restarts and rollouts.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use palladion_e2e::bed::{OPERATOR_NAMESPACE, OPERATOR_USER};
use palladion_e2e::ring::{OLDER_VERSION, VERSION};
use palladion_e2e::{Bed, Ring, ring, wait_for};
use serde_json::{Value, json};

const NAMESPACE: &str = "roll";
const SOON: Duration = Duration::from_secs(180);
/// A server restarts in ten seconds; a busy machine takes longer.
const RESTARTS_IN: Duration = Duration::from_secs(600);

fn bed() -> &'static Bed {
    static BED: OnceLock<Bed> = OnceLock::new();
    BED.get_or_init(Bed::attach)
}

/// How often a thing is done: more often in a soak.
fn times(soak: usize) -> usize {
    if std::env::var_os("PALLADION_SOAK").is_some() { soak } else { 1 }
}

/// The ring of this file: Cassandra 4.1, two racks, three members, two copies.
fn the_ring() -> &'static Ring<'static> {
    static RING: OnceLock<Ring<'static>> = OnceLock::new();
    RING.get_or_init(|| {
        let manifest = ring::manifest_of(OLDER_VERSION, NAMESPACE, &[("a", 2), ("b", 1)]);
        let ring = Ring::create_from(bed(), NAMESPACE, &manifest, 3).expect("the ring should form");
        ring.write_data(2).expect("data should be written");
        ring.wait_settled().expect("the ring should settle");
        ring
    })
}

fn patch(spec: &Value) {
    bed()
        .patch(NAMESPACE, "cassandracluster", NAMESPACE, &json!({ "spec": spec }))
        .expect("the patch should be accepted");
}

fn racks(racks: &[(&str, u32)]) -> Value {
    let resources =
        json!({ "requests": { "cpu": "100m", "memory": "1Gi" }, "limits": { "memory": "1Gi" } });
    racks
        .iter()
        .map(|(name, members)| json!({ "name": name, "members": members, "resources": resources }))
        .collect()
}

fn set_racks(wanted: &Value) {
    patch(&json!({ "datacenter": { "racks": wanted } }));
}

fn starts(ring: &Ring<'_>) -> BTreeMap<String, String> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let members = ring.members().expect("members");
    members
        .iter()
        .map(|m| (text(&m["metadata"]["name"]), text(&m["status"]["startHistory"][0]["startedAt"])))
        .collect()
}

/// Members whose server was started since.
fn restarted(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    after
        .iter()
        .filter(|(name, start)| before.get(*name) != Some(start))
        .map(|(name, _)| name.clone())
        .collect()
}

fn wait_restarted(ring: &Ring<'_>, before: &BTreeMap<String, String>, members: usize) {
    wait_for("servers to be started again", RESTARTS_IN, || {
        Ok((restarted(before, &starts(ring)).len() >= members).then_some(()))
    })
    .expect("restarted");
    ring.wait_settled().expect("settled");
}

/// Everything is as it should be: same members, all rows.
fn well(ring: &Ring<'_>, ids: &[(String, String)]) {
    ring.wait_ready(u32::try_from(ids.len()).expect("few members")).expect("all ready");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.host_ids().expect("host IDs"), ids, "no other members");
    ring.check_data().expect("all rows");
}

/// Wait until the operator has answered the newest spec, and does nothing more.
fn wait_answered(ring: &Ring<'_>) {
    wait_for("the newest spec to be answered", SOON, || {
        let cluster = ring.cluster()?;
        let seen = &cluster["status"]["observedGeneration"];
        Ok((*seen == cluster["metadata"]["generation"]).then_some(()))
    })
    .expect("answered");
}

#[test]
fn t01_a_ring_is_stopped_and_started_all_at_once() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    for _ in 0..times(10) {
        let begin = Instant::now();
        patch(&json!({ "run": "Stopped" }));
        ring.wait_reason("Progressing", "Stopped", RESTARTS_IN).expect("stopped");
        let stopped = begin.elapsed();
        assert!(ring.pod_uids().expect("pods").is_empty(), "no pods");
        let claims = bed().list(NAMESPACE, "persistentvolumeclaims").expect("claims");
        assert_eq!(claims.len(), 3, "volumes are kept");
        let begin = Instant::now();
        patch(&json!({ "run": "Running" }));
        well(ring, &ids);
        println!(
            "stopped in {:.1} s, started with all data in {:.1} s",
            stopped.as_secs_f64(),
            begin.elapsed().as_secs_f64()
        );
    }
}

#[test]
fn t02_a_rack_and_one_member_are_restarted_alone_in_their_pods() {
    let ring = the_ring();
    let (ids, uids) = (ring.host_ids().expect("host IDs"), ring.pod_uids().expect("uids"));
    let before = starts(ring);
    let mut wanted = racks(&[("a", 2), ("b", 1)]);
    wanted[1]["restartToken"] = json!("once");
    set_racks(&wanted);
    wait_restarted(ring, &before, 1);
    assert_eq!(restarted(&before, &starts(ring)), ["roll-dc1-b-0"]);
    let before = starts(ring);
    bed()
        .kubectl(&format!(
            "annotate cassandramember roll-dc1-a-1 -n {NAMESPACE} palladion.dev/restart=now"
        ))
        .expect("annotate");
    wait_restarted(ring, &before, 1);
    assert_eq!(restarted(&before, &starts(ring)), ["roll-dc1-a-1"]);
    assert_eq!(ring.pod_uids().expect("uids"), uids, "pods stay");
    well(ring, &ids);
}

/// What a server says of itself.
fn nodetool(member: &str, command: &[&str]) -> String {
    let words: Vec<&str> = std::iter::once(&"nodetool").chain(command).copied().collect();
    bed().exec(NAMESPACE, member, &words).expect("nodetool")
}

/// Limits and log levels change while servers run, and go back.
fn runtime_settings_come_and_go(ring: &Ring<'_>) {
    let uids = ring.pod_uids().expect("uids");
    let before = starts(ring);
    let told = |wanted: &Value| {
        wait_for("all members to be told", SOON, || {
            let members = ring.members()?;
            let told = |m: &Value| m["status"]["server"]["runtimeSettings"] == *wanted;
            Ok(members.iter().all(told).then_some(()))
        })
        .expect("told");
    };
    let limits = |member: &str| {
        let levels = nodetool(member, &["getlogginglevels"]);
        let level = levels.lines().find_map(|line| {
            let (logger, level) = line.split_once(char::is_whitespace)?;
            (logger == "org.apache.cassandra.gms").then(|| level.trim().to_string())
        });
        let first_line = |command: &[&str]| {
            let text = nodetool(member, command);
            text.lines().next().unwrap_or_default().to_string()
        };
        let compaction = first_line(&["getcompactionthroughput"]);
        (compaction, first_line(&["getstreamthroughput", "-m"]), level)
    };
    let member = "roll-dc1-a-0";
    let at_its_start = limits(member);
    let settings = json!({
        "compactionThroughput": 17,
        "streamThroughput": 33,
        "logLevels": { "org.apache.cassandra.gms": "TRACE" },
    });
    patch(&json!({ "runtimeSettings": settings }));
    told(&settings);
    let (compaction, stream, level) = limits(member);
    assert!(compaction.contains("17"), "{compaction}");
    assert!(stream.contains("33"), "{stream}");
    assert_eq!(level.as_deref(), Some("TRACE"));
    patch(&json!({ "runtimeSettings": null }));
    told(&Value::Null);
    assert_eq!(limits(member), at_its_start, "what was before");
    assert_eq!(ring.pod_uids().expect("uids"), uids, "pods stay");
    assert_eq!(starts(ring), before, "servers stay");
}

#[test]
fn t02b_limits_and_log_levels_change_while_servers_run() {
    runtime_settings_come_and_go(the_ring());
}

#[test]
fn t03_what_somebody_changed_by_hand_is_put_back() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("uids");
    let set =
        || bed().get(NAMESPACE, "statefulset", "roll-dc1-a").expect("get").unwrap_or_default();
    bed()
        .kubectl(&format!("scale statefulset roll-dc1-a -n {NAMESPACE} --replicas=4"))
        .expect("scale");
    wait_for("replicas to be put back", SOON, || {
        Ok((set()["spec"]["replicas"] == 2 && ring.pod_uids()?.len() == 3).then_some(()))
    })
    .expect("put back");
    bed()
        .patch(
            NAMESPACE,
            "statefulset",
            "roll-dc1-a",
            &json!({ "spec": { "updateStrategy": { "type": "RollingUpdate" } } }),
        )
        .expect("patch");
    wait_for("the strategy to be put back", SOON, || {
        Ok((set()["spec"]["updateStrategy"]["type"] == "OnDelete").then_some(()))
    })
    .expect("put back");
    let old = set()["metadata"]["uid"].clone();
    bed()
        .kubectl(&format!("delete statefulset roll-dc1-a -n {NAMESPACE} --cascade=orphan"))
        .expect("delete");
    wait_for("the set to be made again", SOON, || {
        Ok((set()["metadata"]["uid"].is_string() && set()["metadata"]["uid"] != old).then_some(()))
    })
    .expect("made again");
    wait_for("no phantom", RESTARTS_IN, || Ok((ring.member_names()?.len() == 3).then_some(())))
        .expect("three members");
    well(ring, &ids);
    assert_eq!(ring.pod_uids().expect("uids"), uids, "no pod was touched");
}

#[test]
fn t04_a_claim_grows_and_never_shrinks_and_no_pod_is_touched() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("uids");
    let expandable = |allow: &Value| {
        bed()
            .patch("default", "storageclass", "local", &json!({ "allowVolumeExpansion": allow }))
            .expect("the class");
    };
    let sized = |size: &str| {
        let mut wanted = racks(&[("a", 2), ("b", 1)]);
        wanted[0]["storage"]["volumeClaimTemplates"] =
            json!([{ "spec": { "resources": { "requests": { "storage": size } } } }]);
        wanted[1]["restartToken"] = json!("once");
        wanted
    };
    let set_racks = |wanted: &Value| {
        let spec = json!({ "spec": { "datacenter": { "racks": wanted } } });
        bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &spec)
    };
    // Local volumes have no driver that grows them: the test looks at what is asked for.
    let asked = |size: &str| {
        wait_for("claims to ask for more", SOON, || {
            let claims = bed().list(NAMESPACE, "persistentvolumeclaims")?;
            let grown = claims
                .iter()
                .filter(|c| c["spec"]["resources"]["requests"]["storage"] == size)
                .count();
            let set = bed().get(NAMESPACE, "statefulset", "roll-dc1-a")?.unwrap_or_default();
            let template = &set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"];
            Ok((grown >= 2 && template["storage"] == size).then_some(()))
        })
    };
    set_racks(&sized("11Gi")).expect("growth is admitted");
    ring.wait_told("Degraded", "VolumeCannotGrow", "local", SOON)
        .expect("told that the class does not allow it");
    expandable(&json!(true));
    let grown = asked("11Gi");
    let refused = set_racks(&sized("9Gi")).expect_err("a claim does not shrink");
    expandable(&Value::Null);
    grown.expect("asked");
    assert!(format!("{refused:#}").contains("shrink"), "{refused:#}");
    assert_eq!(ring.pod_uids().expect("uids"), uids, "no pod was touched");
    play_the_driver("11Gi");
    well(ring, &ids);
    patch(&json!({ "run": "Stopped" }));
    ring.wait_reason("Progressing", "Stopped", RESTARTS_IN).expect("stopped");
    expandable(&json!(true));
    set_racks(&sized("12Gi")).expect("growth is admitted");
    let grown = asked("12Gi");
    expandable(&Value::Null);
    grown.expect("claims grow while pods are down");
    assert!(ring.pod_uids().expect("uids").is_empty(), "still stopped");
    play_the_driver("12Gi");
    patch(&json!({ "run": "Running" }));
    well(ring, &ids);
}

/// The driver's part is played: the claims are as large as they ask for.
fn play_the_driver(size: &str) {
    let status = json!({ "status": { "capacity": { "storage": size } } }).to_string();
    for member in ["roll-dc1-a-0", "roll-dc1-a-1"] {
        let claim = format!("data-{member}");
        bed()
            .cluster
            .kubectl(&[
                "patch",
                "pvc",
                &claim,
                "-n",
                NAMESPACE,
                "--subresource=status",
                "--type=merge",
                "-p",
                &status,
            ])
            .expect("the driver's part");
    }
}

#[test]
fn t05_nothing_but_status_is_written_while_paused() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let before = starts(ring);
    let pauses = |on: bool| {
        patch(&json!({ "paused": on }));
    };
    let global = |on: bool| {
        bed()
            .apply(
                OPERATOR_NAMESPACE,
                &format!("apiVersion: palladion.dev/v1alpha1\nkind: OperatorConfig\nmetadata: {{name: default}}\nspec: {{paused: {on}}}\n"),
            )
            .expect("OperatorConfig");
    };
    let writes = |what: &str| {
        let mark = bed().cluster.audit_mark().expect("a mark");
        std::thread::sleep(Duration::from_secs(15));
        let entries = bed().cluster.audit_entries(mark, OPERATOR_USER).expect("the audit log");
        let written: Vec<String> = entries
            .iter()
            .filter(|e| !matches!(e.verb.as_str(), "get" | "list" | "watch"))
            .filter(|e| e.resource != "leases" && e.resource != "events")
            .filter(|e| e.subresource != "status")
            .map(|e| format!("{} {} {}", e.verb, e.resource, e.name))
            .collect();
        assert!(written.is_empty(), "{what}: {written:?}");
    };
    pauses(true);
    ring.wait_reason("Progressing", "Paused", SOON).expect("paused");
    patch(&json!({ "config": { "concurrent_reads": 24 } }));
    writes("the object is paused");
    global(true);
    pauses(false);
    wait_answered(ring);
    writes("the operator is paused");
    assert_eq!(restarted(&before, &starts(ring)), Vec::<String>::new());
    global(false);
    wait_restarted(ring, &before, 3);
    let _ = bed().kubectl("delete operatorconfig default --ignore-not-found");
    well(ring, &ids);
}

#[test]
fn t06_a_broken_rollout_stops_at_its_first_member_and_a_newer_spec_overtakes_it() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    for round in 0..times(5) {
        let uids = ring.pod_uids().expect("uids");
        let setting = format!("no_such_setting_{round}");
        patch(&json!({ "config": { &setting: 1 } }));
        ring.wait_told("Degraded", "RolloutStuck", &setting, RESTARTS_IN)
            .expect("told in the server's words");
        std::thread::sleep(Duration::from_secs(10));
        let now = ring.pod_uids().expect("uids");
        let touched = now.iter().filter(|pod| !uids.contains(pod)).count();
        assert_eq!(touched, 1, "only the canary: {uids:?} {now:?}");
        // An older broken rollout is overtaken by one that is broken otherwise.
        patch(&json!({ "config": { &setting: null }, "version": "4.1.404" }));
        ring.wait_told("Degraded", "RolloutStuck", "4.1.404", RESTARTS_IN)
            .expect("told in the kubelet's words");
        let begin = Instant::now();
        patch(&json!({ "version": OLDER_VERSION }));
        well(ring, &ids);
        println!("cured by the spec in {:.1} s", begin.elapsed().as_secs_f64());
        let now = ring.pod_uids().expect("uids");
        let touched = now.iter().filter(|pod| !uids.contains(pod)).count();
        assert_eq!(touched, 1, "the others never ran another revision");
    }
}

#[test]
fn t07_an_upgrade_to_5_0_goes_one_by_one_and_not_back() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let uids = ring.pod_uids().expect("uids");
    let begin = Instant::now();
    patch(&json!({ "version": VERSION }));
    wait_for("all members to run the newer line", RESTARTS_IN, || {
        let members = ring.members()?;
        Ok(members.iter().all(|m| m["status"]["server"]["version"] == VERSION).then_some(()))
    })
    .expect("upgraded");
    println!("upgraded in {:.1} s", begin.elapsed().as_secs_f64());
    well(ring, &ids);
    let now = ring.pod_uids().expect("uids");
    assert!(now.iter().all(|pod| !uids.contains(pod)), "each pod is new");
    for member in ring.members().expect("members") {
        let owes = &member["spec"]["owes"];
        assert!(owes.as_array().is_none_or(Vec::is_empty), "debts are paid: {owes}");
    }
    assert_eq!(ring.cluster().expect("cluster")["status"]["newestLine"], "5.0");
    runtime_settings_come_and_go(ring);
    let error = bed()
        .patch(
            NAMESPACE,
            "cassandracluster",
            NAMESPACE,
            &json!({ "spec": { "version": OLDER_VERSION } }),
        )
        .expect_err("there is no way back");
    assert!(format!("{error:#}").contains("older line"), "{error:#}");
}

#[test]
fn t08_two_racks_come_at_once_and_are_dropped_again() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let larger = |mut wanted: Value| {
        wanted[0]["storage"]["volumeClaimTemplates"] =
            json!([{ "spec": { "resources": { "requests": { "storage": "12Gi" } } } }]);
        wanted[1]["restartToken"] = json!("once");
        wanted
    };
    set_racks(&larger(racks(&[("a", 2), ("b", 1), ("c", 1), ("d", 1)])));
    let mut joining = 0;
    wait_for("two more members", RESTARTS_IN, || {
        let members = ring.members()?;
        let joins = |m: &&Value| m["status"]["server"]["mode"] == "JOINING";
        joining = joining.max(members.iter().filter(joins).count());
        Ok((ring.cluster()?["status"]["members"] == "5/5").then_some(()))
    })
    .expect("a fourth and a fifth member join");
    assert!(joining <= 1, "{joining} members joined at once");
    ring.wait_alike(5).expect("one ring of five");
    ring.wait_settled().expect("settled");
    set_racks(&larger(racks(&[("a", 2), ("b", 1), ("c", 0), ("d", 0)])));
    // Dropped while their members are still there.
    set_racks(&larger(racks(&[("a", 2), ("b", 1)])));
    wait_for("the racks' sets to be removed", RESTARTS_IN, || {
        let mut sets = ["c", "d"]
            .into_iter()
            .map(|rack| bed().get(NAMESPACE, "statefulset", &format!("roll-dc1-{rack}")));
        let gone = sets.try_fold(true, |gone, set| anyhow::Ok(gone && set?.is_none()))?;
        Ok((gone && ring.member_names()?.len() == 3).then_some(()))
    })
    .expect("removed");
    well(ring, &ids);
    for rack in ["c", "d"] {
        let claim = format!("data-roll-dc1-{rack}-0");
        let claim = bed().get(NAMESPACE, "pvc", &claim).expect("get");
        assert!(claim.is_some(), "the volume of the member that left is kept");
    }
    let racks = ring.cluster().expect("cluster")["status"]["racks"].clone();
    assert!(racks["c"].is_null() && racks["d"].is_null(), "{racks}");
}

#[test]
fn t09_resources_placement_and_annotations_of_a_rack_restart_that_rack_alone() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let mut wanted = ring.cluster().expect("cluster")["spec"]["datacenter"]["racks"].clone();
    let changes = [
        (
            "resources",
            json!({ "requests": { "cpu": "110m", "memory": "1Gi" }, "limits": { "memory": "1Gi" } }),
        ),
        ("annotations", json!({ "example.com/team": "orders" })),
        (
            "placement",
            json!({ "tolerations": [{ "key": "example.com/old", "operator": "Exists" }] }),
        ),
    ];
    for (field, value) in changes {
        let uids = ring.pod_uids().expect("uids");
        wanted[1][field] = value;
        set_racks(&wanted);
        wait_for("another pod", RESTARTS_IN, || {
            let now = ring.pod_uids()?;
            Ok((now.len() == uids.len() && now != uids).then_some(()))
        })
        .expect("another pod");
        well(ring, &ids);
        let now = ring.pod_uids().expect("uids");
        let new: Vec<_> = now.iter().filter(|pod| !uids.contains(pod)).collect();
        assert!(matches!(new[..], [(name, _)] if name == "roll-dc1-b-0"), "{field}: {new:?}");
    }
    let pod = bed().get(NAMESPACE, "pod", "roll-dc1-b-0").expect("get");
    let pod = pod.expect("a pod");
    assert_eq!(pod["metadata"]["annotations"]["example.com/team"], "orders");
    assert_eq!(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"], "110m");
    let tolerations = pod["spec"]["tolerations"].as_array().expect("tolerations");
    assert!(tolerations.iter().any(|t| t["key"] == "example.com/old"));
}

#[test]
fn t10_an_environment_and_a_token_restart_every_server_once() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let (uids, before) = (ring.pod_uids().expect("uids"), starts(ring));
    // Both in one edit: each member is restarted once, not twice.
    patch(&json!({ "env": [{ "name": "TEAM", "value": "orders" }], "restartToken": "both" }));
    wait_restarted(ring, &before, 3);
    well(ring, &ids);
    let now = ring.pod_uids().expect("uids");
    assert!(now.iter().all(|pod| !uids.contains(pod)), "each pod is new");
    for member in ring.members().expect("members") {
        let name = member["metadata"]["name"].as_str().unwrap_or_default();
        let one_before = &member["status"]["startHistory"][1]["startedAt"];
        assert_eq!(before[name], *one_before, "{name} was started once");
    }
    for member in ring.member_names().expect("names") {
        let said = bed().exec(NAMESPACE, &member, &["printenv", "TEAM"]);
        assert_eq!(said.expect("printenv").trim(), "orders");
    }
    let (uids, before) = (ring.pod_uids().expect("uids"), starts(ring));
    patch(&json!({ "restartToken": "the whole ring" }));
    wait_restarted(ring, &before, 3);
    well(ring, &ids);
    assert_eq!(ring.pod_uids().expect("uids"), uids, "pods stay");
}

#[test]
fn t99_the_ring_goes() {
    bed().remove_namespace(NAMESPACE).expect("clean up");
}
