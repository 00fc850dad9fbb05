//! `task run`: creates a task. A kind of task each, with the options of its own,
//! and those that all of them have.

mod bodies;

use crate::ask::{DryRun, as_manifest};
use crate::exit::{Exit, Trouble};
use crate::place::{Place, Where};
use crate::read::text;
use crate::session::Session;
use crate::until::Patience;
use crate::verbs::task::watch;
use crate::words::answer::{Answer, Note};
use crate::words::trouble::{Hint, Said};
pub use bodies::Run;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use jiff::{SignedDuration, Timestamp};
use palladion_api::task::TaskKind;
use palladion_cassandra::resources::TASK;
use palladion_engine::door::rights::Refusal;
use palladion_plan::hash;
use serde_json::{Value, json};

/// Digits that tell two requests alike apart.
const DIGITS: usize = 8;

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
    dry_run: DryRun,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    at: Where,
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
        session: &mut Session<'_>,
    ) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        place.ring(&self.ring).await?;
        let task = self.task(kind, body, place.namespace(), session.now());
        let storing = self.dry_run.storing();
        if self.dry_run.dry_run {
            let tried = place.door.create(TASK, place.namespace(), &task, storing).await?;
            session.note(&Note::OnlyTried);
            session.print_text(&as_manifest(&tried))?;
            return Ok(Exit::Done);
        }
        let name = text(&task, "/metadata/name");
        match place.door.create(TASK, place.namespace(), &task, storing).await {
            Ok(_) => {}
            Err(refusal) if refusal.is_open() => {
                find(&place, &name, &self.ring, &refusal).await?;
                session.note(&Note::Recovered { task: name.clone() });
            }
            Err(refusal) => return Err(refusal.into()),
        }
        let answer = Answer::TaskCreated { task: name.clone(), ring: self.ring.clone() };
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

    /// Its name is chosen here: what was created can be found without an answer.
    fn task(&self, kind: TaskKind, body: Value, namespace: &str, now: Timestamp) -> Value {
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
        let request = hash::of(&json!([spec, now.to_string()]));
        let request: String = request.chars().take(DIGITS).collect();
        json!({
            "apiVersion": TASK.api_version(),
            "kind": TASK.kind,
            "metadata": {
                "name": format!("{}-{}-{request}", kind.field().to_lowercase(), self.ring),
                "namespace": namespace,
            },
            "spec": spec,
        })
    }
}

/// Does the task exist, although nobody answered its creation?
async fn find(place: &Place, name: &str, ring: &str, refusal: &Refusal) -> Result<(), Trouble> {
    if place.task(name).await.is_ok() {
        return Ok(());
    }
    let (kind, name) = (TASK.kind, name.to_string());
    let said = Said::Lost { kind, name, answer: refusal.answer.to_string() };
    let hint = Hint::TasksOf { ring: ring.to_string() };
    Err(Trouble::new(Exit::NoConnection, said).hint(hint))
}
