//! One server becomes five and one again, under writers that ask for more than a hundred
//! nodes a second: whoever stays keeps its pod, also where the leader is among those that
//! leave.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use palladion_e2e::wait_for;
use palladion_e2e::zookeeper::{Ensemble, PATIENCE, Writing};

/// One session waits for five disks with each node that it writes.
const SESSIONS: usize = 8;
/// Of all the time, elections and starts of servers among it.
const LEAST_A_SECOND: f64 = 100.0;
/// An election on a machine that does more than this.
const LONGEST_GAP: Duration = Duration::from_secs(30);

type Pods = BTreeMap<String, String>;

/// Change the number of servers: those that were there before and stay have the same pods.
fn change(ensemble: &Ensemble, writing: &Writing, servers: u32) {
    let (before, begin) = (ensemble.service().pods(), Instant::now());
    ensemble.set_servers(servers);
    ensemble.wait_servers(servers);
    let took = begin.elapsed();
    writing.follow(ensemble).expect("through all of them");
    let stay: Vec<String> = (0..servers).map(|n| ensemble.service().member_name(n)).collect();
    let kept: Pods = before.clone().into_iter().filter(|(name, _)| stay.contains(name)).collect();
    let after = wait_for("the pods of those that left to be gone", PATIENCE, || {
        let now = ensemble.service().pods();
        Ok((now.len() == stay.len()).then_some(now))
    })
    .expect("as many pods as servers");
    for (name, uid) in kept {
        assert_eq!(after.get(&name), Some(&uid), "{name} stays, and was restarted");
    }
    let configurations = ensemble.configurations().expect("each serves");
    assert!(configurations.iter().all(|own| *own == configurations[0]), "{configurations:?}");
    println!("from {} to {servers} servers in {:.1} s", before.len(), took.as_secs_f64());
}

pub fn to_five_and_back() {
    let ensemble = Ensemble::form("zk-five", 1, &[]);
    let writing = Writing::begin_in(&ensemble, SESSIONS).expect("writing");
    let begin = Instant::now();
    change(&ensemble, &writing, 3);
    change(&ensemble, &writing, 5);
    ensemble.let_a_leaver_lead(5, 3);
    change(&ensemble, &writing, 3);
    change(&ensemble, &writing, 1);
    assert_eq!(ensemble.voters(), [1], "the first one is left");
    let written = writing.end(&ensemble).expect("all that was acknowledged is there");
    println!(
        "figure: zk-scale: {written}; 1, 3, 5, 3, 1 in {:.0} s",
        begin.elapsed().as_secs_f64()
    );
    assert!(written.per_second() >= LEAST_A_SECOND, "{written}");
    assert!(written.longest_gap < LONGEST_GAP, "{written}");
    ensemble.service().end();
}
