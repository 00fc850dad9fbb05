//! People change the configuration of an ensemble by hand: a server that no member accounts
//! for goes when a user says so, and one that was taken out is stopped and replaced.

use std::thread;
use std::time::{Duration, Instant};

use palladion_api::labels::ALLOW_REMOVE;
use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text, wait_for};
use palladion_e2e::service::Service;
use palladion_e2e::zookeeper::{Ensemble, PATIENCE, Writing};
use serde_json::{Value, json};

use super::forming::three;

/// Whoever adds it, nobody answers there.
const STRANGER: &str = "server.99=192.0.2.99:2888:3888:participant;2181";
/// What the operator would do it does in this time.
const WATCHED: Duration = Duration::from_secs(15);

/// Change the configuration as the superuser of a server, whose password is in the memory of
/// its pod.
const RECONFIG: &str = r#"
    password=$(sed 's/.*"password":"\([^"]*\)".*/\1/' /run/palladion/launch.json)
    printf 'addauth digest super:%s\nreconfig %s\nquit\n' "$password" "$0" |
        zkCli.sh -server localhost:2181 2>&1 | grep -v -F "$password"
"#;

fn reconfigure(service: &Service, ordinal: u32, change: &str) {
    let pod = service.member_name(ordinal);
    let told = bed().exec(service.name, &pod, &["sh", "-c", RECONFIG, change]).expect("zkCli.sh");
    assert!(told.contains("Committed new configuration"), "{told}");
}

/// How many of the servers count it.
fn counting(ensemble: &Ensemble) -> usize {
    let all = ensemble.configurations().expect("each serves");
    all.iter().filter(|one| one.contains("server.99=")).count()
}

fn tokens(service: &Service) -> [Value; 3] {
    [0, 1, 2].map(|n| service.member(n)["status"]["server"]["restartToken"].clone())
}

pub fn removed() {
    let ensemble = three();
    let service = ensemble.service();
    let writing = Writing::begin(&ensemble).expect("writing");
    let (voters, pods, before) = (ensemble.voters(), service.pods(), tokens(&service));
    reconfigure(&service, 0, &format!("-add {STRANGER}"));
    assert_eq!(counting(&ensemble), 3, "each server counts it");
    let asked = service.wait("a user to be asked", |o| o["status"]["ask"]["kind"] == "Remove");
    assert_eq!(asked["status"]["ask"]["about"], json!(["99"]));
    let said = service.wait("the stranger to be named", |o| {
        condition(o, "Degraded")["reason"] == Reason::UnknownServer.as_str()
    });
    let said = condition(&said, "Degraded")["message"].to_string();
    assert!(said.contains("no member accounts for: 99"), "{said}");
    // Neither for that nor for anything else.
    service.annotate(&format!("{ALLOW_REMOVE}=whatever-it-takes"));
    service.patch_spec(&json!({ "restartToken": "beside a stranger" }));
    thread::sleep(WATCHED);
    assert_eq!(counting(&ensemble), 3, "nobody has allowed that it goes");
    assert_eq!(tokens(&service), before, "nobody is restarted meanwhile");
    let nonce = text(&asked, "/status/ask/nonce");
    let begin = Instant::now();
    service.annotate(&format!("{ALLOW_REMOVE}={nonce}"));
    wait_for("the stranger to be in no configuration", PATIENCE, || {
        Ok((counting(&ensemble) == 0).then_some(()))
    })
    .expect("removed");
    let took = begin.elapsed();
    service.wait("nothing to be asked", |o| {
        o["status"]["ask"].is_null() && condition(o, "Degraded")["status"] == "False"
    });
    service.wait("all to be restarted", |_| {
        tokens(&service).iter().all(|token| token == "beside a stranger")
    });
    ensemble.wait_servers(3);
    assert_eq!(ensemble.voters(), voters, "the same servers");
    assert_eq!(service.pods(), pods, "in the same pods");
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    println!("figure: zk-stranger: {written}; removed in {:.1} s", took.as_secs_f64());
}

pub fn removed_by_hand() {
    const OUT: u32 = 2;
    let ensemble = three();
    let service = ensemble.service();
    let writing = Writing::begin(&ensemble).expect("writing");
    let before = service.member(OUT);
    let id = before["spec"]["serverID"].as_i64().expect("an ID");
    reconfigure(&service, 0, &format!("-remove {id}"));
    let said = service.wait("that it was removed to be said", |o| {
        condition(o, "Degraded")["reason"] == Reason::NotInEnsemble.as_str()
    });
    let said = condition(&said, "Degraded")["message"].to_string();
    assert!(said.contains(&service.member_name(OUT)), "{said}");
    service.wait("its agent to stop it", |_| {
        let server = &service.member(OUT)["status"]["server"];
        server["state"] == "Waiting" && server["reason"] == Reason::NotInEnsemble.as_str()
    });
    thread::sleep(WATCHED);
    assert_eq!(
        service.member(OUT)["spec"]["volumeID"],
        before["spec"]["volumeID"],
        "not asked for"
    );
    let begin = Instant::now();
    service.give_up(OUT, text(&before, "/spec/volumeID"));
    service.wait("another server", |_| {
        service.member(OUT)["spec"]["serverID"].as_i64().is_some_and(|now| now > id)
    });
    ensemble.wait_servers(3);
    let took = begin.elapsed();
    let voters = ensemble.voters();
    assert!(voters.len() == 3 && !voters.contains(&id), "{voters:?}");
    writing.follow(&ensemble).expect("through the new one, too");
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    println!("figure: zk-stranger: {written}; replaced in {:.1} s", took.as_secs_f64());
}
