//! `stop` and `start`: whether the server of a member should run
//! (`spec.wanted.run`).

use crate::exit::{Exit, Trouble};
use crate::place::Place;
use crate::read::member::{FAILED, RUNNING, STOPPED};
use crate::session::Session;
use crate::words::answer::Answer;
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

/// Drained first, when all other members are up. Its pod, its data and its place in the ring stay.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion stop demo-dc1-a-1 --wait=15m\n  kubectl palladion stop demo-dc1-a-1 --now"
)]
pub struct Stop {
    /// Also while other members are down: data can be unavailable then
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    wish: Wish,
}

/// When nobody joins or leaves.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion start demo-dc1-a-1 --wait=15m")]
pub struct Start {
    #[command(flatten)]
    wish: Wish,
}

#[derive(Debug, Args)]
struct Wish {
    /// The member
    #[arg(add = ArgValueCandidates::new(crate::candidates::members), value_parser = NonEmptyStringValueParser::new())]
    member: String,
    #[command(flatten)]
    writing: Writing,
}

impl Stop {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or how it ended.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let when = if self.now { json!(WhenToStop::Now) } else { Value::Null };
        let wanted = json!({ "run": WantedRun::Stopped, "volumeID": null, "when": when });
        self.wish.run(session, WantedRun::Stopped, &wanted).await
    }
}

impl Start {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or how it ended.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        // `when` is about stops: what was said of the last one does not stand for the next.
        let wanted = json!({ "run": WantedRun::Running, "volumeID": null, "when": null });
        self.wish.run(session, WantedRun::Running, &wanted).await
    }
}

impl Wish {
    async fn run(
        &self,
        session: &mut Session<'_>,
        run: WantedRun,
        wanted: &Value,
    ) -> Result<Exit, Trouble> {
        let place = self.writing.open(session).await?;
        let key = ObjectKey::new(MEMBER, place.namespace(), &self.member);
        let patch = Patch::Merge(json!({ "spec": { "wanted": wanted } }));
        if self.writing.patch(session, &place, (&key, &patch)).await? == Storing::OnlyTried {
            return Ok(Exit::Done);
        }
        let member = self.member.clone();
        let (answer, what) = match run {
            WantedRun::Stopped => (Answer::Stops { member }, "stop"),
            WantedRun::Running | WantedRun::Terminated | WantedRun::Unknown(_) => {
                (Answer::Starts { member }, "start")
            }
        };
        session.tell(&answer.to_string())?;
        let look = async |place: &Place| self.look(place, run, what).await;
        self.writing.wait(&place, what, &[place.members_selection(None)], look).await?;
        Ok(Exit::Done)
    }

    /// Is it so, and does the same person still want it?
    async fn look(&self, place: &Place, run: WantedRun, what: &str) -> Result<Option<()>, Trouble> {
        let member = place.member(&self.member).await?;
        if json!(member.run_wanted) != json!(run) {
            return Err(Trouble::overruled(what));
        }
        let state = match run {
            WantedRun::Stopped => STOPPED,
            WantedRun::Running | WantedRun::Terminated | WantedRun::Unknown(_) => RUNNING,
        };
        if member.run == RUNNING && state == RUNNING && member.state == FAILED {
            let (member, why) = (member.name.clone(), member.why());
            return Err(Trouble::new(Exit::NotWell, Said::StartFailed { member, why }));
        }
        if state == RUNNING && member.needs_a_person() {
            return Err(Trouble::needs_a_person(what, &member));
        }
        let has_no_server = state == STOPPED && member.waits_without_a_server();
        let is_done = member.run == state && (member.state == state || has_no_server);
        Ok(is_done.then_some(()))
    }
}
