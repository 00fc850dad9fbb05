//! `task abort`: `spec.abort` of a task.

use crate::ask::{DryRun, as_manifest};
use crate::exit::{Exit, Trouble};
use crate::place::{Place, Where};
use crate::session::Session;
use crate::until::{Patience, until};
use crate::words::answer::{Answer, Note};
use crate::words::trouble::{Hint, Said};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_cassandra::resources::TASK;
use palladion_engine::door::write::Patch;
use palladion_plan::ObjectKey;
use serde_json::json;

/// See the module.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion task abort replace-demo-dc1-a-1-x7k2p")]
pub struct Abort {
    /// The task
    #[arg(add = ArgValueCandidates::new(crate::candidates::running_tasks), value_parser = NonEmptyStringValueParser::new())]
    task: String,
    #[command(flatten)]
    dry_run: DryRun,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    at: Where,
}

impl Abort {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or that the task ended otherwise.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let task = place.task(&self.task).await?;
        if task.has_ended() {
            let said = Said::EndedAlready { task: task.name, phase: task.phase };
            let hint = Hint::StatusOf { ring: task.ring };
            return Err(Trouble::new(Exit::Refused, said).hint(hint));
        }
        let key = ObjectKey::new(TASK, place.namespace(), &self.task);
        let patch = Patch::Merge(json!({ "spec": { "abort": true } }));
        let stored = place.door.patch(&key, &patch, self.dry_run.storing()).await?;
        if self.dry_run.dry_run {
            session.note(&Note::OnlyTried);
            session.print_text(&as_manifest(&stored))?;
            return Ok(Exit::Done);
        }
        session.tell(&Answer::Aborting { task: self.task.clone() }.to_string())?;
        let Some(limit) = self.patience.wait else { return Ok(Exit::Done) };
        let selections = [place.tasks_selection()];
        let look = async |place: &Place| {
            let task = place.task(&self.task).await?;
            Ok(task.has_ended().then_some(task))
        };
        let task = until(&place, limit, "abort", &selections, look).await?;
        if task.phase == "Aborted" {
            return Ok(Exit::Done);
        }
        let said = Said::TaskEnded { task: task.name, phase: task.phase, message: task.message };
        Err(Trouble::new(Exit::NotWell, said))
    }
}
