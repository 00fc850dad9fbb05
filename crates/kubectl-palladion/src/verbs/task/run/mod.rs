//! `task run`: creates a task. A kind of task each, with the options of its own,
//! and those that all of them have.

mod bodies;

use super::{create, destroys};
use crate::ask::Sure;
use crate::exit::{Exit, Trouble};
use crate::read::text;
use crate::session::Session;
use crate::words::answer::Answer;
use crate::writing::Writing;
pub use bodies::Run;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use jiff::SignedDuration;
use palladion_api::task::TaskKind;
use serde_json::{Value, json};

/// What all kinds of tasks have.
#[derive(Debug, Args)]
pub struct Scope {
    /// The ring
    #[arg(add = ArgValueCandidates::new(crate::candidates::rings), value_parser = NonEmptyStringValueParser::new())]
    ring: String,
    /// Only these members. Default: all
    #[arg(long = "member", value_name = "MEMBER", value_delimiter = ',', conflicts_with = "racks", add = ArgValueCandidates::new(crate::candidates::members), value_parser = NonEmptyStringValueParser::new())]
    members: Vec<String>,
    /// Only the members of these racks
    #[arg(long = "rack", value_name = "RACK", value_delimiter = ',', add = ArgValueCandidates::new(crate::candidates::racks), value_parser = NonEmptyStringValueParser::new())]
    racks: Vec<String>,
    /// What happens when a member fails
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    on_failure: OnFailure,
    /// What happens when a member is down
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    when_down: WhenDown,
    /// How long one member may take. Default: by kind
    #[arg(long, value_name = "DURATION", value_parser = crate::time::parse)]
    member_deadline: Option<SignedDuration>,
    /// How long the whole task may take, from now on. Default: no limit
    #[arg(long, value_name = "DURATION", value_parser = crate::time::parse)]
    deadline: Option<SignedDuration>,
    #[command(flatten)]
    writing: Writing,
}

/// What happens when a member fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OnFailure {
    /// No further member is begun
    #[default]
    Stop,
    /// The other members go on
    Continue,
}

/// What happens when a member is down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum WhenDown {
    /// It is waited for
    #[default]
    Wait,
    /// It is left out
    Skip,
}

impl Scope {
    /// Create the task, and follow it if that is wished.
    async fn run(
        &self,
        kind: TaskKind,
        body: Value,
        sure: Sure,
        session: &mut Session<'_>,
    ) -> Result<Exit, Trouble> {
        let place = self.writing.open(session).await?;
        place.ring(&self.ring).await?;
        let stem = format!("{}-{}", kind.field().to_lowercase(), self.ring);
        let spec = self.spec(kind, body);
        destroys::confirm(session, sure, (&self.writing, place.namespace()), &spec)?;
        let task = create::object(&stem, place.namespace(), &spec, session.now());
        let (name, ring) = (text(&task, "/metadata/name"), self.ring.clone());
        let answer = Answer::TaskCreated { task: name, ring };
        create::create(session, &place, &self.writing, (&task, &answer)).await
    }

    /// With what differs from its defaults.
    fn spec(&self, kind: TaskKind, body: Value) -> Value {
        let mut spec = json!({ "cluster": self.ring, kind.field(): body });
        if !self.members.is_empty() {
            spec["members"] = json!(self.members);
        }
        if !self.racks.is_empty() {
            spec["racks"] = json!(self.racks);
        }
        match self.on_failure {
            OnFailure::Stop => {}
            OnFailure::Continue => spec["onFailure"] = json!("Continue"),
        }
        match self.when_down {
            WhenDown::Wait => {}
            WhenDown::Skip => spec["whenDown"] = json!("Skip"),
        }
        let seconds = |span: &SignedDuration| json!(span.as_secs().max(1));
        if let Some(span) = &self.member_deadline {
            spec["memberDeadlineSeconds"] = seconds(span);
        }
        if let Some(span) = &self.deadline {
            spec["activeDeadlineSeconds"] = seconds(span);
        }
        spec
    }
}
