//! A machine that never comes back: a user names the volume on it, and its node is replaced.

use palladion_e2e::rabbitmq::Publishing;

use super::changes::published;
use super::forming::three_again;

/// The member that is given up.
const GIVEN_UP: u32 = 1;

pub fn replaced() {
    let cluster = three_again();
    let publishing = Publishing::begin(&cluster).expect("publishing");
    let took = cluster.service().is_given_up(GIVEN_UP, || drop(cluster.wait_nodes(3)));
    publishing.follow(&cluster).expect("through the new one, too");
    published(publishing, &cluster);
    println!("figure: rmq-given-up: replaced in {:.1} s", took.as_secs_f64());
}
