//! Repair of the primary ranges, keyspace by keyspace. The server numbers its
//! repairs: one whose number is noted is found again after a restart of the agent.

use super::bench::{Bench, Step};
use super::follow::follow;
use super::work::done;
use super::{due, plan};
use crate::admin::RepairTicket;
use crate::volume::jobs::{Item, Notes};
use crate::words::calls::Doing;
use crate::words::repair::Unclear;
use crate::words::work::Done;
use jiff::Timestamp;
use palladion_api::member::JobUnit;
use palladion_api::task::Selection;

/// Repair what is meant.
pub async fn repair(bench: &Bench, of: &Selection) -> Step<Done> {
    let jobs = bench.jobs()?;
    let named = plan::named(bench, of).await?;
    let mut before = due::seen(bench).await;
    for (index, (keyspace, tables)) in named.iter().enumerate() {
        let task = &bench.job.task;
        if bench.book.read(|notes| notes.has_finished_keyspace(task, keyspace)) {
            continue;
        }
        bench.show_parts(index, named.len(), JobUnit::Keyspaces);
        let part = async {
            // When an earlier agent has begun it is not known: it is not remembered then.
            let mut begun = None;
            let ticket = match adopted(bench, keyspace) {
                Some(ticket) => Some(ticket),
                None => {
                    bench.may_stop()?;
                    // What has changed since one keyspace was begun is known for the next one.
                    if let Some(again) = due::seen_again(bench, &before).await {
                        before = again;
                    }
                    begun = Some(Timestamp::now().as_second());
                    let item = Item { keyspace: keyspace.clone(), table: None };
                    bench.note(|notes| notes.call(item))?;
                    match jobs.repair_tables(keyspace, tables).await {
                        Ok(ticket) => ticket,
                        Err(error) => {
                            let doing = Doing::Repair { keyspace: keyspace.clone() };
                            return Err(bench.failed(doing, error).await);
                        }
                    }
                }
            };
            let Some(ticket) = ticket else {
                // One copy of each row: nothing was repaired, and nothing is ever due.
                bench.note(Notes::finish_item)?;
                return Ok(None);
            };
            bench.note(|notes| notes.number(ticket.number))?;
            follow(bench, &ticket).await?;
            let recorded = match (&before, begun) {
                (Ok(before), Some(begun)) => {
                    due::remember(bench, before, (keyspace, tables), begun).await?
                }
                (Err(why), _) => Err(why.clone()),
                (Ok(_), None) => Err(Unclear::Beginning),
            };
            bench.note(Notes::finish_item)?;
            Ok(recorded.err().map(|why| Done::NotRecorded { why: why.to_string() }))
        };
        bench.keyspace(keyspace, part).await?;
    }
    Ok(done(named.keys().map(String::as_str)))
}

/// The repair that an earlier agent began of this keyspace, by this very job.
fn adopted(bench: &Bench, keyspace: &str) -> Option<RepairTicket> {
    bench.book.read(|notes| {
        let note = notes.open()?;
        note.item.as_ref().filter(|item| item.keyspace == keyspace)?;
        Some(RepairTicket { keyspace: keyspace.into(), number: note.repair? })
    })
}
