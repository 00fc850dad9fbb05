//! At rest nothing is asked and nothing is written, with active probes too.

use std::time::Duration;

use palladion_e2e::bed;
use palladion_e2e::story::Story;
use palladion_e2e::wait_for;
use palladion_e2e::zoned::{PATIENCE, Zoned, example, operator_requests};

/// Long enough for anything that is done every some seconds.
const REST: Duration = Duration::from_secs(32);

pub fn story() -> Story {
    Story::named("zoned-rest")
        .step("at rest the API server is not asked, with active probes too", nothing_is_asked)
        .into()
}

fn nothing_is_asked() {
    let ns = "zoned-rest";
    let web = Zoned::start(ns, "web", &example("partitioned"));
    let mut others = Vec::new();
    for (name, manifest) in
        [("queue", "active-passive"), ("front", "versioned"), ("conf", "config")]
    {
        bed().apply(ns, &example(manifest)).expect("accepted");
        others.push(Zoned { namespace: ns, name });
    }
    for zoned in &others {
        zoned.wait_ready();
    }
    others[0].wait("a pod to be active", PATIENCE, |o| o["status"]["activePods"].is_string());
    wait_for("the namespaces of other tests to be gone", PATIENCE, || {
        let all = bed().list("default", "namespaces")?;
        let ending = all.iter().any(|n| n["status"]["phase"] == "Terminating");
        Ok((!ending).then_some(()))
    })
    .expect("quiet");
    std::thread::sleep(Duration::from_secs(3));
    let mark = bed().cluster.audit_mark().expect("a mark");
    std::thread::sleep(REST);
    let asked = operator_requests(mark).expect("the audit log");
    assert!(asked.is_empty(), "in {REST:?} at rest: {asked:?}");
    web.end();
}
