//! `backup unseal`: one object of a sealed repository, as it was before.

use super::{Place, local};
use crate::amount::bytes;
use crate::exit::{Exit, Trouble};
use crate::session::Session;
use crate::words::answer::Answer;
use clap::Args;
use clap_complete::engine::{ArgValueCompleter, PathCompleter};
use palladion_backup::vault::object;
use palladion_backup::words::trouble::Wrong;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion backup unseal backups/2026-11-26/outcome.json --to outcome.json --store /backups/demo --keys /keys\n\nThe name is that of the object in the store, and is authenticated with its content. An existing file is not overwritten."
)]
pub struct Unseal {
    /// The object
    name: String,
    /// The file to create
    #[arg(long, value_name = "FILE", add = ArgValueCompleter::new(PathCompleter::file()))]
    to: PathBuf,
    #[command(flatten)]
    place: Place,
}

impl Unseal {
    /// Run the verb.
    ///
    /// # Errors
    /// There is no such object, it is not what was sealed, or the file exists.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let plain = self.place.with(|vault| {
            let plain = vault.read(&self.name)?;
            Ok(plain.ok_or_else(|| object(&self.name, Wrong::Absent))?)
        })?;
        let file = self.to.display().to_string();
        let created = OpenOptions::new().write(true).create_new(true).open(&self.to);
        created
            .and_then(|mut to| to.write_all(&plain).and_then(|()| to.sync_all()))
            .map_err(|error| local(format!("cannot write {file}: {error}")))?;
        let (name, size) = (self.name.clone(), bytes(plain.len() as u64));
        session.print(&Answer::Unsealed { name, size, file }.to_string())?;
        Ok(Exit::Done)
    }
}
