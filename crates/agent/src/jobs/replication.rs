//! The copies of keyspaces in one datacenter, keyspace by keyspace. Whether each of them can be
//! changed is looked at before the first one is.

use super::bench::{Bench, Halt, Step};
use crate::cql;
use crate::replication::{Altered, Change, Fewer, Replication, Schema, Simple, View, alter, look};
use crate::volume::jobs::{Item, Notes};
use crate::words::calls::Doing;
use crate::words::replication::Refused;
use crate::words::work::{Done, Failed};
use palladion_api::member::{JobCause, JobUnit};
use palladion_api::task::{
    FewerCopies, KeyspaceResult, KeyspaceState, ReplicationTask, SimpleReplication,
};
use palladion_api::words::Names;
use std::time::Duration;
use tokio::time::Instant;

/// Set them.
pub async fn replicate(bench: &Bench, what: &ReplicationTask) -> Step<Done> {
    let change = change(what);
    let view = view(bench).await?;
    let task = &bench.job.task;
    let is_left =
        |keyspace: &&String| !bench.book.read(|notes| notes.has_finished_keyspace(task, keyspace));
    let left: Vec<&String> = what.keyspaces.iter().filter(is_left).collect();
    for keyspace in &left {
        let found = look(bench.keyspaces.as_ref(), keyspace, &change, &view).await;
        if let Err(error) = found {
            return Err(failed(bench, keyspace, error).await);
        }
    }
    for (done, keyspace) in left.iter().enumerate() {
        bench.may_stop()?;
        bench.show_parts(done, left.len(), JobUnit::Keyspaces);
        one(bench, keyspace, (&what.datacenter, &change)).await?;
    }
    let keyspaces = Names::of(&what.keyspaces);
    let (datacenter, factor) = (what.datacenter.clone(), what.factor);
    Ok(Done::Replicated { keyspaces, datacenter, factor })
}

fn change(what: &ReplicationTask) -> Change {
    Change {
        factors: [(what.datacenter.clone(), what.factor)].into(),
        // Words that are not known were refused before.
        simple: match what.simple_strategy {
            SimpleReplication::Refuse | SimpleReplication::Unknown(_) => Simple::Refused,
            SimpleReplication::Convert => Simple::Converted,
        },
        fewer: match what.lowering {
            FewerCopies::Refuse | FewerCopies::Unknown(_) => Fewer::Refused,
            FewerCopies::Allow => Fewer::Allowed,
        },
    }
}

async fn view(bench: &Bench) -> Step<View> {
    match bench.admin.read().await {
        Ok(reading) => Ok(View::of(&bench.datacenter, reading.members.as_deref())),
        Err(error) => Err(bench.failed(Doing::ReadAttributes, error).await),
    }
}

/// The ring is looked at again right before each write.
async fn one(bench: &Bench, keyspace: &str, (datacenter, change): (&str, &Change)) -> Step<()> {
    let begun = Instant::now();
    bench.note(|notes| notes.call(Item { keyspace: keyspace.into(), table: None }))?;
    let view = view(bench).await?;
    let (keyspaces, admin) = (bench.keyspaces.as_ref(), bench.admin.as_ref());
    let schema: (&dyn Schema, Duration) = (&admin, bench.pace.agreement);
    // Whatever comes of the statement, the copies that there were are known to the next try.
    let about_to = |present: &Replication| {
        let before = present.copies_in(datacenter).unwrap_or(0);
        bench.book.change(|notes| notes.change_copies(keyspace, before))
    };
    let altered = match alter((keyspaces, schema), keyspace, change, &view, about_to).await {
        Ok(altered) => altered,
        Err(error) => {
            let halt = failed(bench, keyspace, error).await;
            return bench.keyspace(keyspace, async { Err(halt) }).await;
        }
    };
    let said = match &altered {
        Altered::Nothing => Done::AlreadyReplicated,
        Altered::From(before) => Done::ReplicatedBefore { before: before.shown() },
    };
    let task = &bench.job.task;
    let copies_before = bench.book.read(|notes| notes.copies_before(task, keyspace));
    let result = KeyspaceResult {
        name: keyspace.into(),
        state: KeyspaceState::Succeeded,
        seconds: begun.elapsed().as_secs(),
        message: Some(said.to_string()),
        copies_before,
    };
    bench.note(|notes| {
        Notes::finish_item(notes);
        notes.finish_keyspace(result);
    })
}

/// What became of a statement whose connection broke is not known here: the next try reads it.
async fn failed(bench: &Bench, keyspace: &str, error: anyhow::Error) -> Halt {
    if is_unanswered(&error) {
        return Halt::Lost;
    }
    let cause = match error.downcast_ref::<Refused>() {
        Some(Refused::SimpleKeyspace { .. }) => JobCause::SimpleStrategyInTheWay,
        Some(_) | None => JobCause::ServerError,
    };
    let doing = Doing::Alter { keyspace: keyspace.into() };
    let why = Failed::Server { why: format!("{:#}", error.context(doing)) };
    bench.failed_by_itself(cause, why).await
}

fn is_unanswered(error: &anyhow::Error) -> bool {
    let is_io = |cause: &cql::Error| matches!(cause, cql::Error::Io { .. });
    error.chain().filter_map(|cause| cause.downcast_ref::<cql::Error>()).any(is_io)
}
