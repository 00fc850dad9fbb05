//! A ring is made, and then left alone.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use palladion_testbed::Cluster;
use palladion_testbed::progress::Lines;

use super::look::{self, MIB};
use super::report::Report;
use super::{MEMBERS, OPERATOR, RACKS};
use crate::install;

/// The ring's members' account.
const AGENTS: &str = "system:serviceaccount:default:two-racks-member";

/// Make the ring.
pub fn creation(cluster: &Cluster, report: &mut Report) -> Result<()> {
    let memory = look::operator_memory(cluster)?;
    report.row("operator, resident, no ring", "", format!("{memory:.1} MiB"));
    let mark = cluster.audit_mark()?;
    let (begin, clock) = (Instant::now(), look::now()?);
    cluster.kubectl_with_input(&["apply", "-f", "-"], &super::manifest()?.to_string())?;
    look::wait(cluster, "members ready", |s| {
        s["members"] == format!("{MEMBERS}/{MEMBERS}").as_str()
    })?;
    let ready = begin.elapsed().as_secs_f64();
    let since = look::wait_to_stay(cluster, "all as wanted", look::is_settled)?;
    let settled = (since - begin).as_secs_f64();
    let counts = cluster.audit_counts(mark, OPERATOR)?;
    let aim = 2 * RACKS + 8 + 2 * MEMBERS + 4;
    report.row(
        "writes by the operator to create this ring (status, permits, evidence and system keyspaces included; events and lease not)",
        &format!("≤ {aim}"),
        look::writes(&counts).to_string(),
    );
    let objects = look::objects_only(&counts).to_string();
    report.row("of these for objects alone", "", objects);
    report.row(
        "of these the cluster's status: turns, and words for people, five seconds apart at least",
        "",
        look::status_writes(&counts).to_string(),
    );
    report.row("all members ready after", "", format!("{ready:.1} s"));
    report.row(
        "all settled (system keyspaces replicated and repaired) after",
        "",
        format!("{settled:.1} s"),
    );
    times(clock, &look::first_starts(cluster)?, report);
    report.requests("Requests of the operator while the ring was made", &counts)
}

/// What we add to the servers' own starts, each `[started, NORMAL]`.
fn times(applied: f64, starts: &[[f64; 2]], report: &mut Report) {
    let gaps = starts.windows(2).map(|w| w[1][0] - w[0][1]);
    let gaps: Vec<String> = gaps.map(|gap| format!("{gap:.1} s")).collect();
    report.row(
        "time between one member being NORMAL and the next being started, each",
        "≤ 2 s",
        gaps.join(", "),
    );
    let last = starts.iter().map(|s| s[1]).fold(applied, f64::max);
    let servers: f64 = starts.iter().map(|[started, normal]| normal - started).sum();
    report.row("manifest applied to last member NORMAL", "", format!("{:.1} s", last - applied));
    let first = starts.first().map_or(applied, |s| s[0]);
    report.row(
        "of this added to the servers' own starts, one after another / of that until the first is started, pods and containers being made",
        &format!("≤ {}.{} s", 1 + MEMBERS / 10, MEMBERS % 10),
        format!("{:.1} / {:.1} s", last - applied - servers, first - applied),
    );
}

/// Watch the ring while nothing happens.
pub fn rest(cluster: &Cluster, watched: Duration, report: &mut Report) -> Result<()> {
    let seconds = watched.as_secs();
    std::thread::sleep(Duration::from_secs(12));
    let mark = cluster.audit_mark()?;
    let before = look::agent_cpu(cluster)?;
    std::thread::sleep(watched);
    let used = look::agent_cpu(cluster)? - before;
    let operator = cluster.audit_counts(mark, OPERATOR)?;
    let agents = cluster.audit_counts(mark, AGENTS)?;
    let memory = look::operator_memory(cluster)?;
    report.row("operator, resident, with this ring", "", format!("{memory:.1} MiB"));
    report.row(
        &format!("object reads by the operator in {seconds} s at rest"),
        "0",
        look::reads(&operator).to_string(),
    );
    report.row(
        &format!("object writes by the operator in {seconds} s at rest, without the lease"),
        "0",
        look::writes(&operator).to_string(),
    );
    report.row(
        "watches opened again by the operator in that time",
        "",
        look::watches(&operator).to_string(),
    );
    report.row(
        "requests of the three agents in that time, without watches",
        "0",
        (look::reads(&agents) + look::writes(&agents)).to_string(),
    );
    let memory = look::agent_memory(cluster)?;
    report.row(
        "init and agent together, resident, largest of three (what both share counted twice / once)",
        "≤ 12 MiB",
        format!("{:.1} / {:.1} MiB", memory.resident, memory.proportional),
    );
    report.row(
        "processor time of init and agent at rest, mean of three",
        "",
        format!("{:.2} % of one core", used / 3.0 / watched.as_secs_f64() * 100.0),
    );
    let binaries = install::binaries(&mut Lines)?;
    for name in ["palladion-agent", "palladion-operator"] {
        let path = binaries.join(name);
        let bytes = std::fs::metadata(&path)
            .with_context(|| format!("looking at {}", path.display()))?
            .len();
        #[expect(clippy::cast_precision_loss, reason = "a file's size in MiB, for people")]
        let size = bytes as f64 / MIB;
        report.row(&format!("binary {name}"), "", format!("{size:.1} MiB"));
    }
    Ok(())
}
