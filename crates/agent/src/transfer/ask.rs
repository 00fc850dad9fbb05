//! What is asked of the server before the child begins, or instead of it.

use super::snapshot::Taken;
use super::{Bench, describe, ring, snapshot};
use palladion_agent_transfer::assign::Said;
use palladion_agent_transfer::decide::Views;
use palladion_agent_transfer::words::refusal::Refusal;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::TransferTask;
use std::collections::BTreeSet;

/// What it said.
#[derive(Default)]
pub struct Asked {
    /// For the child.
    pub said: Said,
    /// For the operator.
    pub ring: Option<Views>,
    /// For the next try.
    pub tokens: Vec<String>,
    /// Of a snapshot.
    pub kept: Option<Captured>,
}

/// What is noted of a snapshot for its upload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Which tables it has.
    pub tables: String,
    /// Which keyspaces it was taken of.
    pub keyspaces: BTreeSet<String>,
    /// The member's tokens.
    pub tokens: Vec<String>,
}

/// Ask it.
///
/// # Errors
/// It cannot be asked, or what it says rules the work out.
pub async fn ask(bench: &Bench) -> Result<Asked, Stopped> {
    match bench.order.work.task().ok_or_else(Refusal::work)? {
        // The child asks nothing of it; without it no backup can begin.
        TransferTask::Prepare(_) => bench.server().map(|_| Asked::default()),
        TransferTask::Snapshot(work) => {
            let Taken { ring, tables, keyspaces, tokens } = snapshot::take(bench, work).await?;
            let kept = Some(Captured { tables, keyspaces, tokens });
            Ok(Asked { ring: Some(ring), kept, ..Asked::default() })
        }
        TransferTask::Describe(work) => {
            let tokens = match &work.quorum {
                Some(quorum) => Some(ring::suffices(bench, (work, quorum)).await?),
                None => None,
            };
            let (file, mut ring) = describe::describe(bench).await?;
            ring.tokens = tokens;
            Ok(Asked { said: Said::Schema(file), ring: Some(ring), ..Asked::default() })
        }
        TransferTask::Upload(_) => {
            let tokens = match bench.tokens.is_empty() {
                true => ring::own_tokens(bench).await?,
                false => bench.tokens.clone(),
            };
            Ok(Asked { said: Said::Tokens(tokens.clone()), tokens, ..Asked::default() })
        }
        TransferTask::Finish(work) => {
            let said = Said::Ring(ring::to_finish(bench, work).await?);
            Ok(Asked { said, ..Asked::default() })
        }
        // A restore asks between its steps.
        TransferTask::Verify(_)
        | TransferTask::Catalog(_)
        | TransferTask::Schema(_)
        | TransferTask::Load(_)
        | TransferTask::Tokens(_)
        | TransferTask::Replay(_)
        | TransferTask::Open(_)
        | TransferTask::Settle(_)
        // Of store and keys alone.
        | TransferTask::Expire(_)
        | TransferTask::Sweep(_) => Ok(Asked::default()),
        TransferTask::Discard(work) => {
            snapshot::clear_all(bench, &work.tags).await;
            Ok(Asked::default())
        }
    }
}
