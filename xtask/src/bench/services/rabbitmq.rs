//! Figures of a cluster of RabbitMQ: growth, a rollout and shrinking, each under a publisher.

use anyhow::Result;
use palladion_e2e::bed::bed;
use palladion_e2e::rabbitmq::{Cluster, Publishing};
use palladion_testbed::progress::{Lines, Progress};

use super::super::report::Report;
use super::{memory, writes};

const NAME: &str = "bench-rmq";
const AGENTS: &str = "system:serviceaccount:bench-rmq:bench-rmq-rmq-member";

pub fn figures(report: &mut Report) -> Result<()> {
    Lines.note("a cluster of RabbitMQ");
    let cluster = Cluster::form(NAME, 1, &["deletionPolicy: Delete"]);
    under_load(&cluster, report, "RabbitMQ, 1 → 3 nodes", || {
        cluster.set_nodes(3);
        cluster.wait_nodes(3);
    })?;
    let member = cluster.service().member_name(0);
    let agents = memory(NAME, &member, "rabbitmq", "/mnt/shared/palladion-agent")?;
    report.row("memory of init and agent beside a node", "", format!("{agents:.1} MiB"));
    under_load(&cluster, report, "RabbitMQ, rolling restart of three", || {
        cluster.service().restart("bench", 3);
        cluster.wait_nodes(3);
    })?;
    under_load(&cluster, report, "RabbitMQ, 3 → 1 nodes", || {
        cluster.set_nodes(1);
        cluster.wait_nodes(1);
    })?;
    Ok(())
}

/// Writes of a change, and the longest time without a confirmed message meanwhile.
fn under_load(
    cluster: &Cluster,
    report: &mut Report,
    what: &str,
    change: impl FnOnce(),
) -> Result<()> {
    let publishing = Publishing::begin(cluster)?;
    let mark = bed().cluster.audit_mark()?;
    change();
    let written = writes(mark, AGENTS)?;
    report.row(&format!("{what}: writes of the operator / of the agents"), "", written);
    publishing.follow(cluster)?;
    let published = publishing.end(cluster)?;
    report.row("longest time without a confirmed message meanwhile", "", published.to_string());
    Ok(())
}
