//! A member of a datacenter that was added to a ring: rebuilt by an operation, opened by an order,
//! and closed by its volume as long as it lacks something.

use super::cases::Case;
use super::fake_server::{LATE, OPENS};
use super::harness::Pod;
use super::processes::signal;
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

pub const ALL: &[Case] = &[
    ("a_member_that_is_not_rebuilt_takes_no_clients", a_member_that_is_not_rebuilt),
    ("a_member_is_rebuilt_and_opened_and_stays_open", a_member_is_rebuilt_and_opened),
    ("a_member_whose_datacenter_leaves_is_closed_and_stays_closed", a_member_is_closed),
    ("a_port_that_opens_late_is_closed_when_it_is_open", a_port_that_opens_late),
];

fn yaml(pod: &Pod) -> String {
    fs::read_to_string(pod.path("run/conf/cassandra.yaml")).unwrap()
}

fn takes_clients(pod: &Pod) -> usize {
    pod.told().iter().filter(|line| *line == "takes clients").count()
}

fn order(pod: &Pod) {
    let volume = pod.api.status("m-0")["volume"]["volumeID"].clone();
    pod.api.change_spec("m-0", json!({"opening": {"volumeID": volume}}));
}

/// It has counted its copies.
fn counted(status: &Value) -> bool {
    status["copiesByDatacenter"]["system_auth"] == json!({"dc1": 1, "dc2": 1})
}

/// An order alone opens nothing, nor does an agent that comes later, nor another start.
fn a_member_that_is_not_rebuilt() {
    let mut pod = Pod::added();
    assert!(yaml(&pod).contains("start_native_transport: false"));
    let status = pod.wait_for("its copies", counted);
    let server = &status["server"];
    assert_eq!(
        (&server["reason"], &server["awaitsRebuild"]),
        (&json!("RebuildOwed"), &json!(true))
    );
    assert_eq!((&server["mode"], &server["nativeTransport"]), (&json!("NORMAL"), &json!(false)));
    assert_eq!(status["rebuild"], json!({"open": false}));
    order(&pod);
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(3));
    pod.wait_for("its copies", counted);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!((takes_clients(&pod), pod.get("/readyz").0), (0, 503));
    pod.end();
    pod.start();
    pod.wait_for("another start", |s| {
        s["server"]["reason"] == "RebuildOwed" && s["startHistory"][1]["cause"] == "Join"
    });
    assert!(yaml(&pod).contains("start_native_transport: false"));
    assert_eq!(takes_clients(&pod), 0);
}

fn a_member_is_rebuilt_and_opened() {
    let mut pod = Pod::added();
    pod.wait_for("its copies", counted);
    let rebuild = json!({
        "id": "o1", "kind": "Rebuild", "keyspaces": ["system_auth"], "sourceDatacenter": "dc2",
    });
    pod.api.change_spec("m-0", json!({ "operation": rebuild }));
    pod.wait_for("its end", |s| s["operation"]["state"] == "Succeeded");
    assert_eq!(pod.told(), [r#"rebuild ["dc2","system_auth",null,null]"#]);
    let rebuilt = json!({"open": false, "keyspaces": {"system_auth": 1}});
    pod.wait_for("the keyspace", |s| s["rebuild"] == rebuilt);
    assert_eq!((takes_clients(&pod), pod.get("/readyz").0), (0, 503), "nobody has ordered it");
    order(&pod);
    let status = pod.wait_for("clients", |s| s["server"]["nativeTransport"] == true);
    assert_eq!(status["rebuild"]["open"], true);
    super::harness::eventually("readiness", || pod.get("/readyz").0 == 200);
    assert_eq!(takes_clients(&pod), 1);
    assert!(pod.api.status("m-0")["server"]["awaitsRebuild"].is_null());
    pod.end();
    pod.start();
    pod.wait_for("another start", |s| {
        s["server"]["nativeTransport"] == true && s["startHistory"][1]["cause"] == "Join"
    });
    assert!(!yaml(&pod).contains("start_native_transport"));
    assert_eq!(takes_clients(&pod), 1, "it does so by itself");
}

fn is_opened(pod: &mut Pod) {
    pod.wait_for("its copies", counted);
    let rebuild = json!({
        "id": "o1", "kind": "Rebuild", "keyspaces": ["system_auth"], "sourceDatacenter": "dc2",
    });
    pod.api.change_spec("m-0", json!({ "operation": rebuild }));
    pod.wait_for("its end", |s| s["operation"]["state"] == "Succeeded");
    order(pod);
    pod.wait_for("clients", |s| s["server"]["nativeTransport"] == true);
}

fn close(pod: &Pod) {
    let volume = pod.api.status("m-0")["volume"]["volumeID"].clone();
    pod.api.change_spec("m-0", json!({ "closing": { "volumeID": volume }, "opening": null }));
}

/// A server is NORMAL for a while before it opens its port, and a call to close it does nothing then.
fn a_port_that_opens_late() {
    let mut pod = Pod::added();
    is_opened(&mut pod);
    pod.end();
    let late = pod.path("tmp").join(LATE);
    fs::write(&late, "").unwrap();
    pod.start();
    pod.wait_for("another start", |s| {
        s["server"]["mode"] == "NORMAL" && s["startHistory"][1]["cause"] == "Join"
    });
    close(&pod);
    pod.wait_for("the note", |s| s["rebuild"]["open"] == false);
    std::thread::sleep(Duration::from_secs(3));
    let server = pod.api.status("m-0")["server"].clone();
    assert!(server["awaitsRebuild"].is_null(), "its port is yet to open: {server}");
    fs::remove_file(&late).unwrap();
    pod.wait_for("the port, closed", |s| {
        s["server"]["awaitsRebuild"] == true && s["server"]["nativeTransport"] == false
    });
    assert!(pod.told().iter().any(|line| line == "takes no clients"));
}

/// The server that runs is told, and each later one starts closed.
fn a_member_is_closed() {
    let mut pod = Pod::added();
    is_opened(&mut pod);
    close(&pod);
    let status = pod.wait_for("no clients", |s| s["server"]["nativeTransport"] == false);
    assert_eq!(status["rebuild"]["open"], false);
    pod.wait_for("its reason", |s| {
        s["server"]["reason"] == "DatacenterLeaving" && s["server"]["awaitsRebuild"] == true
    });
    assert_eq!(pod.told().iter().filter(|line| *line == "takes no clients").count(), 1);
    let first = status["rebuild"]["closedAt"].clone();
    // Somebody opens it by hand.
    fs::write(pod.path("tmp").join(OPENS), "").unwrap();
    let status = pod.wait_for("the port, closed again", |s| {
        s["server"]["nativeTransport"] == false && s["rebuild"]["closedAt"] != first
    });
    assert!(status["rebuild"]["closedAt"].is_string(), "{status}");
    pod.end();
    pod.start();
    pod.wait_for("another start", |s| s["server"]["reason"] == "DatacenterLeaving");
    assert!(yaml(&pod).contains("start_native_transport: false"));
}
