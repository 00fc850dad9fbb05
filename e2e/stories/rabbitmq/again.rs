//! Claims that are kept: a cluster that is deleted keeps its data by default, and one of the
//! same name goes on with it; nodes that have left come back as new ones on the claims that
//! they had.

use std::time::Instant;

use palladion_e2e::bed::wait_for;
use palladion_e2e::rabbitmq::{Cluster, PATIENCE, Publishing};
use serde_json::Value;

use super::changes::published;
use super::forming::three_again;

/// Messages before it is deleted, and after it is back.
const SOME: usize = 50;

/// What each node is called, on its own record.
fn names(cluster: &Cluster) -> [Value; 3] {
    [0, 1, 2].map(|ordinal| cluster.service().member(ordinal)["spec"]["nodeName"].clone())
}

/// Created again as soon as it is gone, while its pods may still end.
pub fn found() {
    let cluster = three_again();
    let service = cluster.service();
    let publishing = Publishing::begin(&cluster).expect("publishing");
    publishing.wait_confirmed(SOME).expect("confirmed before it is deleted");
    let before = (names(&cluster), service.volumes(3), service.claims());
    assert!(before.0.iter().all(Value::is_string), "{:?}", before.0);
    assert_eq!(before.2.len(), 3, "each node has a claim");
    let (pods, user) = (service.pods(), cluster.user().expect("the Secret"));
    let begin = Instant::now();
    service.recreate(&cluster.manifest(3, &[]));
    cluster.wait_nodes(3);
    let took = begin.elapsed();
    let now = service.pods();
    assert!(pods.iter().all(|(name, uid)| now.get(name) != Some(uid)), "its pods ended with it");
    let after = (names(&cluster), service.volumes(3), service.claims());
    assert_eq!(after, before, "the same nodes on the same volumes");
    let kept = cluster.user().expect("the Secret");
    assert_eq!(kept.login(), user.login(), "the Secret was kept");
    publishing.follow(&cluster).expect("through all of them");
    publishing.wait_confirmed(SOME).expect("confirmed after it is back");
    let published = publishing.end(&cluster).expect("all that was confirmed is there");
    println!(
        "figure: rmq-again: {published}; deleted, created and complete again in {:.1} s",
        took.as_secs_f64()
    );
}

pub fn grown_again() {
    let cluster = three_again();
    let service = cluster.service();
    let publishing = Publishing::begin(&cluster).expect("publishing");
    publishing.wait_confirmed(SOME).expect("confirmed by three");
    let (claims, volumes, pods) = (service.claims(), service.volumes(3), service.pods());
    cluster.set_nodes(1);
    cluster.wait_nodes(1);
    wait_for("the pods of those that left to be gone", PATIENCE, || {
        Ok((service.pods().len() == 1).then_some(()))
    })
    .expect("one pod");
    assert_eq!(service.claims(), claims, "the claims of those that left are kept");
    publishing.follow(&cluster).expect("through the first");
    publishing.wait_confirmed(SOME).expect("confirmed by one");
    let begin = Instant::now();
    cluster.set_nodes(3);
    cluster.wait_nodes(3);
    let took = begin.elapsed();
    assert_eq!(service.claims(), claims, "they come back on the claims that they had");
    assert_eq!(service.volumes(1), volumes[..1], "the first has stayed");
    let first = service.member_name(0);
    assert_eq!(service.pods().get(&first), pods.get(&first), "a join restarted a pod");
    for ordinal in 0..3 {
        let known =
            cluster.ctl(ordinal, &["eval", "length(rabbit_mnesia:cluster_nodes(running))."]);
        assert_eq!(known.trim(), "3", "{}", service.member_name(ordinal));
    }
    publishing.follow(&cluster).expect("through all three");
    published(publishing, &cluster);
    println!("figure: rmq-scale: three again on kept claims in {:.1} s", took.as_secs_f64());
}
