//! What a pod of RabbitMQ does.

use super::fake_node::TABLES_OF_OTHERS;
use super::harness::{NAME, NODE, Pod, SECRETS, eventually};
use super::processes::signal;
use palladion_agent_rabbitmq::work::definitions;
use palladion_api::rabbitmq::{COOKIE_KEY, DEFINITIONS_KEY, RABBITMQ_CONFIG_FILE};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

type Case = fn();

pub const ALL: &[(&str, Case)] = &[
    ("a_node_waits_for_its_permit_is_set_up_closed_and_opened", is_initialized),
    ("a_member_at_rest_writes_nothing_and_answers_each_question_once", rests),
    ("a_node_that_is_slow_and_asked_again_at_once_says_that_it_has_caught_up", is_slow),
    ("a_node_that_says_nothing_in_time_is_answered_for_in_time", is_silent),
    ("a_member_comes_back_without_the_api_and_an_agent_without_its_node", comes_back),
    ("the_second_of_two_is_opened_as_it_runs", joins_as_second),
    ("the_third_of_three_starts_again_to_be_open", joins_as_third),
    ("a_joiner_that_is_killed_before_its_application_starts_goes_on", is_killed_in_its_join),
    ("a_joiner_that_is_killed_while_it_is_taken_in_keeps_what_it_has", is_killed_while_taken_in),
    ("a_joiner_that_the_others_name_without_their_data_says_so_and_tries_again", is_refused),
    ("an_application_is_stopped_and_started_by_intent_and_a_leave_is_for_good", leaves),
    ("operations_are_done_when_what_they_are_for_is_so", operates),
    ("a_queue_whose_replica_another_member_has_moved_gets_no_spare_one", moves_at_once),
    ("what_a_failed_import_prints_is_in_no_status_and_no_log", keeps_passwords),
    ("a_new_cluster_whose_definitions_are_refused_says_so_until_they_are_right", is_corrected),
    ("a_queue_grows_whatever_its_name_is_and_whatever_another_one_refuses", grows),
    ("a_stream_stays_where_it_is_whole_until_the_others_have_all_of_it", keeps_streams),
    ("a_container_that_ends_hands_over_and_starts_nothing", ends),
    ("what_is_missing_or_differs_in_the_secret_is_told", credentials),
    ("a_user_that_somebody_deleted_is_made_again", is_denied),
    ("a_virtual_host_that_a_new_cluster_asks_for_on_kept_volumes_is_made", gets_its_vhost),
    ("a_joiner_takes_a_corrected_cookie_with_its_next_permit", takes_its_cookie),
    ("a_pod_of_another_cluster_starts_nothing_and_uses_up_no_permit", is_elsewhere),
    ("a_member_without_its_quorum_logs_never_starts_again", is_lost),
];

fn starts(status: &Value) -> usize {
    status["startHistory"].as_array().map_or(0, Vec::len)
}

fn is_initialized() {
    let pod = Pod::started();
    let waits = |s: &Value| s["server"]["reason"] == "WaitingForPermit" && s["volume"].is_object();
    let status = pod.wait_for("a permit", waits);
    assert_eq!((&status["volume"]["state"], starts(&status)), (&json!("Empty"), 0));
    assert_eq!((pod.get("/healthz").0, pod.get("/readyz").0), (200, 503));
    pod.permit("Initialize", "n1", json!([]));
    let status = pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
    assert_eq!((&status["volume"]["state"], &status["nodeName"]), (&json!("Joined"), &json!(NODE)));
    assert_eq!(starts(&status), 2, "closed first, then open");
    pod.never_lost();
    assert_eq!(status["broker"]["members"], json!([NODE]));
    eventually("it is ready", || pod.get("/readyz").0 == 200);
    let fake = pod.fake().read();
    let users: Vec<&String> = fake["users"].as_object().unwrap().keys().collect();
    assert_eq!(users, ["contrail", "palladion"], "guest is gone");
    assert_eq!(fake["tags"]["palladion"], "monitoring");
    assert_eq!(fake["vhosts"], json!(["/", "contrail"]));
    assert_eq!(fake["queues"][0]["name"], "defined", "its definitions are imported");
    let calls = pod.calls();
    let (plugins, import) =
        (calls.find("rabbitmq-plugins set"), calls.find("rabbitmqctl import_definitions"));
    assert!(plugins.is_some() && plugins < import, "plugins know parts of definitions: {calls}");
    for (_, secret) in SECRETS.iter().filter(|(key, _)| key.contains("password")) {
        assert!(!pod.calls().contains(secret), "a password stands on a command line");
        assert!(!pod.log().contains(secret), "a password is logged");
    }
    eventually("its figures", || pod.get("/metrics").1.contains("rabbitmq_connections 2"));
}

