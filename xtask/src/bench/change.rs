//! One member more, and one less again.

use std::time::Instant;

use anyhow::Result;
use palladion_testbed::Cluster;
use serde_json::json;

use super::look;
use super::report::Report;
use super::{CLUSTER, MEMBERS, OPERATOR};

/// The rack whose members are changed, as it stands in the manifest.
const RACK: usize = 0;
const RACK_MEMBERS: u64 = 2;

/// One member more in the first rack.
pub fn grow(cluster: &Cluster, report: &mut Report) -> Result<()> {
    change(cluster, report, "scale-up of one", 1)
}

/// And away with it.
pub fn shrink(cluster: &Cluster, report: &mut Report) -> Result<()> {
    change(cluster, report, "scale-down of one", 0)
}

fn change(cluster: &Cluster, report: &mut Report, what: &str, more: u64) -> Result<()> {
    let since = look::clock()?;
    let mark = cluster.audit_mark()?;
    let begin = Instant::now();
    let path = format!("/spec/datacenter/racks/{RACK}/members");
    let patch = json!([{ "op": "replace", "path": path, "value": RACK_MEMBERS + more }]);
    let patch = patch.to_string();
    cluster.kubectl(&["patch", "cassandracluster", CLUSTER, "--type=json", "-p", &patch])?;
    let wanted = MEMBERS + more;
    let settled = look::wait_to_stay(cluster, what, |s| {
        s["members"] == format!("{wanted}/{wanted}").as_str() && look::is_settled(s)
    })?;
    let took = (settled - begin).as_secs_f64();
    let counts = cluster.audit_counts(mark, OPERATOR)?;
    let steps = look::steps_since(cluster, &since)?;
    let turn = steps.iter().filter(|s| is_of_a_turn(s)).count();
    let all = look::writes(&counts);
    let status = look::status_writes(&counts) - steps.iter().filter(|s| is_claim(s)).count();
    report.row(
        &format!("writes of the operator per {what}: besides turn, nonces and status / all"),
        "≤ 5",
        format!("{} / {all}", all - turn - status),
    );
    report.row(&format!("{what}, until all is settled"), "", format!("{took:.1} s"));
    report.steps(&format!("What the operator did in a {what}"), &steps)
}

/// Claims of the turn are writes of the cluster's status.
fn is_claim(step: &str) -> bool {
    let begins = ["begin the ", "retry the decommission "];
    let ends = ["end the ", "finish the ", "resume the "];
    step.contains(" turn ") || begins.iter().chain(&ends).any(|words| step.starts_with(words))
}

fn is_of_a_turn(step: &str) -> bool {
    is_claim(step) || step.starts_with("ask ") || step.starts_with("renew ")
}
