//! `schedule suspend` and `schedule resume`: `spec.suspend` of a schedule.

use crate::ask::{DryRun, as_manifest};
use crate::exit::{Exit, Trouble};
use crate::place::{Place, Where};
use crate::session::Session;
use crate::until::{Patience, until};
use crate::words::answer::{Answer, Note};
use crate::words::trouble::Said;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_cassandra::resources::SCHEDULE;
use palladion_engine::door::write::Patch;
use palladion_plan::ObjectKey;
use serde_json::json;

/// Until `schedule resume`. Tasks that exist go on.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion schedule suspend nightly-flush")]
pub struct Suspend {
    #[command(flatten)]
    change: Change,
}

/// The end of `schedule suspend`. What was due meanwhile is not caught up with.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion schedule resume nightly-flush")]
pub struct Resume {
    #[command(flatten)]
    change: Change,
}

#[derive(Debug, Args)]
struct Change {
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Suspended,
    Resumed,
}

impl Suspend {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        self.change.run(session, Wanted::Suspended).await
    }
}

impl Resume {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        self.change.run(session, Wanted::Resumed).await
    }
}

impl Change {
    async fn run(&self, session: &mut Session<'_>, wanted: Wanted) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let suspend = wanted == Wanted::Suspended;
        let patch = Patch::Merge(json!({ "spec": { "suspend": suspend } }));
        let key = ObjectKey::new(SCHEDULE, place.namespace(), &self.schedule);
        let stored = place.door.patch(&key, &patch, self.dry_run.storing()).await?;
        if self.dry_run.dry_run {
            session.note(&Note::OnlyTried);
            session.print_text(&as_manifest(&stored))?;
            return Ok(Exit::Done);
        }
        if let Some(limit) = self.patience.wait {
            self.wait(&place, limit, wanted).await?;
        }
        let schedule = self.schedule.clone();
        let answer = match wanted {
            Wanted::Suspended => Answer::ScheduleSuspended { schedule },
            Wanted::Resumed => Answer::ScheduleResumed { schedule },
        };
        session.tell(&answer.to_string())?;
        Ok(Exit::Done)
    }

    /// Until the operator has seen it.
    async fn wait(
        &self,
        place: &Place,
        limit: jiff::SignedDuration,
        wanted: Wanted,
    ) -> Result<(), Trouble> {
        let what = match wanted {
            Wanted::Suspended => "suspension",
            Wanted::Resumed => "resumption",
        };
        let selections = [place.schedules_selection()];
        let look = async |place: &Place| {
            let schedule = place.schedule(&self.schedule).await?;
            if schedule.suspend != (wanted == Wanted::Suspended) {
                let said = Said::Overruled { what: what.to_string() };
                return Err(Trouble::new(Exit::NotWell, said));
            }
            Ok(schedule.is_observed.then_some(()))
        };
        until(place, limit, what, &selections, look).await
    }
}
