//! `seed`: whether a member is a seed (`spec.wanted.seed`).

use crate::exit::{Exit, Trouble};
use crate::place::Where;
use crate::session::Session;
use crate::words::answer::Answer;
use crate::writing::print_tried;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use palladion_api::member::SeedChoice;
use palladion_cassandra::resources::MEMBER;
use palladion_engine::door::write::{Patch, Storing};
use palladion_plan::ObjectKey;
use serde_json::json;

/// Without a restart. The last seed that is up stays one.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion seed demo-dc1-a-1 always\n  kubectl palladion seed demo-dc1-a-1 auto"
)]
pub struct Seed {
    /// The member
    #[arg(add = ArgValueCandidates::new(crate::candidates::members), value_parser = NonEmptyStringValueParser::new())]
    member: String,
    /// Whether it is a seed
    #[arg(value_enum)]
    choice: Choice,
    /// Store nothing: let the API server check rights, schema and policies, and print what it would store
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    at: Where,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Choice {
    /// If it is one of the first of its rack
    Auto,
    /// Once it has joined
    Always,
    /// Unless it is the last one that is up
    Never,
}

impl Seed {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let key = ObjectKey::new(MEMBER, place.namespace(), &self.member);
        let seed = json!(match self.choice {
            Choice::Auto => SeedChoice::Auto,
            Choice::Always => SeedChoice::Always,
            Choice::Never => SeedChoice::Never,
        });
        let storing = if self.dry_run { Storing::OnlyTried } else { Storing::Stored };
        let patch = Patch::Merge(json!({ "spec": { "wanted": { "seed": seed } } }));
        let stored = place.door.patch(&key, &patch, storing).await?;
        if self.dry_run {
            print_tried(session, &stored)?;
            return Ok(Exit::Done);
        }
        let (member, seed) = (self.member.clone(), seed.as_str().unwrap_or_default().to_string());
        session.tell(&Answer::SeedRequested { member, seed }.to_string())?;
        Ok(Exit::Done)
    }
}
