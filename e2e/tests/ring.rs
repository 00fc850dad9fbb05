//! A ring from nothing: what is made, what it answers, what it may do, and
//! that it comes back. One ring, walked through in the order of the names.

use std::sync::OnceLock;
use std::time::Duration;

use palladion_e2e::bed::OPERATOR_USER;
use palladion_e2e::machines::is_ready;
use palladion_e2e::{Bed, Ring, ring, wait_for};
use palladion_testbed::faults::Victim;
use serde_json::{Value, json};

const NAMESPACE: &str = "ring";
const SOON: Duration = Duration::from_secs(180);

fn bed() -> &'static Bed {
    static BED: OnceLock<Bed> = OnceLock::new();
    BED.get_or_init(Bed::attach)
}

/// The ring of this file: two racks, three members, made once.
fn the_ring() -> &'static Ring<'static> {
    static RING: OnceLock<Ring<'static>> = OnceLock::new();
    RING.get_or_init(|| {
        let ring =
            Ring::create(bed(), NAMESPACE, &[("a", 2), ("b", 1)]).expect("the ring should form");
        ring.write_data(3).expect("data should be written");
        ring.wait_settled().expect("the ring should settle");
        ring
    })
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn t01_a_ring_forms_and_answers_at_quorum() {
    let ring = the_ring();
    ring.check_data().expect("all rows should be there");
    // The shell that the demo tells people to try.
    let question = "SELECT cluster_name FROM system.local";
    let said =
        ring.in_client(&["cqlsh", "ring-client", "-e", question]).expect("an answer by cqlsh");
    assert!(said.contains("(1 rows)"), "{said}");
    let members = ring.members().expect("members");
    assert_eq!(members.len(), 3);
    for member in &members {
        assert_eq!(text(member, "/status/server/mode"), "NORMAL");
        assert_eq!(member["status"]["ring"]["members"], 3, "{}", member["status"]["ring"]);
        assert_eq!(text(member, "/status/hostID"), text(member, "/spec/hostID"));
        assert_eq!(text(member, "/status/address"), text(member, "/spec/address"));
    }
}

#[test]
fn t02_each_rack_is_one_set_with_its_services_and_labels() {
    let ring = the_ring();
    for (rack, replicas) in [("a", 2), ("b", 1)] {
        let set = bed()
            .get(NAMESPACE, "statefulset", &format!("ring-dc1-{rack}"))
            .expect("get")
            .expect("the set exists");
        assert_eq!(set["spec"]["replicas"], replicas);
        assert_eq!(set["spec"]["serviceName"], "ring-client");
        assert_eq!(text(&set, "/spec/persistentVolumeClaimRetentionPolicy/whenScaled"), "Retain");
    }
    let client = bed()
        .get(NAMESPACE, "service", "ring-client")
        .expect("get")
        .expect("the client Service exists");
    assert_eq!(client["spec"]["clusterIP"], "None");
    for member in ring.member_names().expect("names") {
        let service = bed()
            .get(NAMESPACE, "service", &member)
            .expect("get")
            .expect("each member has a Service");
        assert_eq!(service["spec"]["publishNotReadyAddresses"], true);
        assert!(
            service["metadata"]["labels"]["palladion.dev/seed"].is_string(),
            "ordinals 0 and 1 are seeds"
        );
        let ports: Vec<i64> = service["spec"]["ports"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|p| p["port"].as_i64())
            .collect();
        assert_eq!(ports, [7000, 7001, 7199, 9042, 9160, 9142]);
    }
}

#[test]
fn t03_the_system_keyspaces_are_replicated() {
    let ring = the_ring();
    wait_for("replication of the system keyspaces on record", SOON, || {
        Ok((ring.cluster()?["status"]["systemReplication"] == 3).then_some(()))
    })
    .expect("recorded");
    let said = ring
        .cql(&[
            "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = 'system_auth'",
        ])
        .expect("an answer");
    assert!(
        said[0].contains("NetworkTopologyStrategy") && said[0].contains("'dc1', '3'")
            || said[0].contains("'dc1': '3'"),
        "{said:?}"
    );
}

#[test]
fn t04_at_rest_nothing_is_read_and_nothing_is_written() {
    the_ring().wait_settled().expect("settled");
    // What the last change still causes has come to its end.
    std::thread::sleep(Duration::from_secs(5));
    let mark = bed().cluster.audit_mark().expect("a mark");
    std::thread::sleep(Duration::from_secs(60));
    let entries = bed().cluster.audit_entries(mark, OPERATOR_USER).expect("the audit log");
    let requests: Vec<String> = entries
        .iter()
        .filter(|e| e.resource != "leases" && e.verb != "watch")
        .map(|e| format!("{} {} {}", e.verb, e.resource, e.name))
        .collect();
    assert!(requests.is_empty(), "the operator asked for {requests:?} at rest");
    assert!(!entries.is_empty(), "the lease at least was renewed, or the log is not being read");
    let members = bed()
        .cluster
        .audit_entries(mark, &format!("system:serviceaccount:{NAMESPACE}:ring-member"))
        .expect("the audit log");
    let writes: Vec<String> = members
        .iter()
        .filter(|e| e.verb != "watch")
        .map(|e| format!("{} {} {}", e.verb, e.resource, e.name))
        .collect();
    assert!(writes.is_empty(), "the agents asked for {writes:?} at rest");
}

#[test]
fn t05_a_member_may_write_its_own_status_and_nothing_else() {
    let ring = the_ring();
    let names = ring.member_names().expect("names");
    let (own, other) = (&names[0], &names[1]);
    let token = bed()
        .exec(NAMESPACE, own, &["cat", "/var/run/secrets/kubernetes.io/serviceaccount/token"])
        .expect("the token");
    let ask = |verb: &str, path: &str, body: &str| -> String {
        let program = "import sys,ssl,urllib.request as u\nr=u.Request('https://kubernetes.default.svc'+sys.argv[2],method=sys.argv[1],data=sys.argv[3].encode() or None,headers={'Authorization':'Bearer '+sys.argv[4],'Content-Type':'application/merge-patch+json'})\ntry:\n print(u.urlopen(r,context=ssl._create_unverified_context()).status)\nexcept u.HTTPError as e:\n print(e.code)\n";
        bed()
            .exec(NAMESPACE, "client", &["python3", "-c", program, verb, path, body, token.trim()])
            .expect("an answer")
            .trim()
            .to_string()
    };
    let member = |name: &str| {
        format!("/apis/palladion.dev/v1alpha1/namespaces/{NAMESPACE}/cassandramembers/{name}")
    };
    let patch = r#"{"status":{"address":"203.0.113.1"}}"#;
    let members = format!("/apis/palladion.dev/v1alpha1/namespaces/{NAMESPACE}/cassandramembers");
    assert_eq!(ask("GET", &format!("{members}?fieldSelector=metadata.name={own}"), ""), "200");
    assert_eq!(
        ask("PATCH", &format!("{}/status", member(other)), patch),
        "403",
        "another member's status"
    );
    assert_eq!(ask("PATCH", &member(own), r#"{"spec":{"run":"Stopped"}}"#), "403", "its own spec");
    assert_eq!(
        ask("GET", &format!("/api/v1/namespaces/{NAMESPACE}/secrets"), ""),
        "403",
        "secrets"
    );
    assert_eq!(ask("GET", &format!("/api/v1/namespaces/{NAMESPACE}/pods"), ""), "403", "pods");
    assert_eq!(
        ask("GET", "/apis/palladion.dev/v1alpha1/cassandramembers", ""),
        "403",
        "members elsewhere"
    );
    // Its own status it may write, and its agent puts the truth back.
    assert_eq!(
        ask("PATCH", &format!("{}/status", member(own)), r#"{"status":{"startHistory":null}}"#),
        "200"
    );
}

#[test]
fn t06_the_management_port_is_closed_to_others_and_credentials_are_not_visible() {
    let ring = the_ring();
    let name = &ring.member_names().expect("names")[0];
    let pod = bed().get(NAMESPACE, "pod", name).expect("get").expect("the pod");
    let ip = text(&pod, "/status/podIP");
    let program = "import socket,sys\ns=socket.socket();s.settimeout(3)\nprint(s.connect_ex((sys.argv[1],8778)))";
    let code = bed().exec(NAMESPACE, "client", &["python3", "-c", program, ip]).expect("an answer");
    assert_ne!(code.trim(), "0", "Jolokia must listen on loopback only");
    let inside = "import urllib.request as u\ntry:\n print(u.urlopen('http://127.0.0.1:8778/jolokia/version',timeout=5).status)\nexcept u.HTTPError as e:\n print(e.code)";
    let _ = inside; // The server's image has no Python; the shell asks instead.
    let shell = "exec 3<>/dev/tcp/127.0.0.1/8778; printf 'POST /jolokia/ HTTP/1.0\\r\\nContent-Length: 0\\r\\nAuthorization: Basic d3Jvbmc6d3Jvbmc=\\r\\n\\r\\n' >&3; head -1 <&3";
    let answer = bed().exec(NAMESPACE, name, &["bash", "-c", shell]).expect("an answer");
    assert!(answer.contains("401"), "wrong credentials were answered with {answer}");
    let visible = bed().exec(NAMESPACE, name, &["bash", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -ciE 'passwor[d]' || true"]).expect("an answer");
    assert_eq!(visible.trim(), "0", "a password shows in arguments or environment");
}

#[test]
fn t07_an_agent_that_is_killed_leaves_its_server_running() {
    let ring = the_ring();
    let name = &ring.member_names().expect("names")[0];
    let pid = || {
        bed()
            .exec(
                NAMESPACE,
                name,
                &[
                    "bash",
                    "-c",
                    "for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" = java ] && basename $p; done",
                ],
            )
            .map(|p| p.trim().to_string())
    };
    let before = pid().expect("the server's process");
    assert!(!before.is_empty());
    // Process 1 is the init; the agent is the other process of that program.
    let kill = "for p in /proc/[0-9]*; do n=$(basename $p); [ $n != 1 ] && tr '\\0' ' ' < $p/cmdline | grep -q 'palladion-agen[t] agent' && kill -9 $n && echo killed; done; true";
    let said = bed().exec(NAMESPACE, name, &["bash", "-c", kill]).expect("kill");
    assert!(said.contains("killed"), "the agent was not found: {said:?}");
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(pid().expect("the server's process"), before);
    ring.wait_ready(3).expect("all ready again");
    ring.check_data().expect("all rows");
}

#[test]
fn t08_a_pod_that_is_deleted_comes_back_as_the_same_member() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let name = ring.member_names().expect("names")[1].clone();
    let before = ring.pod_uids().expect("uids");
    let log = bed().follow_log(NAMESPACE, &name).expect("its log");
    bed().kubectl(&format!("delete pod {name} -n {NAMESPACE} --wait=true")).expect("delete");
    // It ends by itself with the container.
    let log = log.wait_with_output().expect("the log to end");
    let log = String::from_utf8_lossy(&log.stdout);
    assert!(log.contains("DRAINED"), "what was accepted is flushed before the server ends: {log}");
    wait_for("a new pod", SOON, || {
        Ok((ring.pod_uids()? != before && ring.pod_uids()?.len() == 3).then_some(()))
    })
    .expect("a new pod");
    ring.wait_ready(3).expect("all ready");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.check_data().expect("all rows");
}

#[test]
fn t09_a_status_that_is_erased_is_written_again_and_nothing_is_founded() {
    let ring = the_ring();
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
        ring.cluster().expect("cluster")["status"]["founding"].is_null(),
        "a ring that exists is not founded again"
    );
    ring.check_data().expect("all rows");
}

#[test]
fn t10_a_foreign_object_is_reported_and_never_touched() {
    let namespace = "foreign";
    bed().fresh_namespace(namespace).expect("namespace");
    bed()
        .kubectl(&format!("create service clusterip foreign-client -n {namespace} --tcp=1:1"))
        .expect("service");
    let before = bed().get(namespace, "service", "foreign-client").expect("get").expect("exists");
    let other = Ring { bed: bed(), namespace: namespace.into(), name: namespace.into() };
    bed().apply(namespace, &ring::manifest(namespace, &[("a", 1)])).expect("apply");
    let message =
        other.wait_reason("Degraded", "ForeignObject", Duration::from_secs(10)).expect("reported");
    assert!(message.contains("foreign-client"), "{message}");
    let after = bed().get(namespace, "service", "foreign-client").expect("get").expect("exists");
    assert_eq!(before["metadata"]["resourceVersion"], after["metadata"]["resourceVersion"]);
    bed()
        .kubectl(&format!("delete service foreign-client -n {namespace}"))
        .expect("out of the way");
    other.wait_ready(1).expect("cured");
    bed().remove_namespace(namespace).expect("clean up");
}

#[test]
fn t11_everything_killed_at_once_comes_back_without_operator() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    bed().scale_operator(0).expect("operator away");
    for node in bed().cluster.nodes() {
        bed().cluster.power_off(node).expect("power off");
    }
    for node in bed().cluster.nodes() {
        bed().cluster.power_on(node).expect("power on");
    }
    wait_for("all members to be NORMAL without an operator", Duration::from_secs(240), || {
        let members = ring.members()?;
        let pods = bed().list(NAMESPACE, "pods")?;
        let ready = pods
            .iter()
            .filter(|p| p["metadata"]["labels"]["palladion.dev/cluster"] == "ring")
            .filter(|p| is_ready(p));
        Ok((members.len() == 3 && ready.count() == 3).then_some(()))
    })
    .expect("the ring is back by itself");
    bed().scale_operator(1).expect("operator back");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.restart_client().expect("client");
    ring.check_data().expect("all rows");
}

#[test]
fn t12_a_volume_emptied_while_all_are_down_founds_no_second_ring() {
    let ring = the_ring();
    let before = ring.host_ids().expect("host IDs");
    let names = ring.member_names().expect("names");
    let founder = &names[0];
    let volume =
        bed().cluster.volume_of_claim(NAMESPACE, &format!("data-{founder}")).expect("its volume");
    for node in bed().cluster.nodes() {
        bed().cluster.power_off(node).expect("power off");
    }
    bed().cluster.wipe_volume(&volume).expect("wipe");
    for node in bed().cluster.nodes() {
        bed().cluster.power_on(node).expect("power on");
    }
    // The wiped member was the founder and a seed: it must not start a ring of its own.
    wait_for("the member to be replaced", Duration::from_secs(420), || {
        let ids = ring.host_ids()?;
        let all_normal = ring.members()?.iter().all(|m| m["status"]["server"]["mode"] == "NORMAL");
        let three = ring.members()?.iter().all(|m| m["status"]["ring"]["members"] == 3);
        Ok((ids != before && all_normal && three).then_some(()))
    })
    .expect("replaced into the ring that exists");
    ring.wait_settled().expect("settled");
    let after = ring.host_ids().expect("host IDs");
    assert_eq!(after.len(), 3);
    assert_eq!(after[1..], before[1..], "the others are the same");
    ring.restart_client().expect("client");
    ring.check_data().expect("all rows");
}

#[test]
fn t13_a_cluster_deleted_and_made_again_finds_its_members() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
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
    bed().apply(NAMESPACE, &ring::manifest("ring", &[("a", 2), ("b", 1)])).expect("apply");
    ring.wait_ready(3).expect("all ready");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    assert!(
        ring.cluster().expect("cluster")["status"]["founding"].is_null(),
        "nothing is founded over data"
    );
    ring.check_data().expect("all rows");
}

#[test]
fn t14_a_member_leaves_by_recorded_intent_and_its_data_is_kept() {
    let ring = the_ring();
    ring.wait_settled().expect("settled");
    let set_members = |members: u32| {
        bed()
            .apply(NAMESPACE, &ring::manifest("ring", &[("a", members), ("b", 1)]))
            .expect("apply");
    };
    // Three copies cannot be kept by two members: refused with the keyspace named.
    set_members(1);
    let message = ring.wait_reason("Degraded", "LeaveRefused", SOON).expect("refused");
    assert!(message.contains("kept"), "{message}");
    assert_eq!(ring.members().expect("members").len(), 3);
    ring.cql(&[
        "ALTER KEYSPACE kept WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}",
    ])
    .expect("alter");
    wait_for("the member to have left", Duration::from_secs(240), || {
        let members = ring.members()?;
        let two = members.iter().all(|m| m["status"]["ring"]["members"] == 2);
        Ok((members.len() == 2 && two).then_some(()))
    })
    .expect("it leaves");
    ring.wait_ready(2).expect("two are ready");
    ring.wait_settled().expect("settled");
    ring.check_data().expect("all rows");
    let claim = bed()
        .get(NAMESPACE, "persistentvolumeclaim", "data-ring-dc1-a-1")
        .expect("get")
        .expect("the claim of the member that left is kept");
    assert!(
        claim["metadata"]["annotations"]["palladion.dev/gone"].is_string(),
        "and says whose data it holds"
    );
    // Wanted again, it joins as a new member; its old data is set aside, not used.
    set_members(2);
    ring.wait_ready(3).expect("three are ready again");
    ring.wait_settled().expect("settled");
    ring.check_data().expect("all rows");
}

#[test]
fn t15_with_the_policy_delete_the_data_goes_with_the_cluster() {
    let ring = the_ring();
    let policy = json!({ "spec": { "deletionPolicy": "Delete" } });
    bed().patch(NAMESPACE, "cassandracluster", "ring", &policy).expect("patch");
    wait_for("the finalizer", SOON, || {
        let cluster = ring.cluster()?;
        Ok(cluster["metadata"]["finalizers"][0].is_string().then_some(()))
    })
    .expect("the finalizer is set");
    let words = format!("delete cassandracluster ring -n {NAMESPACE} --wait=true --timeout=180s");
    bed().kubectl(&words).expect("delete");
    let claims = bed().list(NAMESPACE, "persistentvolumeclaims").expect("claims");
    assert!(claims.is_empty(), "{} claims are left", claims.len());
}

#[test]
fn t99_the_namespace_goes() {
    bed().remove_namespace(NAMESPACE).expect("clean up");
}

#[test]
fn t07b_pid_one_that_is_killed_restarts_the_container_as_the_same_member() {
    let ring = the_ring();
    let ids = ring.host_ids().expect("host IDs");
    let name = &ring.member_names().expect("names")[2];
    let killed = bed().cluster.kill(NAMESPACE, name, "cassandra", &Victim::Init).expect("kill");
    assert_eq!(killed, 1);
    wait_for("the member to notice", SOON, || {
        let member = ring.member(name)?;
        Ok((member["status"]["startHistory"].as_array().map_or(0, Vec::len) >= 2).then_some(()))
    })
    .expect("started again");
    ring.wait_ready(3).expect("all ready");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.check_data().expect("all rows");
}
