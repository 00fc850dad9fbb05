//! `backup fetch`: the files of a backup, below a folder for each member.

use super::{Place, host, id, local, note};
use crate::amount::bytes;
use crate::exit::{Exit, Trouble};
use crate::session::Session;
use crate::table::Table;
use crate::words::answer::Answer;
use clap::Args;
use clap_complete::engine::{ArgValueCompleter, PathCompleter};
use palladion_backup::catalog::Catalog;
use palladion_backup::fetch::{Filter, fetch};
use palladion_backup::names::{BackupId, HostId};
use palladion_store::target::Folder;
use std::path::PathBuf;

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion backup fetch 2026-11-26 --into /restore/demo --store /backups/demo\n\nThe files of each member come to HOST_ID/KEYSPACE/TABLE-ID/. The directory belongs to this backup alone; run it again to go on where it broke off. While it runs the backup cannot be condemned. The exit code is 1 if a file does not match what was taken; it is left out."
)]
pub struct Fetch {
    /// The backup
    #[arg(value_parser = id)]
    id: BackupId,
    /// Where to: a new or empty directory, or one of this backup
    #[arg(long, value_name = "DIRECTORY", add = ArgValueCompleter::new(PathCompleter::dir()))]
    into: PathBuf,
    /// Files of this member only
    #[arg(long, value_name = "HOST_ID", value_parser = host)]
    member: Option<HostId>,
    /// Files of this keyspace only
    #[arg(long)]
    keyspace: Option<String>,
    /// Files of this table only
    #[arg(long, requires = "keyspace")]
    table: Option<String>,
    #[command(flatten)]
    place: Place,
}

impl Fetch {
    /// Run the verb.
    ///
    /// # Errors
    /// There is no such complete backup, or something could not be read or written.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let filter = Filter {
            host: self.member.clone(),
            keyspace: self.keyspace.clone(),
            table: self.table.clone(),
        };
        let fetched = self.place.with(|vault| {
            // Before a directory is created for it.
            Catalog::read(vault)?.complete(&self.id)?;
            let repository = &vault.repository().id;
            let target = Folder::of(&self.into, repository, &self.id).map_err(local)?;
            Ok(fetch(vault, (&self.id, &filter), &target)?)
        })?;
        note(session, fetched.notices);
        let mut table = Table::new(&["FILE", "WRONG"]);
        for (path, wrong) in &fetched.damaged {
            table.row(vec![path.as_str().into(), wrong.to_string().into()]);
        }
        if !table.is_empty() {
            table.lines(session.paint).iter().try_for_each(|line| session.tell(line))?;
            let files = fetched.damaged.len() as u64;
            session.tell(&Answer::FetchDamaged { files }.to_string())?;
        }
        let done = Answer::Fetched {
            id: self.id.to_string(),
            files: fetched.files,
            size: bytes(fetched.bytes),
            there: fetched.there,
            into: self.into.display().to_string(),
        };
        session.tell(&done.to_string())?;
        Ok(if fetched.damaged.is_empty() { Exit::Done } else { Exit::NotWell })
    }
}
