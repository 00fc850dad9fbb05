//! `pause` and `resume`: `spec.paused` of a ring.

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
use palladion_api::conditions::PAUSED;
use palladion_engine::door::write::Patch;
use serde_json::json;

/// Until `resume`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion pause demo --wait=1m")]
pub struct Pause {
    #[command(flatten)]
    change: Change,
}

/// The end of `pause`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion resume demo")]
pub struct Resume {
    #[command(flatten)]
    change: Change,
}

#[derive(Debug, Args)]
struct Change {
    /// The ring
    #[arg(add = ArgValueCandidates::new(crate::candidates::rings), value_parser = NonEmptyStringValueParser::new())]
    ring: String,
    #[command(flatten)]
    dry_run: DryRun,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    at: Where,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Paused,
    Resumed,
}

impl Pause {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        self.change.run(session, Wanted::Paused).await
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
        let ring = self.ring.clone();
        let patch = Patch::Merge(json!({ "spec": { "paused": wanted == Wanted::Paused } }));
        let key = place.key_of_ring(&ring);
        let stored = place.door.patch(&key, &patch, self.dry_run.storing()).await?;
        if self.dry_run.dry_run {
            session.note(&Note::OnlyTried);
            session.print_text(&as_manifest(&stored))?;
            return Ok(Exit::Done);
        }
        if let Some(limit) = self.patience.wait {
            let selections = [place.rings_selection()];
            let answer = match wanted {
                Wanted::Paused => "pause",
                Wanted::Resumed => "resume",
            };
            let look = async |place: &Place| {
                let ring = place.ring(&self.ring).await?;
                if ring.paused != (wanted == Wanted::Paused) {
                    let said = Said::Overruled { what: answer.to_string() };
                    return Err(Trouble::new(Exit::NotWell, said));
                }
                let is_paused = ring.condition(PAUSED).is_some_and(|c| c.is_true());
                let is_so = is_paused == (wanted == Wanted::Paused);
                Ok((ring.is_observed() && is_so).then_some(()))
            };
            until(&place, limit, answer, &selections, look).await?;
        }
        let answer = match (wanted, self.patience.wait) {
            (Wanted::Paused, Some(_)) => Answer::Paused { ring },
            (Wanted::Resumed, Some(_)) => Answer::Resumed { ring },
            (Wanted::Paused, None) => Answer::PauseRequested { ring },
            (Wanted::Resumed, None) => Answer::ResumeRequested { ring },
        };
        session.tell(&answer.to_string())?;
        Ok(Exit::Done)
    }
}
