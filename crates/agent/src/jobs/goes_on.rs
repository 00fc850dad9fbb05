//! An operation of the operator's own that no agent waits for any more: the agent was
//! restarted, or the connection broke, and the server goes on with it. It has ended only
//! when the server shows nothing of it any more; until then nothing is called beside it.

use super::numbers::Numbers;
use super::pace::Pace;
use crate::admin::jobs::{Jobs, Rewrite};
use crate::admin::{Answer, RepairState, RepairTicket, ServerAdmin};
use crate::decide::operation::{Left, Rewrites};
use palladion_api::task::{CleanupTask, UpgradeSstablesTask};
use tokio::time::Instant;

/// Wait for its end; `None` where the server does not answer.
pub async fn over(admin: &dyn ServerAdmin, left: Left, after: i64, pace: Pace) -> Option<()> {
    // What ScyllaDB has under way is not known here.
    let Some(jobs) = admin.jobs() else { return Some(()) };
    match left {
        Left::Repair => repairs_over(admin, after, pace).await,
        Left::Rebuild => rebuild_over(admin, pace).await,
        Left::Rewrite(what) => rewrites_over(jobs, names(what), pace).await,
        Left::Unknown => {
            repairs_over(admin, after, pace).await?;
            let all = [names(Rewrites::Cleanup), names(Rewrites::UpgradeSstables)].concat();
            rewrites_over(jobs, &all, pace).await?;
            rebuild_over(admin, pace).await
        }
    }
}

fn names(what: Rewrites) -> &'static [&'static str] {
    match what {
        Rewrites::Cleanup => Rewrite::Cleanup(&CleanupTask::default()).names(),
        Rewrites::UpgradeSstables => {
            Rewrite::UpgradeSstables(&UpgradeSstablesTask::default()).names()
        }
    }
}

/// One that is somebody's own is waited for, too: which is whose nobody knows.
async fn repairs_over(admin: &dyn ServerAdmin, after: i64, pace: Pace) -> Option<()> {
    let mut numbers = Numbers::after(after);
    loop {
        let state = |number| -> Answer<'_, RepairState> {
            // Cassandra knows them by their numbers alone.
            let ticket = RepairTicket { keyspace: String::new(), number };
            Box::pin(async move { admin.repair_state(&ticket).await })
        };
        numbers.look(state).await.ok()?;
        if numbers.running().is_empty() {
            return Some(());
        }
        tokio::time::sleep(pace.orphan).await;
    }
}

/// No stream of one for so long: it lays its streams out before it begins them.
async fn rebuild_over(admin: &dyn ServerAdmin, pace: Pace) -> Option<()> {
    let mut quiet = Instant::now();
    while quiet.elapsed() < pace.quiet {
        tokio::time::sleep(pace.orphan).await;
        if admin.rebuilding().await.ok()?.is_some() {
            quiet = Instant::now();
        }
    }
    Some(())
}

/// None of its entries, of whichever table, for so long: it went from one to the next.
async fn rewrites_over(jobs: &dyn Jobs, names: &[&str], pace: Pace) -> Option<()> {
    let mut quiet = Instant::now();
    while quiet.elapsed() < pace.quiet {
        tokio::time::sleep(pace.orphan).await;
        let all = jobs.compactions().await.ok()?;
        if all.iter().any(|one| names.contains(&one.name.as_str())) {
            quiet = Instant::now();
        }
    }
    Some(())
}