fn rests() {
    let pod = Pod::initialized();
    pod.wait_for("health that counts", |s| s["health"][0]["result"] == "Healthy");
    // A question is answered by what is read after it.
    pod.spec(json!({ "evidence": { "nonce": "q1" } }));
    let answer = pod.wait_for("an answer", |s| s["evidence"]["nonce"] == "q1");
    let (broker, queues) = (&answer["evidence"]["broker"], &answer["evidence"]["queues"]);
    assert_eq!(broker["running"], json!([NODE]));
    assert_eq!(broker["flags"]["stableDisabled"], json!(["stream_queue"]));
    assert_eq!(queues["nodes"][0]["classic"]["names"], json!(["defined in contrail"]));
    let flags = |s: &Value| s["broker"]["flags"]["enabled"] == json!(["quorum_queue"]);
    pod.wait_for("its flags", flags);
    std::thread::sleep(Duration::from_secs(9));
    let (writes, calls) = (pod.api.status_writes(), pod.calls().lines().count());
    std::thread::sleep(Duration::from_secs(9));
    assert_eq!(pod.api.status_writes(), writes);
    assert_eq!(pod.calls().lines().count(), calls, "each costs a second of a processor");
    // What replicas it has had caught up by then.
    pod.spec(json!({ "evidence": { "nonce": "q2" } }));
    let answer = pod.wait_for("an answer", |s| s["evidence"]["nonce"] == "q2");
    assert_eq!(answer["evidence"]["queues"]["behind"]["count"], 0, "{answer:#}");
}

/// An agent that has just begun knows nothing of its replicas. As long as its node is asked one
/// question after the other, no look at them falls between two.
fn is_slow() {
    let pod = Pod::initialized();
    pod.fake().change(|state| {
        let quorum = json!({ "name": "q", "vhost": "/", "type": "quorum", "durable": true,
            "members": [NODE], "online": [NODE], "node": NODE });
        state["queues"].as_array_mut().unwrap().push(quorum);
        state["slow"] = json!(3);
    });
    pod.spec(json!({ "evidence": { "nonce": "q0" } }));
    signal(pod.agent().unwrap(), "KILL");
    let behind = |nth: usize| {
        let nonce = format!("q{nth}");
        let answer = pod.wait_for("an answer", |s| s["evidence"]["nonce"] == nonce);
        pod.spec(json!({ "evidence": { "nonce": format!("q{}", nth + 1) } }));
        answer["evidence"]["queues"]["behind"].clone()
    };
    let said: Vec<Value> = (0..8).map(behind).collect();
    assert_eq!(said[0], Value::Null, "{said:?}");
    assert_eq!(said[7]["count"], 0, "{said:?}");
}

/// What the operator does not hear in its time it asks again, and would never hear.
fn is_silent() {
    let pod = Pod::initialized();
    pod.fake().change(|state| state["slow"] = json!(40));
    pod.spec(json!({ "evidence": { "nonce": "q1" } }));
    let asked = Instant::now();
    let answer = pod.wait_for("an answer", |s| s["evidence"]["nonce"] == "q1");
    assert!(asked.elapsed() < Duration::from_secs(29), "{:?}", asked.elapsed());
    assert!(answer["evidence"]["broker"].is_null() && answer["evidence"]["queues"].is_null());
}

fn comes_back() {
    let mut pod = Pod::initialized();
    let (node, agent) = (pod.node().unwrap(), pod.agent().unwrap());
    signal(agent, "KILL");
    eventually("another agent", || pod.agent().is_some_and(|pid| pid != agent));
    eventually("it is ready", || pod.get("/readyz").0 == 200);
    assert_eq!(pod.node(), Some(node));
    pod.api.go_away();
    assert_eq!(pod.end(), Some(0));
    pod.start();
    eventually("the node", || pod.node().is_some());
    eventually("it is ready", || pod.get("/readyz").0 == 200);
    pod.api.come_back();
    pod.wait_for("its third start", |s| starts(s) == 3 && s["server"]["state"] == "Running");
}

