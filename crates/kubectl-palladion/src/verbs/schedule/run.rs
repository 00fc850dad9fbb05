//! `schedule run`: a task from the template of a schedule, now.

use crate::ask::{DryRun, as_manifest};
use crate::exit::{Exit, Trouble};
use crate::place::Where;
use crate::read::text;
use crate::session::Session;
use crate::until::Patience;
use crate::verbs::task::watch;
use crate::words::answer::{Answer, Note};
use crate::words::trouble::{Hint, Said};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_cassandra::build::task_of_schedule;
use palladion_cassandra::resources::TASK;

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
    dry_run: DryRun,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    at: Where,
}

impl Run {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or how the task ended.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let object = place.schedule_object(&self.schedule).await?;
        // In seconds, where the schedule itself counts minutes: neither takes the other's name.
        let name = format!("{}-{}", self.schedule, session.now().as_second());
        let task = task_of_schedule(&self.schedule, place.namespace(), &object["spec"], &name);
        let storing = self.dry_run.storing();
        let created = place.door.create(TASK, place.namespace(), &task, storing).await;
        if self.dry_run.dry_run {
            session.note(&Note::OnlyTried);
            session.print_text(&as_manifest(&created?))?;
            return Ok(Exit::Done);
        }
        match created {
            Ok(_) => {}
            Err(refusal) if refusal.is_open() && place.task(&name).await.is_ok() => {
                session.note(&Note::Recovered { task: name.clone() });
            }
            Err(refusal) if refusal.is_open() => {
                let (kind, answer) = (TASK.kind, refusal.answer.to_string());
                let hint = Hint::TasksOf { ring: text(&object, "/spec/cluster") };
                let said = Said::Lost { kind, name, answer };
                return Err(Trouble::new(Exit::NoConnection, said).hint(hint));
            }
            Err(refusal) => return Err(refusal.into()),
        }
        let answer = Answer::Scheduled { task: name.clone(), schedule: self.schedule.clone() };
        session.tell(&answer.to_string())?;
        match self.patience.wait {
            Some(limit) => watch::until_its_end(session, &place, &name, limit).await,
            None => {
                let hint = session.at.command(&Hint::WatchTask { task: name });
                session.tell(&format!("hint: {hint}"))?;
                Ok(Exit::Done)
            }
        }
    }
}
