//! `backup show`: one backup, member by member.

use super::list::data;
use super::{Place, id, no_backup, note};
use crate::amount::bytes;
use crate::exit::{Exit, Trouble};
use crate::format::{PlainOutput, print};
use crate::session::Session;
use crate::table::Table;
use clap::Args;
use jiff::Timestamp;
use palladion_backup::catalog::{Catalog, State};
use palladion_backup::hash::Hash;
use palladion_backup::manifest::ring::RingManifest;
use palladion_backup::names::BackupId;
use palladion_backup::words::notice::Stands;

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion backup show 2026-11-26 --store /backups/demo\n\nThe exit code is 1 if the backup is not complete, is condemned, or is known to be damaged."
)]
pub struct Show {
    /// The backup
    #[arg(value_parser = id)]
    id: BackupId,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: PlainOutput,
}

impl Show {
    /// Run the verb.
    ///
    /// # Errors
    /// There is no such backup, or the repository cannot be read.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let (catalog, stands) = self.place.with(|vault| {
            let catalog = Catalog::read(vault)?;
            let found = catalog.backups.get(&self.id);
            let stands = found.map(|backup| catalog.stands(vault, backup));
            Ok((catalog, stands))
        })?;
        note(session, catalog.notices());
        let found = catalog.backups.get(&self.id).zip(stands.as_ref());
        let (backup, stands) = found.ok_or_else(|| no_backup(&self.id))?;
        let paint = session.paint;
        print(session, self.output.output.into(), &data(&self.id, (backup, stands)), || {
            let mut lines = head(&self.id, stands);
            if let State::Complete { ring, hash } = &backup.state {
                lines.extend(whole(ring, hash));
                lines.push(String::new());
                lines.extend(members(ring).lines(paint));
            }
            lines
        })?;
        Ok(if *stands == Stands::Complete { Exit::Done } else { Exit::NotWell })
    }
}

fn head(id: &BackupId, stands: &Stands) -> Vec<String> {
    vec![format!("backup     {id}"), format!("state      {stands}")]
}

fn whole(ring: &RingManifest, hash: &Hash) -> Vec<String> {
    let time = |at: i64| Timestamp::from_second(at).map(|at| at.to_string()).unwrap_or_default();
    vec![
        format!("ring       {}", ring.ring),
        format!("snapshots  {} to {}", time(ring.window.from), time(ring.window.to)),
        format!("data       {}", bytes(ring.bytes())),
        format!("stored     {}", bytes(ring.stored_bytes())),
        format!("manifest   {hash}"),
    ]
}

fn members(ring: &RingManifest) -> Table {
    let mut table = Table::new(&["MEMBER", "DATACENTER", "RACK", "FILES", "DATA", "STORED"]);
    for member in &ring.members {
        table.row(vec![
            member.host.as_str().into(),
            member.datacenter.as_str().into(),
            member.rack.as_str().into(),
            member.files.to_string().into(),
            bytes(member.bytes).into(),
            bytes(member.stored_bytes).into(),
        ]);
    }
    for out in &ring.left_out {
        table.row(vec![
            out.host.as_str().into(),
            out.datacenter.as_str().into(),
            out.rack.as_str().into(),
            "left out".into(),
            "-".into(),
            "-".into(),
        ]);
    }
    table
}