fn joins_as_second() {
    let pod = Pod::joined(&["rabbit@b"]);
    let status = pod.status();
    assert_eq!(starts(&status), 1, "the other would have paused meanwhile: {status:#}");
    assert_eq!(status["broker"]["members"], json!([NODE, "rabbit@b"]));
    assert!(pod.calls().contains("rabbitmqctl join_cluster rabbit@b"));
    assert!(pod.calls().contains("rabbitmq-plugins set rabbitmq_management"));
    // It is known to be open after an agent of its own was started anew.
    let agent = pod.agent().unwrap();
    signal(agent, "KILL");
    eventually("another agent", || pod.agent().is_some_and(|pid| pid != agent));
    std::thread::sleep(Duration::from_secs(3));
    eventually("it is ready", || pod.get("/readyz").0 == 200);
    assert_eq!(starts(&pod.status()), 1);
}

fn joins_as_third() {
    let pod = Pod::started();
    let others = json!(["rabbit@b", "rabbit@c"]);
    pod.fake()
        .change(|state| (state["joins"], state["away"]) = (others.clone(), json!(["rabbit@b"])));
    // One of those that it joins through is away: it takes the next.
    pod.permit("Join", "n1", others);
    pod.wait_for("that it waits for the other", |s| {
        s["server"]["message"].as_str().is_some_and(|text| text.contains("does not see rabbit@b"))
    });
    assert!(pod.calls().contains("join_cluster rabbit@c"));
    assert_eq!(pod.get("/readyz").0, 503);
    pod.fake().change(|state| state["away"] = json!([]));
    let status = pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
    assert_eq!(starts(&status), 2);
    assert_eq!(pod.fake().read()["flags"][0]["state"], "enabled", "with the flags of its cluster");
}

/// The first of two pauses without it: who takes its volume for a lost one has lost both.
fn is_killed_in_its_join() {
    let mut pod = Pod::started();
    pod.fake().change(|state| {
        (state["joins"], state["hangs"]) = (json!(["rabbit@b"]), true.into());
    });
    pod.permit("Join", "n1", json!(["rabbit@b"]));
    eventually("it was taken in", || pod.calls().contains("rabbitmqctl start_app"));
    pod.wait_for("its start", |s| starts(s) == 1);
    pod.kill();
    pod.start();
    pod.wait_for("another start", |s| starts(s) == 2);
    // And again before its application runs: that start has noted nothing.
    eventually("it runs", || pod.node().is_some());
    pod.kill();
    assert!(!pod.path("volume/rabbitmq").join(NODE).join("quorum").exists());
    pod.fake().change(|state| state["hangs"] = false.into());
    pod.start();
    let status = pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
    pod.never_lost();
    assert_eq!(starts(&status), 3, "by itself each time: {status:#}");
    assert_eq!(status["broker"]["members"], json!([NODE, "rabbit@b"]));
    eventually("it is ready", || pod.get("/readyz").0 == 200);
}

/// Inside `join_cluster`: the others name it, its own file does not name them. It goes on in the
/// same container, where its permit is in use.
fn is_killed_while_taken_in() {
    let pod = Pod::started();
    pod.fake().change(|state| {
        (state["joins"], state["inside"]) = (json!(["rabbit@b"]), true.into());
    });
    pod.permit("Join", "n1", json!(["rabbit@b"]));
    let data = pod.path("volume/rabbitmq").join(NODE);
    eventually("it is being taken in", || data.join(TABLES_OF_OTHERS).exists());
    signal(pod.node().unwrap(), "KILL");
    pod.fake().change(|state| state["inside"] = false.into());
    let status = pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
    pod.never_lost();
    assert_eq!(status["broker"]["members"], json!([NODE, "rabbit@b"]));
    let joins = pod.calls().matches("join_cluster").count();
    assert_eq!(joins, 1, "it booted as a member with what it had: {}", pod.calls());
}

