//! `task abort`: `spec.abort` of a task.

use crate::exit::{Exit, Trouble};
use crate::place::Place;
use crate::session::Session;
use crate::words::answer::Answer;
use crate::words::trouble::{Hint, Said};
use crate::writing::Writing;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_cassandra::resources::TASK;
use palladion_engine::door::write::{Patch, Storing};
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
    writing: Writing,
}

impl Abort {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or that the task ended otherwise.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.writing.open(session).await?;
        let task = place.task(&self.task).await?;
        if task.has_ended() {
            let said = Said::EndedAlready { task: task.name, phase: task.phase };
            let hint = Hint::StatusOf { ring: task.ring };
            return Err(Trouble::new(Exit::Refused, said).hint(hint));
        }
        let key = ObjectKey::new(TASK, place.namespace(), &self.task);
        let patch = Patch::Merge(json!({ "spec": { "abort": true } }));
        if self.writing.patch(session, &place, (&key, &patch)).await? == Storing::OnlyTried {
            return Ok(Exit::Done);
        }
        session.tell(&Answer::Aborting { task: self.task.clone() }.to_string())?;
        let look = async |place: &Place| {
            let task = place.task(&self.task).await?;
            Ok(task.has_ended().then_some(task))
        };
        let ended = self.writing.wait(&place, "abort", &[place.tasks_selection()], look).await?;
        match ended.filter(|task| task.phase != "Aborted") {
            None => Ok(Exit::Done),
            Some(task) => Err(Trouble::ended(task)),
        }
    }
}
