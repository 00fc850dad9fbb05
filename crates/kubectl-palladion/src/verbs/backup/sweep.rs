//! `backup sweep`: delete what was condemned. The second of two phases.

use super::{Place, note};
use crate::amount::bytes;
use crate::ask::{Sure, confirm};
use crate::exit::{Exit, Trouble};
use crate::session::Session;
use crate::words::answer::{Answer, Note, Question};
use clap::Args;
use palladion_backup::archive::trim::{MOST, Trimmed};
use palladion_backup::names::BackupId;
use palladion_backup::sweep::{Plan, carry_out, plan};

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion backup sweep --store /backups/demo --dry-run --names\n\nIt shows the plan first, and asks; nothing that the plan does not name is deleted. Archived commit logs that no backup needs go with it. If a backup names a condemned object, or somebody reads a condemned backup, nothing of that entry is deleted."
)]
pub struct Sweep {
    /// Show the plan, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Show the name of every object
    #[arg(long)]
    names: bool,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    place: Place,
}

impl Sweep {
    /// Run the verb.
    ///
    /// # Errors
    /// It is not confirmed, or the repository cannot be read or written.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        self.place.with(|vault| {
            let plan = plan(vault)?;
            note(session, plan.notices.clone());
            self.show(session, &plan)?;
            if plan.is_empty() {
                return Ok(Exit::Done);
            }
            if self.dry_run {
                session.note(&Note::DryRun);
                return Ok(Exit::Done);
            }
            let ring = vault.repository().ring.clone();
            let (objects, size) = (plan.objects() as u64, bytes(plan.stored_bytes()));
            let of_backups = Question::Sweep { objects, size, ring: ring.clone() };
            let archives = plan.journals.len() as u64;
            let of_archives = Question::Trim { archives, ring: ring.clone() };
            let mut questions = vec![of_backups];
            if archives > 0 {
                questions.push(of_archives);
            }
            confirm(session, self.sure, &questions, &ring)?;
            let swept = carry_out(vault, &plan)?;
            let is_whole = swept.notices.is_empty();
            note(session, swept.notices);
            let (objects, entries) = (swept.objects, swept.entries.len() as u64);
            session.tell(&Answer::Swept { objects, entries }.to_string())?;
            let Trimmed { objects, bytes: size, is_cut } = swept.journals;
            if objects > 0 {
                session.tell(&Answer::Trimmed { objects, size: bytes(size) }.to_string())?;
            }
            if is_cut {
                session.tell(&Answer::TrimAgain { most: MOST }.to_string())?;
            }
            Ok(if is_whole { Exit::Done } else { Exit::NotWell })
        })
    }

    fn show(&self, session: &mut Session<'_>, plan: &Plan) -> Result<(), Trouble> {
        if plan.is_empty() {
            return session.tell(&Answer::NothingToSweep.to_string());
        }
        for entry in &plan.entries {
            let backups: Vec<&str> = entry.backups.iter().map(BackupId::as_str).collect();
            let would = Answer::WouldSweep {
                entry: entry.entry,
                backups: if backups.is_empty() { "none".into() } else { backups.join(", ") },
                objects: entry.objects.len() as u64,
                size: bytes(entry.objects.iter().map(|(_, bytes)| bytes).sum()),
            };
            session.tell(&would.to_string())?;
            for (name, _) in entry.objects.iter().filter(|_| self.names) {
                session.tell(&format!("  {name}"))?;
            }
        }
        for surplus in &plan.journals {
            let (host, below) = (surplus.host.to_string(), surplus.below);
            session.tell(&Answer::WouldTrim { host, below }.to_string())?;
        }
        Ok(())
    }
}