fn is_refused() {
    let pod = Pod::started();
    pod.fake().change(|state| {
        (state["joins"], state["refuse"]) = (json!(["rabbit@b"]), json!(["rabbit@b"]));
    });
    pod.permit("Join", "n1", json!(["rabbit@b"]));
    let status =
        pod.wait_for("that it is refused", |s| s["server"]["reason"] == "NamedWithoutData");
    let told = status["server"]["message"].as_str().unwrap();
    assert!(told.contains("named as a member of the cluster by rabbit@b"), "{told}");
    // The others forget it: the next try is the last.
    pod.fake().change(|state| state["refuse"] = json!([]));
    let status = pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
    assert_eq!(starts(&status), 1, "the second of two is opened as it runs");
}

fn leaves() {
    let mut pod = Pod::joined(&["rabbit@b"]);
    let node = pod.node().unwrap();
    let intent = |kind: &str, nonce: &str| json!({ "intent": { "kind": kind, "nonce": nonce, "volumeID": pod.volume_id() } });
    pod.spec(intent("StopApp", "i1"));
    let done =
        |nonce: &str, s: &Value| s["intent"]["nonce"] == nonce && s["intent"]["state"] == "Done";
    pod.wait_for("the end of the application", |s| done("i1", s));
    assert_eq!((pod.node(), pod.fake().read()["app"].clone()), (Some(node), json!(false)));
    let calls = pod.calls();
    let (drained, stopped) =
        (calls.find("rabbitmq-upgrade drain"), calls.rfind("rabbitmqctl stop_app"));
    let handed_over = calls.find("transfer_leadership");
    assert!(drained.is_some() && drained < handed_over && handed_over < stopped, "{calls}");
    pod.spec(json!({ "evidence": { "nonce": "q1" } }));
    let answer = pod.wait_for("an answer", |s| s["evidence"]["nonce"] == "q1");
    assert!(answer["evidence"]["broker"].is_null(), "it sees none");
    // Withdrawn, it comes back.
    pod.spec(json!({ "intent": null }));
    eventually("it is ready again", || pod.get("/readyz").0 == 200);
    assert_eq!(pod.node(), Some(node));
    pod.spec(intent("StopApp", "i2"));
    pod.wait_for("the end of the application", |s| done("i2", s));
    pod.spec(intent("Leave", "i3"));
    let left = |s: &Value| done("i3", s) && s["volume"]["state"] == "Left";
    pod.wait_for("the end of the leave", left);
    assert_eq!(pod.node(), None);
    pod.spec(json!({ "intent": null }));
    assert_eq!(pod.end(), Some(0));
    pod.start();
    pod.wait_for("that it starts no more", |s| s["server"]["reason"] == "Decommissioned");
    assert_eq!(pod.node(), None);
}

fn operates() {
    let pod = Pod::joined(&["rabbit@b", "rabbit@c"]);
    let enabled = pod.operate("o1", "EnableFeatureFlags", json!({}));
    assert_eq!(enabled["state"], "Succeeded", "{enabled:#}");
    let flags = pod.fake().read()["flags"].clone();
    assert_eq!((&flags[1]["state"], &flags[2]["state"]), (&json!("enabled"), &json!("disabled")));
    let queue = |name: &str, members: &[&str]| {
        json!({ "name": name, "vhost": "/", "type": "quorum", "durable": true,
                "members": members, "online": members, "node": members[0] })
    };
    pod.fake().change(|state| {
        state["queues"] = json!([
            queue("q", &["rabbit@b", "rabbit@c"]),
            queue("whole", &["rabbit@b", "rabbit@c", NODE])
        ]);
    });
    let grown = pod.operate("o2", "Grow", json!({}));
    assert_eq!(grown["state"], "Succeeded", "{grown:#}");
    assert!(grown["message"].as_str().unwrap().contains("1 queue"), "{grown:#}");
    // A node that runs is not forgotten, and neither is one that a queue names.
    let forget = |id: &str| pod.operate(id, "Forget", json!({ "node": "rabbit@c" }));
    assert_eq!(forget("o3")["state"], "Failed");
    pod.fake().change(|state| state["away"] = json!(["rabbit@c"]));
    let named = forget("o4");
    assert!(named["message"].as_str().unwrap().contains("queues still name"), "{named:#}");
    pod.fake().change(|state| {
        let queues = state["queues"].as_array_mut().unwrap();
        queues.push(queue("stubborn", &["rabbit@b", "rabbit@c", NODE]));
        queues.push(json!({ "name": "two", "vhost": "/", "type": "quorum", "durable": true,
            "members": ["rabbit@b", "rabbit@c"], "online": ["rabbit@b"], "node": "rabbit@b" }));
    });
    let moved = pod.operate("o5", "MoveReplicas", json!({ "node": "rabbit@c" }));
    assert_eq!(moved["state"], "Succeeded", "{moved:#}");
    assert_eq!(moved["queues"]["names"], json!(["stubborn", "two"]), "an exit code proves nothing");
    pod.fake().change(|state| state["queues"].as_array_mut().unwrap().truncate(2));
    let forgotten = forget("o6");
    assert_eq!(forgotten["state"], "Succeeded", "{forgotten:#}");
    let removals = || pod.calls().matches("ra:remove_member").count();
    assert_eq!(removals(), 1);
    assert_eq!(forget("o7")["state"], "Succeeded", "it is so already");
    assert_eq!(removals(), 2, "an earlier try may have ended before");
    let hash = pod.status()["definitionsHash"].clone();
    let other = pod.operate("o8", "ImportDefinitions", json!({ "definitionsHash": "x" }));
    assert_eq!(other["state"], "Failed", "{other:#}");
    let imported = pod.operate("o9", "ImportDefinitions", json!({ "definitionsHash": hash }));
    assert_eq!(imported["state"], "Succeeded", "{imported:#}");
    assert_eq!(pod.operate("o10", "Rebalance", json!({}))["state"], "Succeeded");
}

