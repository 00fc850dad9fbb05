//! `backup expire`: condemn backups. The first of two phases: nothing is deleted.

use super::{Place, id, note};
use crate::amount::bytes;
use crate::ask::{Sure, confirm};
use crate::exit::{Exit, Trouble};
use crate::session::Session;
use crate::words::answer::{Answer, Note, Question};
use clap::Args;
use palladion_backup::expire::{Order, Plan, carry_out, plan};
use palladion_backup::names::BackupId;

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion backup expire 2026-11-26 --keep 7 --store /backups/demo\n\nWithout ID: only objects older than 48 h that no backup names. It shows the plan first, and asks. A condemned backup cannot be read any more; `backup sweep` deletes it 24 h later."
)]
pub struct Expire {
    /// The backups
    #[arg(value_parser = id)]
    id: Vec<BackupId>,
    /// So many complete backups stay; with fewer it is refused
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    keep: u64,
    /// Show the plan, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    place: Place,
}

impl Expire {
    /// Run the verb.
    ///
    /// # Errors
    /// It is refused or not confirmed, or the repository cannot be read or written.
    pub fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let backups = self.id.iter().cloned().collect();
        let order = Order { backups, keep: self.keep };
        self.place.with(|vault| {
            let plan = plan(vault, &order)?;
            note(session, plan.notices.clone());
            show(session, &plan)?;
            if plan.is_empty() {
                return Ok(Exit::Done);
            }
            if self.dry_run {
                session.note(&Note::DryRun);
                return Ok(Exit::Done);
            }
            if !plan.backups.is_empty() {
                let ring = vault.repository().ring.clone();
                let backups = plan.backups.len() as u64;
                let question = Question::Condemn { backups, ring: ring.clone() };
                confirm(session, self.sure, &[question], &ring)?;
            }
            carry_out(vault, &plan)?;
            let done = match plan.backups.is_empty() && plan.objects.is_empty() {
                true => Answer::Abandoned,
                false => Answer::Expired { entry: plan.entry },
            };
            session.tell(&done.to_string())?;
            Ok(Exit::Done)
        })
    }
}

fn show(session: &mut Session<'_>, plan: &Plan) -> Result<(), Trouble> {
    if plan.is_empty() {
        return session.tell(&Answer::NothingToExpire.to_string());
    }
    for id in &plan.fails {
        session.tell(&Answer::WouldFail { id: id.to_string() }.to_string())?;
    }
    let would = Answer::WouldExpire {
        entry: plan.entry,
        backups: plan.backups.len() as u64,
        objects: plan.objects.len() as u64,
        size: bytes(plan.stored_bytes()),
    };
    session.tell(&would.to_string())?;
    let stay: Vec<&str> = plan.stay.iter().map(BackupId::as_str).collect();
    let backups = if stay.is_empty() { "none".to_string() } else { stay.join(", ") };
    session.tell(&Answer::Stay { backups }.to_string())
}
