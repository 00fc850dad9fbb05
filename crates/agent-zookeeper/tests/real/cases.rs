//! What real servers do under the agent.

use super::disk::copied;
use super::ensemble::{Ensemble, address_of, eventually, id_of};
use super::image;
use super::processes::signal;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

type Case = fn(&Path);

pub const ALL: &[(&str, Case)] = &[
    ("one_is_initialized_by_permit_and_two_join_without_a_restart", grows),
    ("a_leader_that_lost_its_power_comes_back_without_the_api", comes_back),
    ("a_wiped_server_is_replaced_under_a_new_id_and_votes_for_nothing", is_replaced),
    ("an_old_disk_that_returns_is_stopped_by_its_agent", ghost),
    ("a_leader_leaves_and_never_starts_again", leaves),
    ("the_last_one_goes_on_alone_by_permit", is_rescued),
    ("an_agent_that_dies_takes_nothing_with_it", agent_dies),
    ("a_member_at_rest_writes_nothing", rests),
    ("from_the_oldest_version_to_this_one_by_one_nothing_is_lost", is_upgraded),
];

const THREE: [&str; 3] = ["zk-1", "zk-2", "zk-3"];

fn starts(status: &Value) -> usize {
    status["startHistory"].as_array().map_or(0, Vec::len)
}

