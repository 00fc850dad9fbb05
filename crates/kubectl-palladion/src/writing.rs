//! What verbs that write have in common: where they write, whether it is only
//! tried, and how long they wait until it has been carried out.

use crate::exit::Trouble;
use crate::place::{Place, Where};
use crate::session::Session;
use crate::until::{Patience, until};
use crate::words::answer::Note;
use clap::Args;
use jiff::SignedDuration;
use palladion_engine::door::write::{Patch, Storing};
use palladion_engine::request::Selection;
use palladion_plan::ObjectKey;
use serde_json::Value;

/// The flags of verbs that write.
#[derive(Clone, Debug, Default, Args)]
pub struct Writing {
    /// Store nothing: let the API server check rights, schema and policies, and print what it would store
    #[arg(long, conflicts_with = "wait")]
    dry_run: bool,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    at: Where,
}

impl Writing {
    /// The place.
    ///
    /// # Errors
    /// There is no way to the API server.
    pub async fn open(&self, session: &mut Session<'_>) -> Result<Place, Trouble> {
        self.at.open(session).await
    }

    /// Is it stored?
    pub fn storing(&self) -> Storing {
        if self.dry_run { Storing::OnlyTried } else { Storing::Stored }
    }

    /// How long it is waited until it is done; `None` where it is not waited for.
    pub fn limit(&self) -> Option<SignedDuration> {
        self.patience.wait
    }

    /// Patch an object. Where that is only tried, what would be stored is printed:
    /// then the verb has nothing more to do.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn patch(
        &self,
        session: &mut Session<'_>,
        place: &Place,
        (key, patch): (&ObjectKey, &Patch),
    ) -> Result<Storing, Trouble> {
        let storing = self.storing();
        let stored = place.door.patch(key, patch, storing).await?;
        match storing {
            Storing::Stored => {}
            Storing::OnlyTried => print_tried(session, &stored)?,
        }
        Ok(storing)
    }

    /// Until `look` has an answer, where that is waited for; `what` names what is
    /// waited for.
    ///
    /// # Errors
    /// What cannot be read at all, or that the time is over.
    pub async fn wait<T>(
        &self,
        place: &Place,
        what: &str,
        selections: &[Selection],
        look: impl AsyncFnMut(&Place) -> Result<Option<T>, Trouble>,
    ) -> Result<Option<T>, Trouble> {
        match self.limit() {
            Some(limit) => until(place, limit, what, selections, look).await.map(Some),
            None => Ok(None),
        }
    }
}

/// What would have been stored, as people keep it.
///
/// # Errors
/// The output cannot be written.
pub fn print_tried(session: &mut Session<'_>, tried: &Value) -> Result<(), Trouble> {
    let mut object = tried.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    session.note(&Note::OnlyTried);
    session.print_text(serde_yaml::to_string(&object).unwrap_or_default().trim_end())
}
