//! `replace`: a task that replaces a dead member.

use crate::ask::{DryRun, Sure, as_manifest, confirm};
use crate::exit::{Exit, Trouble};
use crate::place::{Place, Where};
use crate::read::member::Member;
use crate::read::text;
use crate::session::Session;
use crate::time::age;
use crate::until::Patience;
use crate::verbs::task::watch;
use crate::words::answer::{Answer, Note, Question};
use crate::words::trouble::{Hint, Said};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use jiff::Timestamp;
use palladion_cassandra::resources::TASK;
use palladion_engine::door::rights::Refusal;
use palladion_plan::hash;
use serde_json::{Value, json};

/// Digits that tell two requests for the same member apart.
const DIGITS: usize = 8;

/// The operator refuses it while anybody sees the member up.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion replace demo-dc1-a-1 --dry-run\n  kubectl palladion replace demo-dc1-a-1 --yes --wait=2h"
)]
pub struct Replace {
    /// The member
    #[arg(add = ArgValueCandidates::new(crate::candidates::members), value_parser = NonEmptyStringValueParser::new())]
    member: String,
    /// The volume that is lost (`members -o wide`). If most of the ring is lost, naming it lets the members that are left decide
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    volume_id: Option<String>,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    dry_run: DryRun,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    at: Where,
}

impl Replace {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or that it was not confirmed.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let member = place.member(&self.member).await?;
        let task = self.task(&member.ring, place.namespace(), session.now());
        let storing = self.dry_run.storing();
        if self.dry_run.dry_run {
            let tried = place.door.create(TASK, place.namespace(), &task, storing).await?;
            session.note(&Note::OnlyTried);
            session.print_text(&as_manifest(&tried))?;
            return Ok(Exit::Done);
        }
        confirm(session, self.sure, &self.questions(session, &place, &member), &self.member)?;
        let name = text(&task, "/metadata/name");
        match place.door.create(TASK, place.namespace(), &task, storing).await {
            Ok(_) => {}
            Err(refusal) if refusal.is_open() => {
                self.find(&place, &name, &member.ring, &refusal).await?;
                session.note(&Note::Recovered { task: name.clone() });
            }
            Err(refusal) => return Err(refusal.into()),
        }
        let answer = Answer::Replacing { task: name.clone(), member: self.member.clone() };
        session.tell(&answer.to_string())?;
        match self.patience.wait {
            Some(limit) => watch::until_its_end(session, &place, &name, limit).await,
            None => {
                let hint = Hint::WatchTask { task: name };
                let hint = session.at.command(&hint);
                session.tell(&format!("hint: {hint}"))?;
                Ok(Exit::Done)
            }
        }
    }

    /// What is destroyed, where, and in which state it is.
    fn questions(&self, session: &Session<'_>, place: &Place, member: &Member) -> Vec<Question> {
        let of = |text: &str| if text.is_empty() { "-".to_string() } else { text.to_string() };
        let since = member.since.map_or("-".to_string(), |since| age(session.now(), since));
        let (state, reason) = (of(&member.state), of(&member.reason));
        let mut all = vec![
            Question::Replace {
                member: self.member.clone(),
                ring: member.ring.clone(),
                namespace: place.namespace().to_string(),
            },
            Question::Server { context: of(place.door.context()), server: of(place.door.server()) },
            match member.message.is_empty() {
                true => Question::StateAlone { state, since, reason },
                false => {
                    Question::StateOfMember { state, since, reason, message: of(&member.message) }
                }
            },
        ];
        if member.serves() {
            all.push(Question::AcceptsClients);
        }
        if let Some(volume) = &self.volume_id {
            all.push(Question::VolumeNamed { volume: volume.clone() });
        }
        all
    }

    /// Does the task exist, although nobody answered its creation?
    async fn find(
        &self,
        place: &Place,
        name: &str,
        ring: &str,
        refusal: &Refusal,
    ) -> Result<(), Trouble> {
        if place.task(name).await.is_ok() {
            return Ok(());
        }
        let (kind, name) = (TASK.kind, name.to_string());
        let said = Said::Lost { kind, name, answer: refusal.answer.to_string() };
        let hint = Hint::TasksOf { ring: ring.to_string() };
        Err(Trouble::new(Exit::NoConnection, said).hint(hint))
    }

    /// Its name is chosen here: what was created can be found without an answer.
    fn task(&self, ring: &str, namespace: &str, now: Timestamp) -> Value {
        let mut replace = json!({ "member": self.member });
        if let Some(volume) = &self.volume_id {
            replace["volumeID"] = json!(volume);
        }
        let request = hash::of(&json!([replace, now.to_string()]));
        let request: String = request.chars().take(DIGITS).collect();
        json!({
            "apiVersion": TASK.api_version(),
            "kind": TASK.kind,
            "metadata": {
                "name": format!("replace-{}-{request}", self.member),
                "namespace": namespace,
            },
            "spec": { "cluster": ring, "replace": replace },
        })
    }
}
