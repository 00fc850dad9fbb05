//! What verbs that show something have in common: of which rings, where to look,
//! how it is printed, and whether it is shown again.

use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View, Watch, show};
use crate::format::Output;
use crate::place::{Anywhere, Place, Where};
use crate::session::Session;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_engine::request::Selection;

/// The arguments of verbs that show something of one ring.
#[derive(Debug, Args)]
pub struct OfRing {
    /// The ring
    #[arg(add = ArgValueCandidates::new(crate::candidates::rings), value_parser = NonEmptyStringValueParser::new())]
    ring: String,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    at: Where,
}

/// The arguments of verbs that list what belongs to one ring or to all.
#[derive(Debug, Args)]
pub struct OfRings {
    /// The ring. Default: all rings
    #[arg(add = ArgValueCandidates::new(crate::candidates::rings), conflicts_with = "all_namespaces", value_parser = NonEmptyStringValueParser::new())]
    ring: Option<String>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    at: Anywhere,
}

impl OfRing {
    /// Show what `look` sees of the ring; again whenever something selected changes,
    /// where that is wanted.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn show(
        &self,
        session: &mut Session<'_>,
        selections: impl FnOnce(&Place, &str) -> Vec<Selection>,
        look: impl AsyncFn(&Place, &str, Manner) -> Result<View, Trouble>,
    ) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let selections = selections(&place, &self.ring);
        let look = async |place: &Place, manner: Manner| look(place, &self.ring, manner).await;
        show(session, self.output.output, self.watch, &place, &selections, look).await
    }
}

impl OfRings {
    /// Show what `look` sees of the ring that is named, or of all; again whenever
    /// something selected changes, where that is wanted.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn show(
        &self,
        session: &mut Session<'_>,
        selections: impl FnOnce(&Place, Option<&str>) -> Vec<Selection>,
        look: impl AsyncFn(&Place, Option<&str>, Manner) -> Result<View, Trouble>,
    ) -> Result<Exit, Trouble> {
        let (place, ring) = (self.at.open(session).await?, self.ring.as_deref());
        let selections = selections(&place, ring);
        let look = async |place: &Place, manner: Manner| look(place, ring, manner).await;
        show(session, self.output.output, self.watch, &place, &selections, look).await
    }
}
