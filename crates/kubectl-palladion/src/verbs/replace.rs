//! `replace`: a task that replaces a dead member.

use crate::ask::{Sure, confirm};
use crate::exit::{Exit, Trouble};
use crate::place::Place;
use crate::read::member::Member;
use crate::read::text;
use crate::session::Session;
use crate::time::age;
use crate::verbs::task::create;
use crate::words::answer::{Answer, Question};
use crate::writing::Writing;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_engine::door::write::Storing;
use serde_json::json;

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
    writing: Writing,
}

impl Replace {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or that it was not confirmed.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.writing.open(session).await?;
        let member = place.member(&self.member).await?;
        if self.writing.storing() == Storing::Stored {
            confirm(session, self.sure, &self.questions(session, &place, &member), &self.member)?;
        }
        let mut spec = json!({ "cluster": member.ring, "replace": { "member": self.member } });
        if let Some(volume) = &self.volume_id {
            spec["replace"]["volumeID"] = json!(volume);
        }
        let stem = format!("replace-{}", self.member);
        let task = create::object(&stem, place.namespace(), &spec, session.now());
        let (name, member) = (text(&task, "/metadata/name"), self.member.clone());
        let answer = Answer::Replacing { task: name, member };
        create::create(session, &place, &self.writing, (&task, &answer)).await
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
}
