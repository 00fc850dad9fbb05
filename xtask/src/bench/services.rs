//! What the services of a stack cost: writes of each change, memory of each agent, what clients
//! miss meanwhile, and how soon a process hears of a change below it.

mod components;
mod rabbitmq;
mod zookeeper;

use std::time::Duration;

use anyhow::{Result, bail};
use palladion_e2e::bed::{adopt, bed};
use palladion_testbed::Cluster;
use palladion_testbed::audit::AuditMark;

use super::report::Report;
use super::{OPERATOR, look};

/// The last words of agents and operator are written after the end of a change.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Take the figures on a testbed with Palladion on it, at rest for so long.
pub fn measure(cluster: Cluster, watched: Duration) -> Result<String> {
    adopt(cluster);
    let mut report = Report::default();
    zookeeper::figures(&mut report)?;
    rabbitmq::figures(&mut report)?;
    components::figures(&mut report)?;
    components::at_rest(watched, &mut report)?;
    let conditions = look::conditions(
        "ZooKeeper 3.9.3 with a heap of 128 MiB, RabbitMQ 3.10.8, the Components of examples/stack/component.yaml",
    )?;
    report.page("Figures of services", "cargo xtask bench --suite services", &conditions)
}

/// Writes of the operator and of the members with this account, since.
fn writes(mark: AuditMark, account: &str) -> Result<String> {
    std::thread::sleep(LAST_WORDS);
    let operator = look::writes(&bed().cluster.audit_counts(mark, OPERATOR)?);
    let agents = look::writes(&bed().cluster.audit_counts(mark, account)?);
    Ok(format!("{operator} / {agents}"))
}

/// Proportional memory of the processes of Palladion in a container, in MiB: what they share
/// counts once. `command` is what their command line begins with.
fn memory(namespace: &str, pod: &str, container: &str, command: &str) -> Result<f64> {
    let script = format!(
        "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q '^{command}' && grep '^Pss:' $p/smaps_rollup; done; true"
    );
    let place = ["exec", "-n", namespace, pod, "-c", container, "--", "sh", "-c", &script];
    let said = bed().cluster.kubectl(&place)?;
    let kib = said.lines().filter_map(|l| l.split_whitespace().nth(1)?.parse::<f64>().ok());
    let sum: f64 = kib.sum();
    if sum == 0.0 {
        bail!("reading the memory of Palladion in {pod}: no process of it was found");
    }
    Ok(sum / 1024.0)
}
