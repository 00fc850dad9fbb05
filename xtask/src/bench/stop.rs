//! A ring that is stopped and started as a whole, against one member's start.

use std::time::{Duration, Instant};

use anyhow::Result;
use palladion_e2e::wait_for;
use palladion_testbed::Cluster;
use serde_json::json;

use super::look;
use super::report::Report;
use super::{CLUSTER, MEMBERS};

/// Starts take half a minute; a busy machine takes longer.
const PATIENCE: Duration = Duration::from_secs(300);

/// One member alone, and then all at once.
pub fn and_start(cluster: &Cluster, report: &mut Report) -> Result<()> {
    // kubectl comes back when the pod has ended, drained.
    cluster.kubectl(&["delete", "pod", &format!("{CLUSTER}-dc1-a-0")])?;
    let one = until_ready(cluster)?;
    look::patch_spec(cluster, &json!({ "run": "Stopped" }))?;
    look::wait(cluster, "the ring to be stopped", |s| look::progresses(s, "Stopped"))?;
    look::patch_spec(cluster, &json!({ "run": "Running" }))?;
    let all = until_ready(cluster)?;
    report.row(
        "cold start of the stopped ring against the start of one member's pod, until ready",
        "",
        format!("{all:.1} s / {one:.1} s = {:.2}", all / one),
    );
    Ok(())
}

/// Seconds from now until the pods of all members are ready.
fn until_ready(cluster: &Cluster) -> Result<f64> {
    let begin = Instant::now();
    let members = usize::try_from(MEMBERS)?;
    wait_for("all members to be back", PATIENCE, || {
        Ok((look::ready_pods(cluster)? == members).then_some(()))
    })?;
    Ok(begin.elapsed().as_secs_f64())
}
