//! Figures of an ensemble: growth and shrinking, a rollout, and the removal of the leader, each
//! under a writer.

use anyhow::Result;
use palladion_e2e::bed::bed;
use palladion_e2e::zookeeper::{Ensemble, Writing};
use palladion_testbed::progress::{Lines, Progress};

use super::super::report::Report;
use super::{memory, writes};

const NAME: &str = "bench-zk";
const AGENTS: &str = "system:serviceaccount:bench-zk:bench-zk-zk-member";

pub fn figures(report: &mut Report) -> Result<()> {
    Lines.note("an ensemble of ZooKeeper");
    let ensemble = Ensemble::form(NAME, 1, &["deletionPolicy: Delete"]);
    let writing = Writing::begin(&ensemble)?;
    let mark = bed().cluster.audit_mark()?;
    ensemble.set_servers(3);
    ensemble.wait_servers(3);
    report.row(
        "ZooKeeper, 1 → 3 servers: writes of the operator / of the agents",
        "",
        writes(mark, AGENTS)?,
    );
    let gap = writing.end(&ensemble)?.to_string();
    report.row("longest time without an acknowledged write meanwhile", "", gap);
    let member = ensemble.service().member_name(0);
    let agents = memory(NAME, &member, "zookeeper", "/mnt/shared/palladion-agent")?;
    report.row("memory of init and agent beside a server", "", format!("{agents:.1} MiB"));
    rollout(&ensemble, report)?;
    leader_leaves(&ensemble, report)
}

/// All servers, the leader last.
fn rollout(ensemble: &Ensemble, report: &mut Report) -> Result<()> {
    let writing = Writing::begin(ensemble)?;
    let mark = bed().cluster.audit_mark()?;
    ensemble.service().restart("bench", 3);
    ensemble.wait_servers(3);
    report.row(
        "ZooKeeper, rolling restart of three: writes of the operator / of the agents",
        "",
        writes(mark, AGENTS)?,
    );
    let gap = writing.end(ensemble)?.to_string();
    report.row("longest time without an acknowledged write meanwhile", "", gap);
    Ok(())
}

/// From three to one, with the leader among those that leave.
fn leader_leaves(ensemble: &Ensemble, report: &mut Report) -> Result<()> {
    ensemble.let_a_leaver_lead(3, 1);
    let writing = Writing::begin(ensemble)?;
    let mark = bed().cluster.audit_mark()?;
    ensemble.set_servers(1);
    ensemble.wait_servers(1);
    report.row(
        "ZooKeeper, 3 → 1 servers: writes of the operator / of the agents",
        "",
        writes(mark, AGENTS)?,
    );
    writing.follow(ensemble)?;
    let gap = writing.end(ensemble)?.to_string();
    report.row("longest time without an acknowledged write, the leader among the leavers", "", gap);
    Ok(())
}
