//! `schedule suspend` and `schedule resume`: `spec.suspend` of a schedule.

use crate::exit::{Exit, Trouble};
use crate::place::Place;
use crate::session::Session;
use crate::words::answer::Answer;
use crate::writing::Writing;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_cassandra::resources::SCHEDULE;
use palladion_engine::door::write::{Patch, Storing};
use palladion_plan::ObjectKey;
use serde_json::json;

/// The arguments of both.
#[derive(Debug, Args)]
pub struct Change {
    /// The schedule
    #[arg(add = ArgValueCandidates::new(crate::candidates::schedules), value_parser = NonEmptyStringValueParser::new())]
    schedule: String,
    #[command(flatten)]
    writing: Writing,
}

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Suspended, until `schedule resume`. Tasks that exist go on.
    Suspended,
    /// No longer. What was due meanwhile is not caught up with.
    Resumed,
}

impl Change {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written.
    pub async fn run(&self, session: &mut Session<'_>, wanted: Wanted) -> Result<Exit, Trouble> {
        let place = self.writing.open(session).await?;
        let suspend = wanted == Wanted::Suspended;
        let patch = Patch::Merge(json!({ "spec": { "suspend": suspend } }));
        let key = ObjectKey::new(SCHEDULE, place.namespace(), &self.schedule);
        if self.writing.patch(session, &place, (&key, &patch)).await? == Storing::OnlyTried {
            return Ok(Exit::Done);
        }
        let what = match wanted {
            Wanted::Suspended => "suspension",
            Wanted::Resumed => "resumption",
        };
        // Until the operator has seen it.
        let look = async |place: &Place| {
            let schedule = place.schedule(&self.schedule).await?;
            if schedule.suspend != suspend {
                return Err(Trouble::overruled(what));
            }
            Ok(schedule.is_observed.then_some(()))
        };
        self.writing.wait(&place, what, &[place.schedules_selection()], look).await?;
        let schedule = self.schedule.clone();
        let answer = match wanted {
            Wanted::Suspended => Answer::ScheduleSuspended { schedule },
            Wanted::Resumed => Answer::ScheduleResumed { schedule },
        };
        session.tell(&answer.to_string())?;
        Ok(Exit::Done)
    }
}
