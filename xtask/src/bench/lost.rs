//! A member whose machine goes for good, with its volume.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use palladion_e2e::{Bed, Ring, a_ring, wait_for};
use palladion_testbed::Cluster;

use super::report::Report;

const NAMESPACE: &str = "lost";
/// Gossip calls a silent server dead after some ten seconds.
const SEEN_IN: Duration = Duration::from_secs(180);

/// Delete the Node of a dead machine, in a ring that gives Nodes up at once.
pub fn node(cluster: Cluster, report: &mut Report) -> Result<()> {
    let bed = Bed { cluster };
    let wanted = a_ring().racks(&[("a", 2), ("b", 1)]).line("nodeGoneGraceSeconds: 0");
    let ring = Ring::create(&bed, NAMESPACE, &wanted)?;
    let (name, node) = ring.a_victim()?;
    let before = ring.member(&name)?;
    let host_id = before["spec"]["hostID"].as_str();
    let host_id = host_id.context("the member should have a host ID")?;
    bed.cluster.power_off(node)?;
    wait_for("the others to see it down", SEEN_IN, || {
        Ok(ring.others_see_down(&name, host_id)?.then_some(()))
    })?;
    bed.cluster.delete_node_object(node)?;
    let deleted = Instant::now();
    let begun = wait_for("the replacement to begin", SEEN_IN, || {
        let turn = ring.cluster()?["status"]["turn"].clone();
        let is_its = turn["step"] == "Replace" && turn["member"] == name.as_str();
        Ok(is_its.then(|| deleted.elapsed()))
    })?;
    let started = wait_for("its server to be let start", SEEN_IN, || {
        let replaces = ring.member(&name)?["spec"]["start"]["kind"] == "Replace";
        Ok(replaces.then(|| deleted.elapsed()))
    })?;
    report.row(
        "Node deleted, grace 0, to its member's replacement: begun / the new server let start",
        "≤ 5 s",
        format!("{:.1} / {:.1} s", begun.as_secs_f64(), started.as_secs_f64()),
    );
    Ok(())
}