/// An agent that was not heard of for a while goes on with an order that another one has by now.
fn moves_at_once() {
    let pod = Pod::joined(&["rabbit@b", "rabbit@c"]);
    let queue = |name: &str, members: &[&str]| {
        json!({ "name": name, "vhost": "/", "type": "quorum", "durable": true,
                "members": members, "online": members, "node": members[0] })
    };
    pod.fake().change(|state| {
        state["queues"] = json!([
            queue("first", &["rabbit@b", "rabbit@c", NODE]),
            queue("second", &["rabbit@b", "rabbit@c"])
        ]);
    });
    let moved = pod.operate("o1", "MoveReplicas", json!({ "node": "rabbit@c" }));
    assert_eq!(moved["state"], "Succeeded", "{moved:#}");
    let queues = pod.fake().read()["queues"].clone();
    assert_eq!(queues[0]["members"], json!(["rabbit@b", NODE]));
    assert_eq!(queues[1]["members"], json!(["rabbit@b", "rabbit@d"]));
}

/// RabbitMQ prints what it does not take, and users of definitions have passwords.
fn keeps_passwords() {
    let pod = Pod::initialized();
    let text = json!({ "users": { "name": "u", "password": "of-a-user" } }).to_string();
    let path = pod.path("definitions").join(DEFINITIONS_KEY);
    fs::write(&path, &text).unwrap();
    let hash = definitions::hash(&path).unwrap();
    let failed = pod.operate("o1", "ImportDefinitions", json!({ "definitionsHash": hash }));
    assert_eq!(failed["state"], "Failed", "{failed:#}");
    let said = failed["message"].as_str().unwrap();
    assert!(said.contains("exit code 69") && said.contains("import_definitions"), "{said}");
    let statuses = json!(pod.api.statuses(NAME)).to_string();
    assert!(!statuses.contains("of-a-user"), "a password is in a status");
    assert!(!pod.log().contains("of-a-user"), "a password is logged");
}

/// Before its first node serves, nobody could tell it from one that is slow.
fn is_corrected() {
    let mut pod = Pod::prepared();
    let path = pod.path("definitions").join(DEFINITIONS_KEY);
    let right = fs::read_to_string(&path).unwrap();
    let refused = json!({ "users": { "name": "u", "password": "of-a-user" } }).to_string();
    fs::write(&path, &refused).unwrap();
    pod.start();
    pod.permit("Initialize", "n1", json!([]));
    let says = |s: &Value, word: &str| {
        let message = s["server"]["message"].as_str().unwrap_or_default();
        s["server"]["reason"] == "DefinitionsPending" && message.contains(word)
    };
    pod.wait_for("a refusal", |s| says(s, "import_definitions"));
    fs::write(&path, "[]").unwrap();
    let status = pod.wait_for("no definitions", |s| says(s, "definitions.json"));
    assert_eq!((&status["server"]["state"], starts(&status)), (&json!("Starting"), 1));
    let statuses = json!(pod.api.statuses(NAME)).to_string();
    assert!(!statuses.contains("of-a-user") && !pod.log().contains("of-a-user"));
    fs::write(&path, right).unwrap();
    let status = pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
    assert_ne!(status["server"]["reason"], "DefinitionsPending");
}

