//! `schedule run`: a task from the template of a schedule, now.

use crate::ask::Sure;
use crate::exit::{Exit, Trouble};
use crate::session::Session;
use crate::verbs::task::{create, destroys};
use crate::words::answer::Answer;
use crate::writing::Writing;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_cassandra::build::task_of_schedule;

/// Whether or not it is suspended. The task counts as one of the schedule.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion schedule run nightly-flush\n  kubectl palladion schedule run nightly-flush --wait=1h"
)]
pub struct Run {
    /// The schedule
    #[arg(add = ArgValueCandidates::new(crate::candidates::schedules), value_parser = NonEmptyStringValueParser::new())]
    schedule: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    writing: Writing,
}

impl Run {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or how the task ended.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.writing.open(session).await?;
        let object = place.schedule_object(&self.schedule).await?;
        // In seconds, where the schedule itself counts minutes: neither takes the other's name.
        let name = format!("{}-{}", self.schedule, session.now().as_second());
        let task = task_of_schedule(&self.schedule, place.namespace(), &object["spec"], &name);
        let spec = &task["spec"];
        destroys::confirm(session, self.sure, (&self.writing, place.namespace()), spec)?;
        let answer = Answer::Scheduled { task: name, schedule: self.schedule.clone() };
        create::create(session, &place, &self.writing, (&task, &answer)).await
    }
}
