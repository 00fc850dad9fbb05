//! Rings in the API server in memory: one that is well, and one that is not.

use crate::support::fake::Fake;
use jiff::Timestamp;
use serde_json::{Value, json};

/// The time at which every verb is typed.
pub const NOW: &str = "2026-01-01T01:00:00Z";
const SINCE: &str = "2026-01-01T00:20:00Z";
const LATELY: &str = "2026-01-01T00:56:00Z";

/// See [`NOW`].
pub fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn condition(type_: &str, status: &str, reason: &str, message: &str, since: &str) -> Value {
    json!({
        "type": type_, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": since, "observedGeneration": 1,
    })
}

fn member(rack: &str, ordinal: u32, address: &str) -> Value {
    let id = format!("00000000-0000-0000-0000-{rack}{ordinal}0000000000");
    json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraMember",
        "metadata": { "labels": {
            "palladion.dev/cluster": "demo", "palladion.dev/rack": rack,
            "app.kubernetes.io/managed-by": "palladion",
        } },
        "spec": {
            "cluster": "demo", "ring": "demo", "datacenter": "dc1", "rack": rack,
            "run": "Running", "address": address, "volumeID": format!("volume-{rack}{ordinal}"),
            "hostID": id, "revisions": [], "seeds": [],
        },
        "status": {
            "agent": {
                "version": "0.1.0", "protocol": 2, "podUID": format!("pod-{rack}{ordinal}"),
                "revision": "r1", "node": format!("worker-{ordinal}"),
            },
            "server": {
                "state": "Running", "since": SINCE, "reason": "Running", "mode": "NORMAL",
                "nativeTransport": true, "version": "5.0.5",
                "message": "the server runs and is a full member",
            },
            "hostID": id,
            "ring": { "members": 3, "hash": "6f9c1d02aa", "schemaAgreed": true },
        },
    })
}

/// A ring of three that is well.
pub fn demo() -> Fake {
    let fake = Fake::new();
    fake.date("Thu, 01 Jan 2026 01:00:00 GMT");
    fake.put(
        "cassandraclusters",
        "default",
        "demo",
        json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraCluster",
            "spec": {
                "version": "5.0.5",
                "datacenter": { "name": "dc1", "racks": [
                    { "name": "a", "members": 2 }, { "name": "b", "members": 1 },
                ] },
            },
            "status": {
                "observedGeneration": 1,
                "epoch": 3,
                "decidedWith": {
                    "version": env!("CARGO_PKG_VERSION"),
                    "settings": { "agentImage": "palladion/agent:test" },
                },
                "members": "3/3",
                "health": {
                    "verdict": "Well", "since": SINCE,
                    "checks": [{ "name": "MembersHealthy", "result": "Pass" }],
                },
                "contactPoints": ["10.96.0.10:9042", "10.96.0.20:9042", "10.96.0.11:9042"],
                "conditions": [
                    condition("Accepted", "True", "Valid", "the spec is valid", SINCE),
                    condition("Available", "True", "Running", "3 of 3 members are ready", SINCE),
                    condition("Progressing", "False", "UpToDate", "all members are ready", SINCE),
                    condition("Degraded", "False", "UpToDate", "nothing needs attention", SINCE),
                    condition("Healthy", "True", "AllChecksPass", "every check passes", SINCE),
                ],
            },
        }),
    );
    let is_default = json!({ "storageclass.kubernetes.io/is-default-class": "true" });
    let class = json!({ "metadata": { "annotations": is_default }, "provisioner": "test" });
    fake.put("storageclasses", "", "standard", class);
    let members = [("a", 0, "10.96.0.10"), ("a", 1, "10.96.0.11"), ("b", 0, "10.96.0.20")];
    for (rack, ordinal, address) in members {
        let name = format!("demo-dc1-{rack}-{ordinal}");
        fake.put("cassandramembers", "default", &name, member(rack, ordinal, address));
    }
    fake
}

/// The same ring, with a member whose server fails.
pub fn ill() -> Fake {
    let fake = demo();
    let words = "the server of demo-dc1-a-1 exited with code 3";
    fake.edit("cassandraclusters", "default", "demo", |ring| {
        ring["status"]["members"] = json!("2/3");
        ring["status"]["conditions"][3] =
            condition("Degraded", "True", "ServerFailed", words, LATELY);
        ring["status"]["conditions"][4] = condition(
            "Healthy",
            "False",
            "MembersHealthy",
            "member demo-dc1-a-1: its server has failed: exit code 3",
            LATELY,
        );
        ring["status"]["health"] = json!({
            "verdict": "Ill", "since": LATELY,
            "checks": [
                {
                    "name": "MembersHealthy", "result": "Fail",
                    "message": "member demo-dc1-a-1: its server has failed: exit code 3",
                },
                { "name": "LinesSame", "result": "Pass" },
            ],
        });
        ring["status"]["contactPoints"] = json!(["10.96.0.10:9042", "10.96.0.20:9042"]);
        ring["status"]["turn"] = json!({
            "member": "demo-dc1-a-1", "volumeID": "volume-a1", "step": "Restart",
            "nonce": "n", "epoch": 3, "since": LATELY,
        });
        ring["status"]["waits"] = json!([{
            "reason": "WaitingForRing", "object": { "kind": "CassandraMember", "name": "demo-dc1-a-0" },
            "message": "member demo-dc1-a-0 waits to restart: demo-dc1-a-1 is down", "since": LATELY,
        }]);
    });
    fake.edit("cassandramembers", "default", "demo-dc1-a-1", |member| {
        member["status"]["server"] = json!({
            "state": "Failed", "since": LATELY, "reason": "ServerFailed",
            "message": "exit code 3", "version": "5.0.5",
        });
        member["status"].as_object_mut().unwrap().remove("ring");
    });
    let down = member("a", 1, "")["spec"]["hostID"].clone();
    fake.edit("cassandramembers", "default", "demo-dc1-a-0", |member| {
        member["status"]["ring"]["exceptions"] = json!([
            { "hostID": down, "address": "10.96.0.11", "liveness": "Down", "state": "Normal" },
        ]);
    });
    fake
}

