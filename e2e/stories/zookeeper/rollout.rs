//! An upgrade to an image that does not exist stops at its first server, and what corrects
//! it overtakes it.

use std::thread;
use std::time::{Duration, Instant};

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::condition;
use palladion_e2e::zookeeper::{Ensemble, OLDER_VERSION, VERSION, Writing};
use serde_json::json;

/// There is no image of it.
const MISSING: &str = "3.9.404";

pub fn stops_at_the_first() {
    let ensemble = Ensemble { name: "zk-bad-image" };
    let service = ensemble.service();
    service.create(&ensemble.manifest(3, &[]).replace(VERSION, OLDER_VERSION));
    ensemble.wait_servers(3);
    let leader = service.status()["leader"].as_str().expect("a leader").to_string();
    let before = service.pods();
    let writing = Writing::begin(&ensemble).expect("writing");
    let begin = Instant::now();
    service.patch_spec(&json!({ "version": MISSING }));
    let stuck = service.wait("the rollout to stop", |o| {
        let degraded = condition(o, "Degraded");
        degraded["reason"] == Reason::RolloutStuck.as_str()
            && degraded["message"].as_str().is_some_and(|said| said.contains(MISSING))
    });
    let said = begin.elapsed();
    println!("{}", condition(&stuck, "Degraded")["message"]);
    thread::sleep(Duration::from_secs(15));
    let now = service.pods();
    let touched: Vec<&String> =
        now.iter().filter(|(name, uid)| before.get(*name) != Some(uid)).map(|(n, _)| n).collect();
    assert_eq!(touched.len(), 1, "only the first: {touched:?}");
    assert_ne!(touched[0], &leader, "a follower is the first");
    assert_eq!(service.status()["service"]["active"], true, "the others serve");
    assert_eq!(service.status()["highestReleaseLine"], "3.8", "nothing newer has run");
    let corrected = Instant::now();
    service.patch_spec(&json!({ "version": VERSION }));
    service.wait("3.9 to be on record", |o| o["status"]["highestReleaseLine"] == "3.9");
    ensemble.wait_servers(3);
    let took = corrected.elapsed();
    for ordinal in 0..3 {
        let member = service.member(ordinal);
        assert_eq!(member["status"]["server"]["version"], VERSION, "{member:#}");
    }
    assert_eq!(condition(&service.owner().expect("it"), "Degraded")["status"], "False");
    let pods = bed().list(ensemble.name, "pods").expect("pods");
    assert_eq!(pods.len(), 3);
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    println!(
        "figure: zk-upgrade: {written}; said after {:.1} s, corrected and upgraded in {:.1} s",
        said.as_secs_f64(),
        took.as_secs_f64()
    );
    service.end();
}
