//! Figures of Components: how soon a process hears that what it depends on has changed, the
//! memory of what waits beside it, and a stack at rest.

use std::time::Duration;

use anyhow::Result;
use palladion_e2e::bed::bed;
use palladion_e2e::stack::{Services, example};
use palladion_e2e::wait_for;
use palladion_testbed::progress::{Lines, Progress};
use serde_json::json;

use super::super::report::Report;
use super::super::{OPERATOR, look};
use super::memory;

const NAMESPACE: &str = "bench-stack";
/// Changes that are measured: enough to see the spread.
const TIMES: u32 = 5;
/// A change is to reach a process in this time, and is waited for longer.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn figures(report: &mut Report) -> Result<()> {
    Lines.note("Components, of which one depends on the other");
    let services = Services::start(NAMESPACE, &example("component"));
    services.wait_ready("component", "web");
    let mut times = Vec::new();
    for time in 0..TIMES {
        // There and back: each is another set of addresses.
        let replicas = 1 + (time + 1) % 2;
        times.push(heard(&services, replicas)?);
        services.wait_ready("component", "store");
        services.wait_ready("component", "web");
    }
    times.sort_unstable();
    let seconds = |at: usize| {
        let millis = u32::try_from(times[at]).unwrap_or(u32::MAX);
        format!("{:.1}", f64::from(millis) / 1000.0)
    };
    report.row(
        "the status of a dependency has another node or one fewer, by the last look at which it had not, until SIGHUP in the process above it: fastest / median / slowest",
        "≤ 5 s",
        format!("{} / {} / {} s, {TIMES} times", seconds(0), seconds(2), seconds(4)),
    );
    let reloads = memory(NAMESPACE, "web-0", "reload", "/.*palladion-agent")?;
    report.row("memory of what signals the process of a pod", "", format!("{reloads:.1} MiB"));
    Ok(())
}

/// Milliseconds from a change of `store` until `web-0` had its signal, and no fewer: they count
/// from the last look at which its status had not changed.
fn heard(services: &Services, replicas: u32) -> Result<i64> {
    let known = services.loads("web-0")?.len();
    let wanted = usize::try_from(replicas)?;
    services.patch("component", "store", &json!({ "spec": { "replicas": replicas } }));
    let mut unchanged = jiff::Timestamp::now();
    wait_for("other nodes of store", PATIENCE, || {
        let asked = jiff::Timestamp::now();
        let store = services.get("component", "store")?;
        let has_changed =
            store["status"]["service"]["nodes"].as_array().map_or(0, Vec::len) == wanted;
        if !has_changed {
            unchanged = asked;
        }
        Ok(has_changed.then_some(()))
    })?;
    let load = wait_for("a signal", PATIENCE, || {
        Ok(services.loads("web-0")?.get(known).map(|(at, ..)| *at))
    })?;
    Ok(load - unchanged.as_millisecond())
}

/// Everything that the operator asks for while nothing happens to the services of all kinds that
/// the figures before have left.
pub fn at_rest(watched: Duration, report: &mut Report) -> Result<()> {
    let seconds = watched.as_secs();
    Lines.note(&format!("watching services at rest for {seconds} s"));
    let services = Services::start("bench-rest", &example("registration"));
    services.wait_ready("registration", "web");
    std::thread::sleep(Duration::from_secs(15));
    let mark = bed().cluster.audit_mark()?;
    std::thread::sleep(watched);
    let counts = bed().cluster.audit_counts(mark, OPERATOR)?;
    // A Registration with `lookup` asks for each of its pods again every ten minutes.
    let (lookups, others): (Vec<_>, Vec<_>) =
        counts.into_iter().partition(|count| count.resource == "registrations");
    for (what, aim, counts) in [
        ("besides its Lease and lookups", "0", others),
        ("for three pods that a Registration looks up again", "", lookups),
    ] {
        let asked = format!("{} writes, {} reads", look::writes(&counts), look::reads(&counts));
        report.row(&format!("requests of the operator in {seconds} s at rest, {what}"), aim, asked);
    }
    Ok(())
}
