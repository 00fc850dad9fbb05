//! What jobs cost: writes, memory, the time of an abort, and our repair against
//! nodetool's alone.

mod aborts;
pub mod data;
mod repairs;
mod task;

use std::time::Duration;

use anyhow::Result;
use palladion_testbed::Cluster;
use palladion_testbed::progress::{Lines, Progress};
use serde_json::{Value, json};

use super::report::Report;
use super::{CLUSTER, MANIFEST, MEMBERS, OPERATOR, look};

/// The ring's members' account.
const AGENTS: &str = "system:serviceaccount:default:two-racks-member";
/// Three members have 258 ranges then.
const TOKENS: u32 = 86;
/// A time of the year that does not come while this is watched.
const NEVER: &str = "0 0 29 2 *";

/// Take the figures on a testbed with Palladion on it; so many MiB on each replica.
pub fn measure(cluster: &Cluster, watched: Duration, mib: u32) -> Result<String> {
    let mut report = Report::default();
    Lines.note("creating a ring");
    cluster.kubectl_with_input(&["apply", "-f", "-"], &manifest()?.to_string())?;
    let members = format!("{MEMBERS}/{MEMBERS}");
    look::wait_to_stay(cluster, "the members", |s| {
        s["members"] == members.as_str() && look::is_settled(s)
    })?;
    data::client(cluster)?;
    rest(cluster, watched, &mut report)?;
    writes(cluster, &mut report)?;
    Lines.note(&format!("writing {mib} MiB to each replica"));
    data::write(cluster, mib, data::Copies::All)?;
    repairs::of_consistent_data(cluster, (mib, watched), &mut report)?;
    aborts::of_a_compaction(cluster, &mut report)?;
    repairs::of_differing_data(cluster, mib, &mut report)?;
    aborts::of_a_cleanup(cluster, mib, &mut report)?;
    aborts::of_a_repair(cluster, mib, &mut report)?;
    let conditions = look::conditions(&format!(
        "{MANIFEST} with `numTokens: {TOKENS}` (three members, {} ranges, Cassandra 5.0.5), {mib} MiB on each replica, RF 3",
        u64::from(TOKENS) * MEMBERS
    ))?;
    report.page("Figures of jobs", "cargo xtask bench --suite jobs", &conditions)
}

fn manifest() -> Result<Value> {
    let mut manifest = super::manifest()?;
    manifest["spec"]["numTokens"] = json!(TOKENS);
    Ok(manifest)
}

/// A schedule that waits for its time writes nothing.
fn rest(cluster: &Cluster, watched: Duration, report: &mut Report) -> Result<()> {
    let schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTaskSchedule",
        "metadata": { "name": "never" },
        "spec": { "cluster": CLUSTER, "schedule": NEVER, "taskTemplate": { "spec": { "flush": {} } } },
    });
    cluster.kubectl_with_input(&["apply", "-f", "-"], &schedule.to_string())?;
    at_rest(cluster, watched, "a schedule that waits", report)?;
    cluster.kubectl(&["delete", "cassandrataskschedule", "never"]).map(drop)
}

/// What is written in a ring where nothing is to be done, with this in it.
fn at_rest(cluster: &Cluster, watched: Duration, with: &str, report: &mut Report) -> Result<()> {
    let seconds = watched.as_secs();
    Lines.note(&format!("watching {with} for {seconds} s"));
    // The last words of what was before.
    std::thread::sleep(Duration::from_secs(30));
    let mark = cluster.audit_mark()?;
    std::thread::sleep(watched);
    let writes = look::writes(&cluster.audit_counts(mark, OPERATOR)?);
    let of_agents = look::writes(&cluster.audit_counts(mark, AGENTS)?);
    let figure =
        format!("writes of the operator / of the agents in {seconds} s at rest, with {with}");
    report.row(&figure, "0 / 0", format!("{writes} / {of_agents}"));
    Ok(())
}

/// What a task of three members is written of.
fn writes(cluster: &Cluster, report: &mut Report) -> Result<()> {
    let works = [
        ("flush", json!({ "flush": {} })),
        ("cleanup", json!({ "cleanup": {} })),
        ("repair", json!({ "repair": { "keyspaces": ["system_auth"] } })),
    ];
    for (name, spec) in works {
        Lines.note(&format!("counting the writes of a {name}"));
        let mark = cluster.audit_mark()?;
        let took = task::run(cluster, name, &spec)?;
        // The last words of agents and operator are written after its end.
        std::thread::sleep(Duration::from_secs(15));
        let operator = look::writes(&cluster.audit_counts(mark, OPERATOR)?);
        let agents = look::writes(&cluster.audit_counts(mark, AGENTS)?);
        report.row(
            &format!(
                "writes of the operator / of the agents for a {name} of three members, and its time"
            ),
            "",
            format!("{operator} / {agents}, {:.1} s", took.as_secs_f64()),
        );
    }
    Ok(())
}
