//! How long a task takes to end that is taken back in its middle.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use palladion_testbed::Cluster;
use palladion_testbed::progress::{Lines, Progress};
use serde_json::{Value, json};

use super::super::report::Report;
use super::{data, task};

/// A repair compares all that there is before its first stream.
const BEGINS_IN: Duration = Duration::from_secs(1800);
/// How nodetool shows the streams of a repair; it always has statistics of read repair.
const STREAMS: &str = "\nRepair ";
/// No limit.
const FREE: &str = "0";

/// A major compaction that reads 1 MiB/s.
pub fn of_a_compaction(cluster: &Cluster, report: &mut Report) -> Result<()> {
    data::limit(cluster, "1", FREE)?;
    let spec = json!({ "compact": { "tables": ["bench.blobs"] } });
    let shows = ["compactionstats", "blobs"];
    let took = aborted(cluster, "compaction", &spec, shows)?;
    row(report, "a major compaction", took);
    data::limit(cluster, FREE, FREE)
}

/// A cleanup by all compactors, with SSTables that wait behind them. Each has rows of all members:
/// one that a repair has brought has none of its new owner's, and goes without being read.
pub fn of_a_cleanup(cluster: &Cluster, mib: u32, report: &mut Report) -> Result<()> {
    data::write(cluster, mib / 3, data::Copies::All)?;
    data::keep(cluster, data::Copies::One)?;
    data::limit(cluster, "1", FREE)?;
    let spec = json!({ "cleanup": { "tables": ["bench.blobs"], "jobs": 0 } });
    let took = aborted(cluster, "cleanup", &spec, ["compactionstats", "blobs"])?;
    row(report, "a cleanup with `jobs: 0`", took);
    data::limit(cluster, FREE, FREE)
}

/// A repair that streams 1 Mbit/s.
pub fn of_a_repair(cluster: &Cluster, mib: u32, report: &mut Report) -> Result<()> {
    data::write(cluster, mib / 3, data::Copies::One)?;
    data::keep(cluster, data::Copies::All)?;
    data::limit(cluster, FREE, "1")?;
    let spec = json!({ "repair": { "keyspaces": ["bench"] } });
    let took = aborted(cluster, "repair", &spec, ["netstats", STREAMS])?;
    row(report, "a repair that streams", took);
    data::limit(cluster, FREE, FREE)
}

/// Begin it, wait until nodetool shows it on the member that is at it, and take it back.
fn aborted(
    cluster: &Cluster,
    name: &str,
    spec: &Value,
    [look, word]: [&str; 2],
) -> Result<Duration> {
    Lines.note(&format!("the abort of a {name}"));
    task::create(cluster, name, spec)?;
    let begin = Instant::now();
    while begin.elapsed() < BEGINS_IN {
        let status = task::status(cluster, name)?;
        ensure!(
            status["endedAt"].is_null(),
            "the {name} has ended before it was seen; use more data (`--mib`): {status}"
        );
        let member = status["current"]["member"].as_str().unwrap_or_default().to_string();
        if !member.is_empty()
            && data::in_server(cluster, &member, &["nodetool", look])?.contains(word)
        {
            return task::abort(cluster, name);
        }
    }
    bail!("waited {} s for the {name} to be under way", BEGINS_IN.as_secs())
}

fn row(report: &mut Report, what: &str, took: Duration) {
    let figure = format!("{what} that is aborted has ended after");
    report.row(&figure, "", format!("{:.1} s", took.as_secs_f64()));
}
