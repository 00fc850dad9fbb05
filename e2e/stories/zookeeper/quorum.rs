//! A majority that is away for a while: nothing is changed, by nobody, and whatever a user
//! allows meanwhile. It goes on as it was when the servers are back.

use std::thread;
use std::time::{Duration, Instant};

use palladion_api::labels::ALLOW_RESCUE;
use palladion_e2e::bed;
use palladion_e2e::bed::condition;
use palladion_e2e::zookeeper::{Client, Ensemble, Writing};
use serde_json::Value;

use super::changes::three_vote;

/// Those that are stopped. The first one stays.
const AWAY: [u32; 2] = [1, 2];
/// For so long the majority is missed.
const MISSED: Duration = Duration::from_secs(60);
/// The status says what is so in this time, and is not written for that any more.
const SAID: Duration = Duration::from_secs(10);

/// What must be the same afterwards.
fn settled(status: &Value) -> [Value; 4] {
    ["configVersion", "ensemble", "initialized", "highestServerID"].map(|key| status[key].clone())
}

pub fn two_of_three_away() {
    let ensemble = Ensemble::form_apart("zk-quorum", 3);
    let service = ensemble.service();
    three_vote(&ensemble);
    let before = settled(&service.status());
    assert!(before[0].is_string() || before[0].is_number(), "a version: {}", before[0]);
    let configurations = ensemble.configurations().expect("each serves");
    let stays = bed().cluster.forward(ensemble.addresses()[0]).expect("forwarded");
    let writing = Writing::begin(&ensemble).expect("writing");
    let began = Instant::now();
    let away = service.keep_away(&AWAY);
    service.wait("the quorum to be missed", |o| condition(o, "Available")["status"] == "False");
    // What a user allows is not what was asked for, as nothing was.
    service.annotate(&format!("{ALLOW_RESCUE}=whatever-it-takes"));
    thread::sleep(SAID);
    let mark = bed().cluster.audit_mark().expect("the audit log");
    let ends = Instant::now() + MISSED;
    while Instant::now() < ends {
        assert!(Client::open(stays).is_err(), "one of three grants no session");
        let status = service.status();
        assert!(status["ask"].is_null(), "no volume is lost: {}", status["ask"]);
        assert!(status["turn"].is_null(), "nobody has the turn: {}", status["turn"]);
        assert_eq!(settled(&status), before, "the record stays");
        thread::sleep(Duration::from_secs(2));
    }
    let wrote = service.wrote(mark).expect("the audit log");
    assert_eq!(wrote.more, Vec::<String>::new(), "without a quorum only the status is written");
    drop(away);
    let back = Instant::now();
    ensemble.wait_servers(3);
    let (missed, took) = (began.elapsed(), back.elapsed());
    assert_eq!(settled(&service.status()), before, "the same ensemble");
    assert_eq!(ensemble.configurations().expect("each serves"), configurations);
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    assert!(written.longest_gap > MISSED, "somebody acknowledged without a majority");
    println!(
        "figure: zk-quorum: {written}; {} writes of status in {} s, nothing else; back {:.1} s after the servers, {:.1} s after they went",
        wrote.status,
        MISSED.as_secs(),
        took.as_secs_f64(),
        missed.as_secs_f64()
    );
    service.end();
}
