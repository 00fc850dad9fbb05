//! `backup list`: how each backup of a repository stands.

use super::{Place, note};
use crate::amount::bytes;
use crate::exit::{Exit, Trouble};
use crate::format::{PlainOutput, print};
use crate::session::Session;
use crate::table::Table;
use crate::time::age;
use crate::words::answer::Answer;
use clap::Args;
use jiff::Timestamp;
use palladion_backup::catalog::{Backup, Catalog, State};
use palladion_backup::names::BackupId;
use palladion_backup::words::notice::Stands;
use serde_json::{Value, json};

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion backup list --store /backups/demo\n\nDATA is the length of the files as they were taken, STORED that of their objects in the store; objects that backups share count for each of them. AGE counts from the first snapshot."
)]
pub struct List {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: PlainOutput,
}

impl List {
    /// Run the verb.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let (catalog, stands) = self.place.with(|vault| {
            let catalog = Catalog::read(vault)?;
            let each = catalog.backups.values().map(|backup| catalog.stands(vault, backup));
            let stands: Vec<Stands> = each.collect();
            Ok((catalog, stands))
        })?;
        note(session, catalog.notices());
        let now = session.now();
        let each = || catalog.backups.iter().zip(&stands);
        let items: Vec<Value> = each().map(|((id, b), stands)| data(id, (b, stands))).collect();
        let paint = session.paint;
        print(session, self.output.output.into(), &json!({ "items": items }), || {
            if catalog.backups.is_empty() {
                let store = self.place.store.to_string();
                return vec![Answer::NoBackups { store }.to_string()];
            }
            let mut table = Table::new(&["BACKUP", "STATE", "MEMBERS", "DATA", "STORED", "AGE"]);
            for ((id, backup), stands) in each() {
                table.row(row(id, (backup, stands), now).into_iter().map(Into::into).collect());
            }
            table.lines(paint)
        })?;
        Ok(Exit::Done)
    }
}

fn row(id: &BackupId, (backup, stands): (&Backup, &Stands), now: Timestamp) -> [String; 6] {
    let state = stands.to_string();
    match &backup.state {
        State::Complete { ring, .. } => {
            let since = Timestamp::from_second(ring.window.from);
            let age = since.map(|since| age(now, since)).unwrap_or_default();
            let members = ring.members.len();
            let members = match ring.left_out.len() {
                0 => members.to_string(),
                out => format!("{members} of {}", members + out),
            };
            [id.to_string(), state, members, bytes(ring.bytes()), bytes(ring.stored_bytes()), age]
        }
        State::Failed(_) | State::Open | State::Unknown(_) => {
            let none = String::new;
            [id.to_string(), state, none(), none(), none(), none()]
        }
    }
}

/// A backup, for programs.
pub fn data(id: &BackupId, (backup, stands): (&Backup, &Stands)) -> Value {
    let mut data = json!({
        "id": id.as_str(),
        "state": stands.to_string(),
        "condemnedBy": backup.condemned,
    });
    if let State::Complete { ring, hash } = &backup.state {
        data["manifestHash"] = json!(hash.as_str());
        data["window"] = json!(ring.window);
        data["dataBytes"] = json!(ring.bytes());
        data["storedBytes"] = json!(ring.stored_bytes());
        data["members"] = json!(ring.members);
        data["leftOut"] = json!(ring.left_out);
    }
    data
}
