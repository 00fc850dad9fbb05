//! What clients feel of a backup: reads and writes at QUORUM of small rows, before, beside and
//! after one, so that what else the machine does meets both.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use palladion_testbed::Cluster;
use palladion_testbed::progress::{Lines, Progress};

use super::super::jobs::data;
use super::super::report::Report;
use super::{LIMIT, MIB, Speed, ask, ended, limit, sends};

/// So many seconds are measured at a time.
const SECONDS: u32 = 10;
const ROUNDS: u32 = 3;

/// With members that send as fast as they can, as clients let them, and at a fixed rate.
pub fn compared(cluster: &Cluster, mib: u32, report: &mut Report) -> Result<()> {
    #[expect(clippy::cast_precision_loss, reason = "a few MiB")]
    let megabytes = LIMIT as f64 / MIB;
    let ways = [
        (Speed::Unlimited, "fast", "no limit".to_string()),
        (Speed::AsFelt, "felt", "limits left out, so that the rate follows the server".to_string()),
        (Speed::Fixed(LIMIT), "slow", format!("a fixed rate of {megabytes:.0} MiB/s")),
    ];
    for (speed, short, words) in ways {
        limit(cluster, speed)?;
        let [mut without, mut with] = [Vec::new(), Vec::new()];
        let (mut least, mut measured) = (1.0_f64, Duration::ZERO);
        for round in 0..ROUNDS {
            Lines.note(&format!("clients beside a backup, {words}, round {}", round + 1));
            // What was sent is not sent again.
            data::write(cluster, mib, data::Copies::All)?;
            without.push(data::p99(cluster, SECONDS)?);
            let name = format!("beside-{short}-{round}");
            let begun = Instant::now();
            ask(cluster, &name, &["bench"])?;
            sends(cluster, &name)?;
            let since = Instant::now();
            let (p99, status, took) = std::thread::scope(|scope| -> Result<_> {
                let end = scope.spawn(|| ended(cluster, "cassandrabackup", &name, begun));
                let p99 = data::p99(cluster, SECONDS)?;
                measured = since.elapsed();
                let (status, took) = end.join().map_err(|_| anyhow!("a thread panicked"))??;
                Ok((p99, status, took))
            })?;
            ensure!(
                status["totals"]["sentBytes"].as_u64() > Some(0),
                "nothing was sent beside the clients: {status}"
            );
            with.push(p99);
            let beside = (begun + took).saturating_duration_since(since);
            least = least.min(beside.as_secs_f64() / measured.as_secs_f64());
            without.push(data::p99(cluster, SECONDS)?);
        }
        let list = |of: &[f64]| {
            let each: Vec<String> = of.iter().map(|p99| format!("{p99:.1}")).collect();
            each.join(", ")
        };
        report.row(
            &format!(
                "p99 of reads and writes at QUORUM in {SECONDS} s, {words}: without a backup / beside one / ratio of the medians / least share of that time in which the backup was under way"
            ),
            "≤ 1.2",
            format!(
                "{} ms / {} ms / {:.2} / {:.0} %",
                list(&without),
                list(&with),
                median(&with) / median(&without),
                100.0 * least
            ),
        );
    }
    limit(cluster, Speed::Unlimited)
}

fn median(of: &[f64]) -> f64 {
    let mut of = of.to_vec();
    of.sort_by(f64::total_cmp);
    let middle = of.len() / 2;
    if of.len() % 2 == 1 { of[middle] } else { f64::midpoint(of[middle - 1], of[middle]) }
}
