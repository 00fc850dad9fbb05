//! How each operation is carried out, in a task beside the loop.

use super::book::Book;
use super::pace::Pace;
use super::rebuild;
use crate::admin::{DownReplicas, Error, RepairScope, RepairState, STILL_REMOVING, ServerAdmin};
use crate::cql::Endpoint;
use crate::decide::operation::Left;
use crate::replication::{Change, Fewer, Schema, Simple, View, alter};
use crate::volume::Volume;
use crate::words::calls::Doing;
use crate::words::job::{Done, Failed};
use anyhow::{Context, Result, bail};
use palladion_api::ids::HostId;
use palladion_api::member::{Operation, OperationKind};
use palladion_api::words::Names;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Sender;
use tokio::time::Instant;

/// How often a server is called again that is still at the removal of an earlier call.
const REMOVAL_LOOK: Duration = Duration::from_secs(10);

/// How far an operation is, in percent.
pub type Progress = Sender<u8>;

/// What an operation needs.
pub struct Tools {
    /// The server.
    pub admin: Arc<dyn ServerAdmin>,
    /// Its native protocol.
    pub cql: Endpoint,
    /// Tag of its launch.
    pub tag: String,
    /// Its datacenter.
    pub datacenter: String,
    /// The notes, where they can be read.
    pub book: Option<Arc<Book>>,
    /// Where it is noted what was rebuilt.
    pub volume: Volume,
    /// How often it is looked at.
    pub pace: Pace,
}

impl Tools {
    /// From where on the repair is looked for that the server has just begun. Without the note
    /// it is looked for from further back.
    fn note(&self, number: i64) {
        let noted = self
            .book
            .as_ref()
            .map(|book| book.change(|notes| notes.count_before(&self.tag, number)));
        if let Some(Err(error)) = noted {
            let error = format!("{error:#}");
            tracing::warn!(number, error, "the number of a repair cannot be noted");
        }
    }
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Well or not: a line for people either way.
    Ended(Result<String, String>),
    /// The server does not answer any more, and goes on with it; with what was tried.
    Lost(String),
    /// What the server went on with is over.
    Over,
    /// The server does not say whether it is.
    Unclear,
}

/// Carry out an operation.
pub async fn run(operation: &Operation, tools: &Tools, progress: &Progress) -> Outcome {
    let is_unanswered = |error: &anyhow::Error| {
        let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<Error>());
        causes.any(|cause| matches!(cause, Error::Http { .. }))
    };
    match carry_out(operation, tools, progress).await {
        Ok(done) => Outcome::Ended(Ok(done.to_string())),
        Err(error) if Left::by(operation.kind).is_some() && is_unanswered(&error) => {
            Outcome::Lost(format!("{error:#}"))
        }
        Err(error) => Outcome::Ended(Err(format!("{error:#}"))),
    }
}

async fn carry_out(operation: &Operation, tools: &Tools, progress: &Progress) -> Result<Done> {
    let admin = tools.admin.as_ref();
    match operation.kind {
        OperationKind::AlterReplication => alter_replication(operation, tools, progress).await,
        OperationKind::RemoveNode => {
            let target =
                operation.target.as_ref().ok_or_else(|| anyhow::Error::msg(Failed::NoTarget))?;
            remove_node(target, admin).await?;
            Ok(Done::Removed { host_id: target.clone() })
        }
        OperationKind::Repair => repair(operation, tools, progress).await,
        OperationKind::Rebuild => rebuild::rebuild(operation, tools, progress).await,
        OperationKind::Unknown(word) => bail!(Failed::unknown(word)),
        OperationKind::Cleanup => each(operation, admin, progress, Work::Cleanup).await,
        OperationKind::Flush => each(operation, admin, progress, Work::Flush).await,
        OperationKind::UpgradeSstables => {
            each(operation, admin, progress, Work::UpgradeSstables).await
        }
    }
}

/// The removal that a server is at, for an agent of before, is waited for. The
/// next call fails then, since the host ID is gone: whether it is, the operator
/// asks the ring.
async fn remove_node(target: &HostId, admin: &dyn ServerAdmin) -> Result<()> {
    loop {
        match admin.remove_node(target).await {
            Err(error) if error.to_string().contains(STILL_REMOVING) => {
                tokio::time::sleep(REMOVAL_LOOK).await;
            }
            answer => return Ok(answer?),
        }
    }
}

async fn keyspaces(operation: &Operation, admin: &dyn ServerAdmin) -> Result<Vec<String>> {
    if operation.keyspaces.is_empty() {
        return admin.keyspaces().await.context(Doing::ListKeyspaces);
    }
    Ok(operation.keyspaces.clone())
}

