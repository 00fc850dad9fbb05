//! `terminate`: a member is stopped for good, and its volume is given up.

use crate::ask::{Sure, confirm};
use crate::exit::{Exit, Trouble};
use crate::place::Place;
use crate::read::member::{Member, STOPPED};
use crate::session::Session;
use crate::words::answer::{Answer, Question};
use crate::words::trouble::Said;
use crate::writing::Writing;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use palladion_api::member::{WantedRun, WhenToStop};
use palladion_cassandra::resources::MEMBER;
use palladion_engine::door::write::{Patch, Storing};
use palladion_plan::ObjectKey;
use serde_json::{Value, json};

/// Drained first, when all other members are up. No server starts on its volume again, which cannot be taken back; then `replace` goes on.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion terminate demo-dc1-a-1 --wait=15m")]
pub struct Terminate {
    /// The member
    #[arg(add = ArgValueCandidates::new(crate::candidates::members), value_parser = NonEmptyStringValueParser::new())]
    member: String,
    /// Also while other members are down: data can be unavailable then
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    writing: Writing,
}

impl Terminate {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or that it was not confirmed.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.writing.open(session).await?;
        let member = place.member(&self.member).await?;
        if member.volume_id.is_empty() {
            let said = Said::NoVolume { member: self.member.clone() };
            return Err(Trouble::new(Exit::Refused, said));
        }
        let key = ObjectKey::new(MEMBER, place.namespace(), &self.member);
        let when = if self.now { json!(WhenToStop::Now) } else { Value::Null };
        let wanted = json!({
            "run": WantedRun::Terminated, "volumeID": member.volume_id, "when": when,
        });
        let patch = Patch::Merge(json!({ "spec": { "wanted": wanted } }));
        if self.writing.storing() == Storing::Stored {
            confirm(session, self.sure, &self.questions(&place, &member), &self.member)?;
        }
        if self.writing.patch(session, &place, (&key, &patch)).await? == Storing::OnlyTried {
            return Ok(Exit::Done);
        }
        let answer = Answer::Terminates { member: self.member.clone() };
        session.tell(&answer.to_string())?;
        let look = async |place: &Place| {
            let now = place.member(&self.member).await?;
            let is_done = now.terminated == member.volume_id && now.state == STOPPED;
            // With another volume the wish is void.
            let is_wanted = json!(now.run_wanted) == json!(WantedRun::Terminated);
            match is_done || (is_wanted && now.volume_id == member.volume_id) {
                true => Ok(is_done.then_some(())),
                false => Err(Trouble::overruled("termination")),
            }
        };
        let selections = [place.members_selection(None)];
        self.writing.wait(&place, "termination", &selections, look).await?;
        Ok(Exit::Done)
    }

    /// What is given up, and where.
    fn questions(&self, place: &Place, member: &Member) -> Vec<Question> {
        let of = |text: &str| if text.is_empty() { "-".to_string() } else { text.to_string() };
        let mut all = vec![
            Question::Terminate {
                member: self.member.clone(),
                ring: member.ring.clone(),
                namespace: place.namespace().to_string(),
                volume: member.volume_id.clone(),
            },
            Question::Server { context: of(place.door.context()), server: of(place.door.server()) },
        ];
        if member.serves() {
            all.push(Question::AcceptsClients);
        }
        all
    }
}