fn grows() {
    let pod = Pod::joined(&["rabbit@b", "rabbit@c"]);
    let queue = |name: &str, vhost: &str| {
        let members = ["rabbit@b", "rabbit@c"];
        json!({ "name": name, "vhost": vhost, "type": "quorum", "durable": true,
                "members": members, "online": members, "node": members[0] })
    };
    pod.fake().change(|state| {
        let queues = [("--help", "-v"), ("-n", "/"), ("sick", "/"), ("well", "/")];
        state["queues"] = queues.map(|(name, vhost)| queue(name, vhost)).to_vec().into();
    });
    let grown = pod.operate("o1", "Grow", json!({}));
    let left = (&grown["state"], &grown["queues"]["names"]);
    assert_eq!(left, (&json!("Succeeded"), &json!(["sick"])), "{grown:#}");
    let queues = pod.fake().read()["queues"].clone();
    let has = |queue: &Value| queue["members"].as_array().unwrap().contains(&json!(NODE));
    let grown: Vec<bool> = queues.as_array().unwrap().iter().map(has).collect();
    assert_eq!(grown, [true, true, false, true]);
    let moved = pod.operate("o2", "MoveReplicas", json!({ "node": "rabbit@c" }));
    assert_eq!(moved["queues"]["names"], json!(["sick"]), "{moved:#}");
}

/// A first try has added the other replica and was cut short; it copies, and is online.
fn keeps_streams() {
    let pod = Pod::joined(&["rabbit@b"]);
    let members = json!(["rabbit@b", NODE]);
    pod.fake().change(|state| {
        state["queues"] = json!([{ "name": "s", "vhost": "/", "type": "stream", "durable": true,
            "members": members, "online": members, "node": "rabbit@b", "reached": { NODE: 5 } }]);
    });
    let looks = || pod.calls().matches("Raft State").count();
    let before = looks();
    pod.order("o1", "MoveReplicas", json!({ "node": "rabbit@b" }));
    let deletions = || pod.calls().matches("rabbit_stream_coordinator:delete_replica").count();
    eventually("it has looked at the copy", || looks() > before + 3 || deletions() > 0);
    assert_eq!((deletions(), &pod.fake().read()["queues"][0]["members"]), (0, &members));
    pod.fake().change(|state| state["queues"][0]["reached"] = json!({}));
    let moved = pod.ended("o1");
    assert_eq!((&moved["state"], &moved["queues"]), (&json!("Succeeded"), &Value::Null));
    assert_eq!(pod.fake().read()["queues"][0]["members"], json!([NODE]));
}

fn ends() {
    let mut pod = Pod::initialized();
    let node = pod.node().unwrap();
    let told = pod.drain();
    assert!(told.contains("handed over"), "{told}");
    let calls = pod.calls();
    let order = ["await_online_quorum_plus_one", "await_online_synchronized_mirror", "drain"];
    let at: Vec<_> =
        order.iter().map(|verb| calls.find(&format!("rabbitmq-upgrade {verb}"))).collect();
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{calls}");
    eventually("it is not ready", || pod.get("/readyz").0 == 503);
    signal(node, "KILL");
    pod.wait_for("the end of the node", |s| s["startHistory"][0]["endedAt"].is_string());
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!((pod.node(), starts(&pod.status())), (None, 2));
    assert_eq!(pod.end(), Some(0));
}

fn credentials() {
    let mut pod = Pod::prepared();
    let cookie = pod.path("secret").join(COOKIE_KEY);
    fs::remove_file(&cookie).unwrap();
    pod.start();
    pod.permit("Initialize", "n1", json!([]));
    let waits = |s: &Value| s["server"]["reason"] == "CredentialsMissing";
    let status = pod.wait_for("the Secret", waits);
    assert!(status["permit"].is_null(), "it is not used up: {status:#}");
    fs::write(&cookie, "COOKIE").unwrap();
    pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
    fs::write(&cookie, "OTHER").unwrap();
    pod.wait_for("what differs", |s| s["server"]["reason"] == "CookieDiffers");
    assert_eq!(pod.get("/readyz").0, 200, "it runs on");
    let kept = fs::read_to_string(pod.path("volume/rabbitmq/.erlang.cookie")).unwrap();
    assert_eq!(kept, "COOKIE");
}

