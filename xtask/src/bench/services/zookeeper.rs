//! Figures of an ensemble: growth and shrinking, a rollout, and the removal of the leader, each
//! under a writer.

use anyhow::{Result, ensure};
use palladion_e2e::bed::bed;
use palladion_e2e::zookeeper::{Ensemble, Writing};
use palladion_testbed::progress::{Lines, Progress};
use serde_json::json;

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
    let gap = ended(writing, &ensemble)?;
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
    let before = ensemble.service().pods();
    let mark = bed().cluster.audit_mark()?;
    ensemble.service().patch_spec(&json!({ "restartToken": "bench" }));
    ensemble.service().wait("all pods to be new", |_| {
        let now = ensemble.service().pods();
        now.len() == before.len() && before.iter().all(|(name, uid)| now.get(name) != Some(uid))
    });
    ensemble.wait_servers(3);
    report.row(
        "ZooKeeper, rolling restart of three: writes of the operator / of the agents",
        "",
        writes(mark, AGENTS)?,
    );
    let gap = ended(writing, ensemble)?;
    report.row("longest time without an acknowledged write meanwhile", "", gap);
    Ok(())
}

/// From three to one, with the leader among those that leave.
fn leader_leaves(ensemble: &Ensemble, report: &mut Report) -> Result<()> {
    let leads = || ensemble.service().status()["leader"].as_str().unwrap_or_default().to_owned();
    let stays = ensemble.service().member_name(0);
    let mut elections = 0;
    while leads() == stays {
        ensure!(elections < 5, "{stays} is elected again and again");
        ensemble.service().delete_pod(0, 20);
        ensemble.service().wait("another leader", |o| o["status"]["leader"] != stays.as_str());
        ensemble.wait_servers(3);
        elections += 1;
    }
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
    let gap = ended(writing, ensemble)?;
    report.row("longest time without an acknowledged write, the leader among the leavers", "", gap);
    Ok(())
}

/// The longest gap and the rate of a writer, all of whose nodes are there.
fn ended(writing: Writing, ensemble: &Ensemble) -> Result<String> {
    let written = writing.end(ensemble)?;
    Ok(format!(
        "{:.1} s, {} nodes acknowledged, none missing",
        written.longest_gap.as_secs_f64(),
        written.acknowledged.len()
    ))
}