/// The ring that is well, with a member that works at a task.
pub fn at_work() -> Fake {
    let fake = demo();
    fake.edit("cassandraclusters", "default", "demo", |ring| {
        ring["status"]["job"] = json!({
            "origin": "Task", "task": "nightly-cleanup", "taskUID": "t", "kind": "Cleanup",
            "nonce": "n", "epoch": 3, "since": LATELY,
        });
    });
    for (name, id, state) in [
        ("demo-dc1-a-0", "n-0-1", "Succeeded"),
        ("demo-dc1-a-1", "n-1-1", "Running"),
        ("demo-dc1-b-0", "of-before-0-1", "Running"),
    ] {
        fake.edit("cassandramembers", "default", name, |member| {
            member["status"]["job"] = json!({ "id": id, "state": state, "progress": 41 });
        });
    }
    fake
}

/// A member of it has joined, and all others have a cleanup pending; one is at it. Another
/// one changes the replication of the system keyspaces.
pub fn owes(fake: &Fake) {
    let cleanup = json!([{ "kind": "Cleanup", "reason": "member demo-dc1-b-1 joined" }]);
    for name in ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"] {
        fake.edit("cassandramembers", "default", name, |member| {
            member["spec"]["pendingMaintenance"] = cleanup.clone();
        });
    }
    fake.edit("cassandramembers", "default", "demo-dc1-a-0", |member| {
        member["spec"]["operation"] = json!({ "id": "m-1", "kind": "Cleanup" });
        member["status"]["operation"] = json!({ "id": "m-1", "state": "Running", "progress": 7 });
    });
    fake.edit("cassandramembers", "default", "demo-dc1-b-0", |member| {
        member["spec"]["operation"] = json!({ "id": "k-1", "kind": "AlterReplication" });
    });
}

/// A schedule covers it; ranges of one member were never repaired, and one does not report.
pub fn is_covered(fake: &Fake) {
    let gib = 1_u64 << 30;
    for (name, never, load) in [("demo-dc1-a-0", 0, 40 * gib), ("demo-dc1-a-1", 2, gib / 2)] {
        fake.edit("cassandramembers", "default", name, |member| {
            member["status"]["server"]["loadBytes"] = json!(load);
            member["status"]["repair"] =
                json!({ "oldestAt": "2025-12-28T21:00:00Z", "neverRanges": never, "ranges": 8 });
        });
    }
}

/// A task in this phase.
pub fn task(fake: &Fake, name: &str, phase: &str) {
    let words = format!("the task is {phase}");
    fake.put(
        "cassandratasks",
        "default",
        name,
        json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraTask",
            "spec": { "cluster": "demo", "replace": { "member": "demo-dc1-a-1" } },
            "status": {
                "phase": phase,
                "conditions": [condition("Complete", "False", "TaskRunning", &words, SINCE)],
            },
        }),
    );
}

/// A schedule of flushes.
pub fn schedule(fake: &Fake, name: &str) {
    let words = "the schedule is valid";
    fake.put(
        "cassandrataskschedules",
        "default",
        name,
        json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraTaskSchedule",
            "spec": {
                "cluster": "demo", "schedule": "0 2 * * *", "timeZone": "Europe/Berlin",
                "taskTemplate": {
                    "metadata": { "labels": { "team": "data" } },
                    "spec": { "flush": {}, "whenDown": "Skip" },
                },
            },
            "status": {
                "nextScheduleTime": "2026-02-01T01:00:00Z", "lastScheduleTime": LATELY,
                "active": ["nightly-29453820"], "missed": 2,
                "conditions": [
                    condition("Accepted", "True", "Valid", words, SINCE),
                    condition("Paused", "False", "UpToDate", "not paused", SINCE),
                ],
            },
        }),
    );
}

/// Events about the ring, a claim of a member, and strangers.
pub fn events(fake: &Fake) {
    let all = [
        ("1", "CassandraCluster", "demo", "Joining", "Normal", SINCE),
        ("2", "PersistentVolumeClaim", "data-demo-dc1-a-1", "FailedBinding", "Warning", LATELY),
        ("3", "Pod", "demo-dc1-b-0", "Started", "Normal", NOW),
        ("4", "Pod", "other-demo-dc1-b-0", "Started", "Normal", NOW),
        ("5", "CassandraCluster", "demo2", "Joining", "Normal", NOW),
    ];
    for (name, kind, object, reason, type_, last) in all {
        let event = json!({
            "apiVersion": "v1", "kind": "Event", "type": type_, "reason": reason,
            "message": format!("what happened to {object}"), "lastTimestamp": last, "count": 2,
            "involvedObject": { "kind": kind, "name": object, "namespace": "default" },
        });
        fake.put("events", "default", name, event);
    }
}