fn is_denied() {
    let pod = Pod::initialized();
    pod.fake().change(|state| state["users"].as_object_mut().unwrap().remove("palladion"));
    eventually("it is made again", || {
        pod.fake().read()["users"]["palladion"] == "agent-secret" && pod.get("/readyz").0 == 200
    });
}

fn gets_its_vhost() {
    let mut pod = Pod::initialized();
    pod.wait_for("its start", |s| s["server"]["state"] == "Running");
    eventually("it has looked", || pod.calls().contains("list_permissions -p contrail"));
    assert_eq!(pod.end(), Some(0));
    let file = pod.path("etc").join(RABBITMQ_CONFIG_FILE);
    let text = fs::read_to_string(&file).unwrap();
    let other = text.replace(r#""vhost":"contrail""#, r#""vhost":"other""#);
    assert_ne!(text, other);
    fs::write(&file, other).unwrap();
    let before = pod.calls().len();
    pod.start();
    eventually("it is made, and the user has rights in it", || {
        pod.fake().read()["permissions"]["other"] == json!(["contrail"])
    });
    let calls = pod.calls()[before..].to_string();
    assert!(calls.contains("add_vhost other"), "{calls}");
    assert!(!calls.contains("change_password"), "what somebody may have set stays: {calls}");
    std::thread::sleep(Duration::from_secs(12));
    let after = pod.calls()[before..].to_string();
    assert_eq!(after.matches("list_vhosts").count(), calls.matches("list_vhosts").count());
    // Somebody has given others rights there: theirs stay as they are.
    assert_eq!(pod.end(), Some(0));
    pod.fake().change(|state| state["permissions"]["other"] = json!(["somebody"]));
    let before = pod.calls().len();
    pod.start();
    eventually("it has looked", || pod.calls()[before..].contains("list_permissions -p other"));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(pod.fake().read()["permissions"]["other"], json!(["somebody"]));
}

fn takes_its_cookie() {
    let pod = Pod::started();
    let secret = pod.path("secret").join(COOKIE_KEY);
    fs::write(&secret, "MISTYPED").unwrap();
    pod.fake().change(|state| {
        (state["joins"], state["away"]) = (json!(["rabbit@b"]), json!(["rabbit@b"]));
    });
    pod.permit("Join", "n1", json!(["rabbit@b"]));
    eventually("it cannot join", || pod.calls().contains("net_adm:ping"));
    fs::write(&secret, "COOKIE").unwrap();
    pod.wait_for("what differs", |s| s["server"]["reason"] == "CookieDiffers");
    pod.spec(json!({ "start": null }));
    pod.wait_for("the end of its node", |s| s["permit"]["state"] == "Withdrawn");
    pod.fake().change(|state| state["away"] = json!([]));
    pod.permit_on("Wipe", "Join", "n2", json!(["rabbit@b"]));
    pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
    let own = fs::read_to_string(pod.path("volume/rabbitmq/.erlang.cookie")).unwrap();
    assert_eq!(own, "COOKIE");
}

fn is_elsewhere() {
    let pod = Pod::started();
    pod.spec(json!({ "cluster": "other" }));
    pod.permit("Initialize", "n1", json!([]));
    let status = pod.wait_for("a refusal", |s| {
        s["server"]["message"].as_str().is_some_and(|text| text.contains("cluster rmq"))
    });
    assert!(status["permit"].is_null() && starts(&status) == 0, "{status:#}");
    pod.spec(json!({ "cluster": "rmq" }));
    pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
}

fn is_lost() {
    let mut pod = Pod::initialized();
    assert_eq!(pod.end(), Some(0));
    fs::remove_dir_all(pod.path("volume/rabbitmq").join(NODE).join("quorum")).unwrap();
    pod.start();
    let status = pod.wait_for("the loss", |s| s["server"]["reason"] == "VolumeLost");
    assert!(status["volume"]["message"].as_str().unwrap().contains("quorum/"), "{status:#}");
    assert_eq!((pod.node(), starts(&status)), (None, 2));
}