/// The member that leads.
fn leader(ensemble: &Ensemble, names: &[&'static str]) -> &'static str {
    let leads = |name: &&str| ensemble.api.status(name)["ensemble"]["mode"] == "Leader";
    eventually("a leader", || names.iter().any(&leads));
    names.iter().copied().find(|name| leads(name)).unwrap()
}

fn grows(home: &Path) {
    let mut ensemble = Ensemble::new(home);
    ensemble.add("zk-1");
    let empty = ensemble.waits_with("zk-1", "WaitingForPermit");
    assert_eq!((&empty["volume"]["state"], starts(&empty)), (&json!("Empty"), 0));
    assert_eq!(ensemble.pod("zk-1").get("/healthz").0, 200, "who waits is alive");
    assert_eq!(ensemble.pod("zk-1").get("/readyz").0, 503);
    ensemble.initialize("zk-1");
    ensemble.write("zk-1", "/before", "1");
    for (name, there) in [("zk-2", &THREE[..1]), ("zk-3", &THREE[..2])] {
        ensemble.add(name);
        ensemble.join(name, there);
    }
    for name in THREE {
        assert_eq!(ensemble.voters(name), [1, 2, 3]);
        assert_eq!(ensemble.read(name, "/before").as_deref(), Some("1"));
        eventually("all are ready", || ensemble.pod(name).get("/readyz").0 == 200);
        let status = ensemble.api.status(name);
        assert_eq!(starts(&status), 1, "{status:#}");
        assert_eq!(status["volume"]["state"], "Joined");
        assert!(ensemble.pod(name).get("/metrics").1.contains("zookeeper_mode{mode="));
    }
    // What a configuration of before would change is not changed.
    let late = ensemble.reconfigure_version("zk-1", &json!("100000000"), json!([]), json!([3]));
    assert_eq!((&late["answer"], &late["state"]), (&json!("BadVersion"), &json!("Failed")));
    // One that is not there joins nothing: nobody has synchronized it.
    let permit = ensemble.permit("zk-1", "Initialize", "Wipe", &[]);
    let refused = |s: &Value| s["permit"]["nonce"] == permit.as_str();
    let status = ensemble.wait_for("zk-1", "an answer to the second permit", refused);
    assert_eq!(status["permit"]["state"], "Refused");
    assert_eq!(ensemble.read("zk-1", "/before").as_deref(), Some("1"));
}

fn comes_back(home: &Path) {
    let mut ensemble = Ensemble::of(home, &THREE);
    let leads = leader(&ensemble, &THREE);
    let other = THREE.into_iter().find(|name| *name != leads).unwrap();
    ensemble.write(leads, "/a", "1");
    ensemble.api.go_away();
    ensemble.take(leads).kill();
    ensemble.write(other, "/b", "2");
    ensemble.start(leads);
    eventually("it serves with all that was acknowledged", || {
        ensemble.read(leads, "/a").is_some() && ensemble.read(leads, "/b").is_some()
    });
    ensemble.api.come_back();
    ensemble.wait_for(leads, "its second start", |s| starts(s) == 2);
    ensemble.serves(leads);
    // A restart that somebody asks for is made once.
    ensemble.spec(other, json!({ "restartToken": "t1" }));
    let restarted = |s: &Value| s["server"]["restartToken"] == "t1" && starts(s) == 2;
    ensemble.wait_for(other, "a restart", restarted);
    ensemble.serves(other);
    assert_eq!(ensemble.voters(other), [1, 2, 3]);
    // The container ends in order, and with it the server.
    ensemble.take(other).end();
    ensemble.start(other);
    ensemble.wait_for(other, "its third start", |s| starts(s) == 3);
    ensemble.serves(other);
}

fn is_replaced(home: &Path) {
    let mut ensemble = Ensemble::of(home, &THREE);
    ensemble.write("zk-1", "/w", "acknowledged");
    // A part of the data is gone: it would vote for nothing of what it has acknowledged.
    ensemble.take("zk-2").kill();
    fs::remove_dir_all(ensemble.volume("zk-2").join("datalog/version-2")).unwrap();
    ensemble.start("zk-2");
    let lost = ensemble.waits_with("zk-2", "VolumeLost");
    assert!(lost["volume"]["message"].as_str().unwrap().contains("transaction logs"));
    assert_eq!((&lost["volume"]["state"], starts(&lost)), (&json!("Lost"), 1));
    // And all of it, with the marker.
    ensemble.take("zk-2").kill();
    ensemble.wipe("zk-2");
    ensemble.start("zk-2");
    let lost = ensemble
        .wait_for("zk-2", "another volume", |s| s["volume"]["state"] == "Lost" && starts(s) == 0);
    let volume = lost["volume"]["volumeID"].clone();
    assert!(ensemble.pod("zk-2").server().is_none());
    // Under a new ID it joins, and takes the place of the old one in one change.
    ensemble.spec("zk-2", json!({ "serverID": 4, "volumeID": volume, "starts": 0 }));
    let nonce = ensemble.permit("zk-2", "Join", "MustBeEmpty", &["zk-1", "zk-3"]);
    ensemble.wait_for("zk-2", "a quorum", |s| s["ensemble"]["mode"] == "Follower");
    let add = json!([{ "serverID": 4, "address": address_of("zk-2") }]);
    let made = ensemble.reconfigure("zk-1", add, json!([2]));
    assert_eq!(made["answer"], "Made", "{made:#}");
    let done = |s: &Value| s["permit"]["nonce"] == nonce.as_str() && s["permit"]["state"] == "Done";
    let status = ensemble.wait_for("zk-2", "a member", done);
    assert_eq!((&status["serverID"], &status["volume"]["state"]), (&json!(4), &json!("Joined")));
    assert_eq!(ensemble.voters("zk-2"), [1, 3, 4]);
    assert_eq!(ensemble.read("zk-2", "/w").as_deref(), Some("acknowledged"));
}

fn ghost(home: &Path) {
    let mut ensemble = Ensemble::of(home, &THREE);
    let starts_before = ensemble.api.status("zk-3")["volume"]["starts"].clone();
    ensemble.take("zk-3").kill();
    let old = ensemble.scratch.path().join("old");
    copied(&ensemble.volume("zk-3"), &old);
    let made = ensemble.reconfigure("zk-1", json!([]), json!([3]));
    assert_eq!(made["answer"], "Made", "{made:#}");
    // With nobody to ask it starts, learns that it was taken out, and ends.
    ensemble.api.go_away();
    ensemble.start("zk-3");
    eventually("it was stopped", || {
        let log = ensemble.pod("zk-3").log();
        log.contains("taken out of the ensemble") && ensemble.pod("zk-3").server().is_none()
    });
    ensemble.take("zk-3").kill();
    ensemble.api.come_back();
    ensemble.start("zk-3");
    let status = ensemble.waits_with("zk-3", "NotInEnsemble");
    assert!(status["volume"]["starts"].as_i64() > starts_before.as_i64());
    ensemble.record("zk-3");
    // And the copy of its disk from before is known by its counter.
    ensemble.take("zk-3").kill();
    ensemble.start_with("zk-3", &old, home);
    let status = ensemble.waits_with("zk-3", "VolumeRolledBack");
    assert_eq!(status["volume"]["state"], "RolledBack");
    assert!(ensemble.pod("zk-3").server().is_none());
    assert_eq!(ensemble.voters("zk-1"), [1, 2]);
}

fn leaves(home: &Path) {
    let mut ensemble = Ensemble::of(home, &THREE);
    let leads = leader(&ensemble, &THREE);
    let rest: Vec<&str> = THREE.into_iter().filter(|name| *name != leads).collect();
    ensemble.write(rest[0], "/kept", "1");
    let made = ensemble.reconfigure(rest[0], json!([]), json!([id_of(leads)]));
    assert!(made["answer"] == "Made" || made["answer"] == "NoAnswer", "{made:#}");
    let ids: Vec<i64> = rest.iter().map(|name| id_of(name)).collect();
    eventually("a leader of the rest", || {
        rest.iter().any(|name| ensemble.api.status(name)["ensemble"]["mode"] == "Leader")
    });
    assert_eq!(ensemble.voters(rest[1]), ids);
    let volume = ensemble.api.status(leads)["volume"]["volumeID"].clone();
    let intent = json!({ "kind": "Leave", "nonce": "leave", "volumeID": volume });
    ensemble.spec(leads, json!({ "intent": intent }));
    let done = |s: &Value| s["intent"]["state"] == "Done" && s["volume"]["state"] == "Left";
    ensemble.wait_for(leads, "the end of the leave", done);
    ensemble.spec(leads, json!({ "intent": null, "run": "Running" }));
    ensemble.take(leads).kill();
    ensemble.start(leads);
    ensemble.waits_with(leads, "Decommissioned");
    assert!(ensemble.pod(leads).server().is_none());
    for name in rest {
        assert_eq!(ensemble.read(name, "/kept").as_deref(), Some("1"));
    }
}

fn is_rescued(home: &Path) {
    let mut ensemble = Ensemble::of(home, &THREE);
    ensemble.write("zk-1", "/w", "acknowledged");
    eventually("it has it", || ensemble.read("zk-3", "/w").is_some());
    for name in ["zk-1", "zk-2"] {
        ensemble.take(name).kill();
        ensemble.wipe(name);
    }
    let told = |s: &Value| s["ensemble"]["mode"].is_null() && s["volume"]["lastZxid"].is_string();
    let status = ensemble.wait_for("zk-3", "how far its data goes", told);
    assert!(status["volume"]["epoch"].as_i64() >= Some(1), "{status:#}");
    assert_eq!(ensemble.pod("zk-3").get("/readyz").0, 503);
    assert!(ensemble.view("zk-3").is_null(), "it can open no session");
    let nonce = ensemble.permit("zk-3", "Rescue", "Keep", &[]);
    let done = |s: &Value| s["permit"]["nonce"] == nonce.as_str() && s["permit"]["state"] == "Done";
    ensemble.wait_for("zk-3", "the rescue", done);
    assert_eq!(ensemble.voters("zk-3"), [3]);
    assert_eq!(ensemble.read("zk-3", "/w").as_deref(), Some("acknowledged"));
    ensemble.write("zk-3", "/after", "2");
}

fn agent_dies(home: &Path) {
    let mut ensemble = Ensemble::of(home, &THREE[..1]);
    let pod = ensemble.pod("zk-1");
    let (server, agent) = (pod.server().unwrap(), pod.agent().unwrap());
    signal(agent, "KILL");
    eventually("another agent", || ensemble.pod("zk-1").agent().is_some_and(|pid| pid != agent));
    assert_eq!(ensemble.pod("zk-1").server(), Some(server));
    // It has the password of the server, which an earlier agent has started.
    ensemble.add("zk-2");
    ensemble.join("zk-2", &["zk-1"]);
    assert_eq!(ensemble.voters("zk-1"), [1, 2]);
    assert_eq!(ensemble.pod("zk-1").server(), Some(server));
    // A server that dies is started again.
    signal(server, "KILL");
    ensemble.wait_for("zk-1", "its second start", |s| starts(s) == 2);
    ensemble.serves("zk-1");
    let status = ensemble.api.status("zk-1");
    assert_eq!(status["startHistory"][1]["exitCode"], 137, "{status:#}");
}

fn rests(home: &Path) {
    let mut ensemble = Ensemble::of(home, &THREE[..1]);
    let healthy = |s: &Value| s["health"][0]["result"] == "Healthy";
    ensemble.wait_for("zk-1", "health that counts", healthy);
    let before = ensemble.view("zk-1");
    std::thread::sleep(Duration::from_secs(3));
    let writes = ensemble.api.status_writes();
    std::thread::sleep(Duration::from_secs(15));
    assert_eq!(ensemble.api.status_writes(), writes);
    let after = ensemble.view("zk-1");
    let zxid = |view: &Value| i64::from_str_radix(view["zxid"].as_str().unwrap(), 16).unwrap();
    // A question opens and closes one session, and nothing else is written.
    assert!(zxid(&after) - zxid(&before) <= 3, "{before:#} {after:#}");
}

/// The leader last, as an operator does it.
fn is_upgraded(home: &Path) {
    let oldest = image::home(image::OLDEST);
    let mut ensemble = Ensemble::of(&oldest, &THREE);
    let leads = leader(&ensemble, &THREE);
    let mut order: Vec<&str> = THREE.into_iter().filter(|name| *name != leads).collect();
    order.push(leads);
    for (name, path) in order.iter().zip(["/a", "/b", "/c"]) {
        ensemble.write(order[0], path, name);
        ensemble.take(name).end();
        let volume = ensemble.volume(name);
        ensemble.start_with(name, &volume, home);
        ensemble.wait_for(name, "its second start", |s| starts(s) == 2);
        ensemble.serves(name);
        assert_eq!(ensemble.voters(name), [1, 2, 3]);
    }
    let version = home.to_string_lossy().rsplit('-').next().unwrap().to_string();
    for name in order {
        assert_eq!(ensemble.api.status(name)["server"]["version"], version.as_str());
        assert!(["/a", "/b", "/c"].iter().all(|path| ensemble.read(name, path).is_some()));
    }
}
