//! `verify`: reads every replica by itself, the ring at QUORUM and ALL, and the
//! registers at SERIAL, and judges.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use scylla::client::session::Session;

use crate::history::{self, History, Micros, Operation};
use crate::judge::{AtOne, Claims, Coverage, Judgement, Member, Observed, Reading, Table, judge};
use crate::level::Level;
use crate::report::{Proofs, Report};
use crate::ring::places::{self, Places};
use crate::ring::replica::Replica;
use crate::ring::{Contact, scan};

/// Hints are sent every 10 s.
const LOOK_AGAIN: Duration = Duration::from_secs(3);

/// What to compare, and how strictly.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    contact: Contact,
    /// The history to hold the ring to
    #[arg(long)]
    history: PathBuf,
    /// The ring must have so many members
    #[arg(long)]
    members: Option<usize>,
    /// A volume was lost at this moment, in microseconds since 1970: what was attempted before and acknowledged at ONE alone may be lost with it
    #[arg(long)]
    lost_before: Option<Micros>,
    /// Whether what was acknowledged at ONE must be found
    #[arg(long, value_enum, default_value = "must-be-kept")]
    at_one: AtOne,
    /// How much of what it is a replica of each member must hold by itself, in percent
    #[arg(long, default_value_t = 95, value_parser = clap::value_parser!(u8).range(0..=100))]
    replica_percent: u8,
    /// How many keys each member may lack whatever the percentage, because all members ended at once
    #[arg(long, default_value_t = 0)]
    in_flight: usize,
    /// How many seconds hints may take to bring that about
    #[arg(long, default_value_t = 40)]
    settle: u64,
}

/// Run it.
///
/// # Errors
/// If anything could not be read, or not proven: then nothing is said about the data.
pub async fn run(arguments: &Arguments) -> Result<Report> {
    let history = history::read(&arguments.history)?;
    let keyspace = &arguments.contact.keyspace;
    may_be_held_to(&history, keyspace)?;
    let session = arguments.contact.connect().await?;
    let &Arguments { at_one, replica_percent, in_flight, lost_before, .. } = arguments;
    let claims = Claims { at_one, replica_percent, in_flight, lost_before };
    let coverage = Coverage::of(&history);
    ensure!(
        coverage.says_enough(),
        "nothing is known of {} of {} rows: too many to say anything about the others",
        coverage.unknown,
        coverage.rows
    );
    let end = Instant::now() + Duration::from_secs(arguments.settle);
    loop {
        let (reading, members, proofs) = read(&session, keyspace, &history).await?;
        if let Some(wanted) = arguments.members {
            let found = members.len();
            ensure!(found == wanted, "the ring has {found} members instead of {wanted}");
        }
        let judgement = judge(&history, &reading, claims);
        if !may_settle(&judgement) || Instant::now() > end {
            return Ok(Report::new(&history, judgement, members, proofs));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// A ring cannot fail a history that promises nothing: such a check would pass
/// whatever the ring holds.
fn may_be_held_to(history: &History, keyspace: &str) -> Result<()> {
    ensure!(!history.operations.is_empty(), "the history tells of no attempt");
    let acknowledged = history.rows().into_values().flatten().find_map(Operation::acknowledged);
    ensure!(acknowledged.is_some(), "the history tells of no row that was acknowledged");
    for run in &history.runs {
        ensure!(
            run.keyspace == keyspace,
            "the history is of the keyspace {}; hint: --keyspace {0}",
            run.keyspace
        );
    }
    Ok(())
}

/// Whether something is wrong, and nothing that time would not mend.
fn may_settle(judgement: &Judgement) -> bool {
    let verdicts = &judgement.verdicts;
    !verdicts.is_empty() && verdicts.iter().all(|verdict| verdict.kind.may_settle())
}

/// Replicas by themselves first: nothing that follows could mend what they lack.
async fn read(
    session: &Session,
    keyspace: &str,
    history: &History,
) -> Result<(Reading, Vec<Member>, Proofs)> {
    let keys = |table: Table| -> BTreeSet<i64> {
        match table {
            Table::Rows => history.rows().into_keys().collect(),
            Table::Registers => history.registers().into_keys().collect(),
        }
    };
    let (mut reading, mut proofs) = (Reading::default(), Proofs::default());
    let mut all = BTreeMap::new();
    for table in Table::ALL {
        let places = places::find(session, keyspace, table, &keys(table)).await?;
        let alone = alone(session, keyspace, table, &places, &mut proofs).await?;
        all.extend(places.members.clone());
        let observed = together(session, keyspace, table, places).await?;
        let observed = Observed { alone, ..observed };
        match table {
            Table::Rows => reading.rows = observed,
            Table::Registers => reading.registers = observed,
        }
    }
    reading.serial = scan::serial(session, keyspace, &keys(Table::Registers)).await?;
    Ok((reading, all.into_keys().collect(), proofs))
}

async fn alone(
    session: &Session,
    keyspace: &str,
    table: Table,
    places: &Places,
    proofs: &mut Proofs,
) -> Result<BTreeMap<Member, crate::judge::Found>> {
    let nothing = BTreeSet::new();
    let reads = places.members.iter().map(|(member, host_id)| {
        let replica = Replica { member: member.clone(), host_id: *host_id };
        let ranges = places.ranges.get(member).unwrap_or(&nothing);
        async move {
            let read = replica.read(session, keyspace, table, ranges).await?;
            anyhow::Ok((replica.member, read))
        }
    });
    let mut alone = BTreeMap::new();
    for (member, (found, proven)) in try_join_all(reads).await? {
        proofs.proven += proven.proven;
        proofs.discarded += proven.discarded;
        alone.insert(member, found);
    }
    Ok(alone)
}

async fn together(
    session: &Session,
    keyspace: &str,
    table: Table,
    places: Places,
) -> Result<Observed> {
    let mut quorum = BTreeMap::new();
    for (member, host_id) in &places.members {
        let found = scan::table(session, keyspace, table, Level::Quorum, Some(*host_id)).await?;
        quorum.insert(member.clone(), found);
    }
    let all = scan::table(session, keyspace, table, Level::All, None).await?;
    Ok(Observed { replicas: places.replicas, alone: BTreeMap::new(), quorum, all })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Action, Attempt, Outcome, Run};

    fn history(outcome: Outcome) -> History {
        let action = Action::Put { version: 1 };
        let attempt = Attempt { id: 1, at: 1, key: 1, action, level: Level::All };
        let run = Run { at: 0, seed: 1, keyspace: "kept".into() };
        History {
            runs: vec![run],
            operations: vec![Operation { attempt, outcome, ended: Some(2) }],
        }
    }

    #[test]
    fn a_load_that_never_wrote_proves_nothing() {
        let failed = Outcome::Failed { cause: "unavailable".into() };
        let why = may_be_held_to(&history(failed), "kept").expect_err("nothing was written");
        assert!(why.to_string().contains("no row that was acknowledged"), "{why}");
        may_be_held_to(&history(Outcome::Acknowledged), "kept").expect("it was");
        assert!(may_be_held_to(&history(Outcome::Acknowledged), "another").is_err());
    }
}
