//! `backup`: look at a repository of backups, bring files back, and delete what
//! is not wanted any more. Needs the store and its keys alone, no Kubernetes.

pub mod expire;
pub mod fetch;
pub mod list;
pub mod place;
pub mod show;
pub mod sweep;
pub mod unseal;
pub mod verify;

use crate::exit::{Exit, Trouble};
use crate::session::Session;
use crate::words::answer::Note;
use crate::words::trouble::Said;
use clap::Subcommand;
use palladion_api::words::Quoted;
use palladion_backup::names::BackupId;
use palladion_backup::words::notice::Notice;
use palladion_backup::{Trouble as OfBackup, names};
pub use place::Place;

/// See the module.
#[derive(Debug, Subcommand)]
pub enum Backup {
    /// The backups of a repository
    List(list::List),
    /// One backup: its members and sizes
    Show(show::Show),
    /// Is everything there that a backup names?
    Verify(verify::Verify),
    /// Bring the files of a backup to a directory, each checked
    Fetch(fetch::Fetch),
    /// Condemn backups, and objects that no backup names; deletes nothing
    Expire(expire::Expire),
    /// Delete what was condemned 24 h ago or earlier
    Sweep(sweep::Sweep),
    /// One object as it was before it was sealed
    Unseal(unseal::Unseal),
}

impl Backup {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read, written or deleted.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        match self {
            Self::List(verb) => verb.run(session),
            Self::Show(verb) => verb.run(session),
            Self::Verify(verb) => verb.run(session),
            Self::Fetch(verb) => verb.run(session),
            Self::Expire(verb) => verb.run(session),
            Self::Sweep(verb) => verb.run(session),
            Self::Unseal(verb) => verb.run(session),
        }
    }
}

/// Trouble of this machine.
fn local(why: String) -> Trouble {
    Trouble::new(Exit::NotWell, Said::Local { why })
}

impl From<OfBackup> for Trouble {
    fn from(why: OfBackup) -> Self {
        let exit = match why {
            OfBackup::NoBackup { .. } | OfBackup::NoRepository => Exit::NotFound,
            OfBackup::KeepsTooFew { .. }
            | OfBackup::KeepsTooFewOf { .. }
            | OfBackup::KeepsTooFewOfAll { .. }
            | OfBackup::KeepsTooFewWhole { .. }
            | OfBackup::KeepsTooFewSound { .. }
            | OfBackup::Pinned { .. }
            | OfBackup::UnderWay { .. }
            | OfBackup::Raced { .. }
            | OfBackup::Condemned { .. }
            | OfBackup::NotComplete { .. }
            | OfBackup::AlreadyCondemned { .. } => Exit::Refused,
            OfBackup::KeysMissing | OfBackup::NotSealed => Exit::Usage,
            // Nothing that is read or deleted here asks these: members do.
            OfBackup::Unsuited
            | OfBackup::KeyOfBackup { .. }
            | OfBackup::NoSpace { .. }
            | OfBackup::OtherManifest { .. }
            | OfBackup::NoMember { .. }
            | OfBackup::NoRoom { .. }
            | OfBackup::Unloadable { .. } => Exit::NotWell,
            OfBackup::Store { .. }
            | OfBackup::Undeletable { .. }
            | OfBackup::Object { .. }
            | OfBackup::Damaged { .. }
            | OfBackup::Taken { .. }
            | OfBackup::OtherFormat { .. }
            | OfBackup::Foreign { .. }
            | OfBackup::HasFailed { .. }
            | OfBackup::OtherOutcome { .. }
            | OfBackup::EntryUnread { .. }
            | OfBackup::DamageUnread { .. }
            | OfBackup::Uncovered { .. }
            | OfBackup::NotOfMember { .. }
            | OfBackup::Source { .. }
            | OfBackup::Unnoted { .. }
            | OfBackup::Rotten { .. }
            | OfBackup::Document { .. }
            | OfBackup::Target { .. } => Exit::NotWell,
        };
        Self::new(exit, Said::Backup { why })
    }
}

/// Parse the ID of a backup.
///
/// # Errors
/// It is none.
pub fn id(text: &str) -> Result<BackupId, String> {
    let rule = "an ID is 1 to 63 of a-z, 0-9 and -, as `kubectl palladion backup list` shows it";
    BackupId::parse(text).ok_or(rule.to_string())
}

/// Parse a host ID.
///
/// # Errors
/// It is none.
pub fn host(text: &str) -> Result<names::HostId, String> {
    names::HostId::parse(text).ok_or("a host ID is a UUID in small letters".to_string())
}

/// Say what was left out, each once.
fn note(session: &mut Session<'_>, mut notices: Vec<Notice>) {
    notices.dedup();
    for notice in notices {
        session.note(&Note::OfBackups { notice });
    }
}

/// There is no backup of this ID.
fn no_backup(id: &BackupId) -> Trouble {
    OfBackup::NoBackup { id: Quoted(id.to_string()) }.into()
}
