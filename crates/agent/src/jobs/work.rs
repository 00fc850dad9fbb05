//! A job of a task, carried out in a task beside the loop.

use super::bench::{Bench, Halt, Step};
use super::{due, flush, levels, remove_datacenter, repair, replication, rewrite, snapshot};
use crate::admin::jobs::Rewrite;
use crate::volume::jobs::Ended;
use crate::words::work::{Done, Refused};
use palladion_api::task::{Body, RepairScope};
use palladion_api::words::Names;

/// Carry it out; `None` where what became of it is not known here.
pub async fn work(bench: &Bench) -> Option<Ended> {
    bench.ended(carry_out(bench).await)
}

async fn carry_out(bench: &Bench) -> Step<Done> {
    let Some(body) = bench.job.work.body() else {
        return Err(Halt::Refused(Refused::body().to_string()));
    };
    match body {
        Body::Repair(what) => match what.scope {
            RepairScope::Everything => repair::repair(bench, &what.of).await,
            RepairScope::Due => due::repair(bench, what).await,
            RepairScope::Unknown(word) => Err(Halt::Refused(Refused::word(word).to_string())),
        },
        Body::Flush(what) => flush::flush(bench, &what.of).await,
        Body::Snapshot(what) => snapshot::take(bench, what).await,
        Body::ClearSnapshot(what) => snapshot::clear(bench, what).await,
        Body::SetLogLevel(what) => levels::set(bench, what).await,
        Body::Replication(what) => replication::replicate(bench, what).await,
        Body::RemoveDatacenter(what) => remove_datacenter::remove(bench, what).await,
        Body::Cleanup(_)
        | Body::Compact(_)
        | Body::GarbageCollect(_)
        | Body::Scrub(_)
        | Body::UpgradeSstables(_) => match as_rewrite(body) {
            Some((what, of)) => rewrite::rewrite(bench, what, of).await,
            None => Err(Halt::Refused(Refused::body().to_string())),
        },
    }
}

/// The rewrite that a body asks for, if it is one.
pub(super) fn as_rewrite(body: Body<'_>) -> Option<(Rewrite<'_>, &palladion_api::task::Selection)> {
    let what = match body {
        Body::Cleanup(what) => Rewrite::Cleanup(what),
        Body::Compact(what) => Rewrite::Compact(what),
        Body::GarbageCollect(what) => Rewrite::GarbageCollect(what),
        Body::Scrub(what) => Rewrite::Scrub(what),
        Body::UpgradeSstables(what) => Rewrite::UpgradeSstables(what),
        Body::Repair(_)
        | Body::Flush(_)
        | Body::Snapshot(_)
        | Body::ClearSnapshot(_)
        | Body::SetLogLevel(_)
        | Body::Replication(_)
        | Body::RemoveDatacenter(_) => return None,
    };
    Some((what, body.selection()?))
}

/// What people read of a job that has gone through keyspaces.
pub(super) fn done<'a>(keyspaces: impl IntoIterator<Item = &'a str>) -> Done {
    let names: Vec<&str> = keyspaces.into_iter().collect();
    match names.is_empty() {
        true => Done::NoKeyspaces,
        false => Done::Keyspaces { keyspaces: Names::of(names) },
    }
}
