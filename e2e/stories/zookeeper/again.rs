//! An ensemble that is deleted keeps its data by default, and one of the same name goes on
//! with it.

use std::time::Instant;

use palladion_e2e::zookeeper::{Ensemble, Writing};

/// Nodes before it is deleted, and after it is back.
const SOME: usize = 50;

/// Created again as soon as it is gone, while its pods may still end.
pub fn found() {
    let ensemble = Ensemble::form("zk-again", 3, &[]);
    let service = ensemble.service();
    let writing = Writing::begin(&ensemble).expect("writing");
    writing.wait_acknowledged(SOME).expect("acknowledged before it is deleted");
    let before = (ensemble.voters(), service.volumes(3), service.claims());
    assert_eq!(before.2.len(), 3, "each server has a claim");
    let pods = service.pods();
    let begin = Instant::now();
    service.recreate(&ensemble.manifest(3, &[]));
    ensemble.wait_servers(3);
    let took = begin.elapsed();
    let now = service.pods();
    assert!(pods.iter().all(|(name, uid)| now.get(name) != Some(uid)), "its pods ended with it");
    let after = (ensemble.voters(), service.volumes(3), service.claims());
    assert_eq!(after, before, "the same servers on the same volumes");
    writing.follow(&ensemble).expect("through all of them");
    writing.wait_acknowledged(SOME).expect("acknowledged after it is back");
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    println!(
        "figure: zk-again: {written}; deleted, created and complete again in {:.1} s",
        took.as_secs_f64()
    );
    service.end();
}
