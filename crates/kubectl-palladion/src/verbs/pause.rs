//! `pause` and `resume`: `spec.paused` of a ring.

use crate::exit::{Exit, Trouble};
use crate::place::Place;
use crate::session::Session;
use crate::words::answer::Answer;
use crate::writing::Writing;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_api::conditions::PAUSED;
use palladion_engine::door::write::{Patch, Storing};
use serde_json::json;

/// The arguments of both.
#[derive(Debug, Args)]
pub struct Change {
    /// The ring
    #[arg(add = ArgValueCandidates::new(crate::candidates::rings), value_parser = NonEmptyStringValueParser::new())]
    ring: String,
    #[command(flatten)]
    writing: Writing,
}

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Paused, until `resume`.
    Paused,
    /// No longer.
    Resumed,
}

impl Change {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written.
    pub async fn run(&self, session: &mut Session<'_>, wanted: Wanted) -> Result<Exit, Trouble> {
        let place = self.writing.open(session).await?;
        let ring = self.ring.clone();
        let patch = Patch::Merge(json!({ "spec": { "paused": wanted == Wanted::Paused } }));
        let key = place.key_of_ring(&ring);
        if self.writing.patch(session, &place, (&key, &patch)).await? == Storing::OnlyTried {
            return Ok(Exit::Done);
        }
        let what = match wanted {
            Wanted::Paused => "pause",
            Wanted::Resumed => "resume",
        };
        let look = async |place: &Place| {
            let ring = place.ring(&self.ring).await?;
            if ring.paused != (wanted == Wanted::Paused) {
                return Err(Trouble::overruled(what));
            }
            let is_paused = ring.condition(PAUSED).is_some_and(|c| c.is_true());
            let is_so = is_paused == (wanted == Wanted::Paused);
            Ok((ring.is_observed() && is_so).then_some(()))
        };
        let waited = self.writing.wait(&place, what, &[place.rings_selection()], look).await?;
        let answer = match (wanted, waited) {
            (Wanted::Paused, Some(_)) => Answer::Paused { ring },
            (Wanted::Resumed, Some(_)) => Answer::Resumed { ring },
            (Wanted::Paused, None) => Answer::PauseRequested { ring },
            (Wanted::Resumed, None) => Answer::ResumeRequested { ring },
        };
        session.tell(&answer.to_string())?;
        Ok(Exit::Done)
    }
}
