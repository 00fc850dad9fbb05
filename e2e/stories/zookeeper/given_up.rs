//! A machine that never comes back: a user names the volume on it, and its server is replaced.

use palladion_e2e::zookeeper::Writing;

use super::forming::three;

/// The member that is given up.
const GIVEN_UP: u32 = 1;

pub fn replaced() {
    let ensemble = three();
    let service = ensemble.service();
    let writing = Writing::begin(&ensemble).expect("writing");
    let id = |n| service.member(n)["spec"]["serverID"].as_i64().expect("an ID");
    let (before, voters) = (id(GIVEN_UP), ensemble.voters());
    let took = service.is_given_up(GIVEN_UP, || drop(ensemble.wait_servers(3)));
    let now = ensemble.voters();
    assert!(id(GIVEN_UP) > voters.into_iter().max().expect("voters"), "an ID that nobody had");
    assert!(now.len() == 3 && !now.contains(&before), "{now:?}");
    writing.follow(&ensemble).expect("through the new one, too");
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    println!("figure: zk-given-up: {written}; replaced in {:.1} s", took.as_secs_f64());
}
