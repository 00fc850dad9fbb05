//! A call that no agent waits for any more: the agent was restarted, or the
//! connection broke, and the server goes on. Nothing is called on its table until
//! it is over: 4.1 would end it and begin anew, 5.0 would refuse.

use super::bench::{Bench, Halt, Step};
use super::numbers::Numbers;
use super::snapshot::OnDisk;
use super::stop::Asked;
use super::work::{as_rewrite, work};
use super::{snapshot, stop};
use crate::admin::jobs::Rewrite;
use crate::admin::{RepairState, RepairTicket};
use crate::volume::jobs::{Ended, Item, Notes};
use crate::words::calls::Doing;
use crate::words::work::Interrupted;
use palladion_api::member::{JobCause, JobState};
use palladion_api::task::{Body, SnapshotTask};
use palladion_api::words::Names;
use tokio::time::Instant;

/// Who was waiting for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// An agent before this one.
    EarlierAgent,
    /// This one; the connection broke.
    ThisAgent,
}

/// Wait for its end; `None` where the server does not answer.
pub async fn settle(bench: &Bench, waited: Waited) -> Option<Ended> {
    let (item, number) = bench.book.read(|notes| {
        let note = notes.open();
        (note.and_then(|n| n.item.clone()), note.and_then(|n| n.repair))
    });
    let outcome = match (bench.job.work.body(), item) {
        // It is followed by its number, and the job goes on after it.
        // Nothing was called: it goes on with what is due still.
        (Some(body), None) if body.is_repair_of_due() => return work(bench).await,
        (Some(Body::Repair(_)), Some(_)) if number.is_some() => match work(bench).await {
            None if has_failed(bench).await => Ok(()),
            ended => return ended,
        },
        (Some(Body::Repair(_)), Some(item)) => repairs_end(bench, &item).await,
        (Some(Body::Snapshot(what)), _) => match taken(bench, what).await {
            Ok(OnDisk::All) => return work(bench).await,
            Ok(OnDisk::Part | OnDisk::Nothing | OnDisk::Others) => Ok(()),
            Err(halt) => Err(halt),
        },
        (Some(body), Some(item)) => match as_rewrite(body) {
            Some((what, _)) => entries_end(bench, what, &item).await,
            None => Ok(()),
        },
        (Some(_) | None, None) | (None, Some(_)) => Ok(()),
    };
    match outcome {
        Ok(()) => {
            let (cause, why) = match waited {
                Waited::EarlierAgent => (JobCause::AgentEnded, Interrupted::Agent),
                Waited::ThisAgent => (JobCause::NoAnswer, Interrupted::Connection),
            };
            Some(Ended::by(JobState::Interrupted, cause, why))
        }
        Err(halt) => bench.ended(Err(halt)),
    }
}

/// None of its entries for so long: it is over, in whatever way.
async fn entries_end(bench: &Bench, what: Rewrite<'_>, item: &Item) -> Step<()> {
    let jobs = bench.jobs()?;
    let mut quiet = Instant::now();
    while quiet.elapsed() < bench.pace.quiet {
        match bench.asked() {
            None => bench.pause(bench.pace.orphan).await,
            Some(_) => {
                // What it shows is asked below.
                let _ = stop::entries(jobs, what, item).await;
                tokio::time::sleep(bench.pace.stop).await;
            }
        }
        match jobs.compactions().await {
            Ok(all) if stop::ours(&all, what, item).next().is_some() => quiet = Instant::now(),
            Ok(_) => {}
            Err(_) => return Err(Halt::Lost),
        }
    }
    Ok(())
}

/// A repair whose number was not noted yet: every repair that the server has under
/// way is waited for. One of them may be somebody's own, so none counts as ours.
async fn repairs_end(bench: &Bench, item: &Item) -> Step<()> {
    let mut asked = Asked::default();
    let mut numbers = Numbers::after(bench.book.read(Notes::last_number));
    loop {
        numbers.look(|number| Box::pin(state(bench, item, number))).await?;
        if numbers.last() > 0 {
            bench.note(|notes| notes.count_to(numbers.last()))?;
        }
        if numbers.running().is_empty() {
            return Ok(());
        }
        if bench.asked().is_some() {
            asked.end(bench, &item.keyspace, || Names::of(numbers.running())).await?;
        }
        bench.pause(bench.pace.orphan).await;
        if bench.asked().is_some() {
            tokio::time::sleep(bench.pace.stop).await;
        }
    }
}

/// Has the repair under way failed that is followed by its number? On a server that is no full
/// member, one that somebody has drained, that is not the fault of the repair; and while it stays
/// so the repair can neither be followed nor begun once more.
async fn has_failed(bench: &Bench) -> bool {
    let open = bench.book.read(|notes| {
        let note = notes.open()?;
        Some((note.item.clone()?, note.repair?))
    });
    match open {
        Some((item, number)) => {
            matches!(state(bench, &item, number).await, Ok(RepairState::Failed(_)))
        }
        None => false,
    }
}

async fn state(bench: &Bench, item: &Item, number: i64) -> Step<RepairState> {
    let ticket = RepairTicket { keyspace: item.keyspace.clone(), number };
    match bench.admin.repair_state(&ticket).await {
        Ok(state) => Ok(state),
        Err(error) => {
            let doing = Doing::Repair { keyspace: item.keyspace.clone() };
            Err(bench.failed(doing, error).await)
        }
    }
}

/// The server goes on with a snapshot: it is there as a whole in the end, or it
/// has failed and stays as it is.
async fn taken(bench: &Bench, what: &SnapshotTask) -> Step<OnDisk> {
    if !bench.book.read(|notes| notes.has_taken(&bench.job.task, &what.name)) {
        return Ok(OnDisk::Nothing);
    }
    let since = Instant::now();
    loop {
        let found = snapshot::on_disk(bench, what).await?;
        if found == OnDisk::All || since.elapsed() >= bench.pace.quiet || bench.asked().is_some() {
            return Ok(found);
        }
        bench.pause(bench.pace.stop).await;
    }
}