/// Work that is done keyspace by keyspace.
#[derive(Clone, Copy)]
enum Work {
    Cleanup,
    Flush,
    UpgradeSstables,
}

async fn each(
    operation: &Operation,
    admin: &dyn ServerAdmin,
    progress: &Progress,
    work: Work,
) -> Result<Done> {
    let all = keyspaces(operation, admin).await?;
    for (index, keyspace) in all.iter().enumerate() {
        let (doing, answer) = match work {
            Work::Cleanup => {
                (Doing::CleanUp { keyspace: keyspace.clone() }, admin.cleanup(keyspace))
            }
            Work::Flush => (Doing::Flush { keyspace: keyspace.clone() }, admin.flush(keyspace)),
            Work::UpgradeSstables => {
                let doing = Doing::UpgradeSstables { keyspace: keyspace.clone() };
                (doing, admin.upgrade_sstables(keyspace))
            }
        };
        answer.await.context(doing)?;
        tell(progress, index + 1, all.len());
    }
    let names: Vec<&str> = all.iter().map(String::as_str).collect();
    Ok(match names.is_empty() {
        true => Done::NoKeyspaces,
        false => Done::Keyspaces { keyspaces: Names::of(names) },
    })
}

async fn alter_replication(
    operation: &Operation,
    tools: &Tools,
    progress: &Progress,
) -> Result<Done> {
    if operation.keyspaces.is_empty() || operation.replication.is_empty() {
        bail!(Failed::NoReplication);
    }
    let change = Change {
        factors: operation.replication.clone(),
        simple: Simple::Replaced,
        fewer: Fewer::OwnAlone,
    };
    let reading = tools.admin.read().await.context(Doing::ReadAttributes)?;
    let view = View::of(&tools.datacenter, reading.members.as_deref());
    for (index, keyspace) in operation.keyspaces.iter().enumerate() {
        let admin = tools.admin.as_ref();
        let schema: (&dyn Schema, Duration) = (&admin, tools.pace.agreement);
        alter((&tools.cql, schema), keyspace, &change, &view, |_| Ok(()))
            .await
            .with_context(|| Doing::Alter { keyspace: keyspace.clone() })?;
        tell(progress, index + 1, operation.keyspaces.len());
    }
    let factors = operation.replication.iter().map(|(name, copies)| format!("{name}: {copies}"));
    let factors: Vec<String> = factors.collect();
    Ok(Done::Replicated { keyspaces: Names::of(&operation.keyspaces), factors: Names::of(factors) })
}

async fn repair(operation: &Operation, tools: &Tools, progress: &Progress) -> Result<Done> {
    let admin = tools.admin.as_ref();
    let down = match operation.target {
        Some(_) => DownReplicas::LeaveOut,
        None => DownReplicas::Fail,
    };
    let what = RepairScope { ranges: operation.ranges, down };
    let all = keyspaces(operation, admin).await?;
    let mut repaired = Vec::new();
    for (index, keyspace) in all.iter().enumerate() {
        let doing = || Doing::Repair { keyspace: keyspace.clone() };
        if let Some(ticket) = admin.begin_repair(keyspace, what).await.with_context(doing)? {
            tools.note(ticket.number);
            let since = Instant::now();
            let mut heard = since;
            loop {
                tokio::time::sleep(tools.pace.repair_look(since.elapsed())).await;
                match admin.repair_state(&ticket).await {
                    Ok(RepairState::Running) => heard = Instant::now(),
                    Ok(RepairState::Completed) => break,
                    Ok(RepairState::Failed(why)) => {
                        bail!(Failed::RepairFailed { keyspace: keyspace.clone(), why })
                    }
                    Ok(RepairState::Unknown) if since.elapsed() < tools.pace.early => {}
                    Ok(RepairState::Unknown) => {
                        bail!(Failed::RepairForgotten { keyspace: keyspace.clone() })
                    }
                    Err(error) if heard.elapsed() >= tools.pace.repair_silence() => {
                        return Err(error).with_context(doing);
                    }
                    Err(_) => {}
                }
            }
            repaired.push(keyspace.as_str());
        }
        tell(progress, index + 1, all.len());
    }
    Ok(match repaired.is_empty() {
        true => Done::NoKeyspaces,
        false => Done::Repaired { keyspaces: Names::of(repaired) },
    })
}

pub(super) fn tell(progress: &Progress, done: usize, all: usize) {
    progress.send_replace(u8::try_from(done * 100 / all.max(1)).unwrap_or(100));
}
