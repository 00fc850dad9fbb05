//! `task watch`: what a task does, until it ends.

use crate::exit::{Exit, Trouble};
use crate::place::{Place, Where};
use crate::read::task::{Keyspace, Task};
use crate::session::Session;
use crate::until::{Patience, until};
use crate::verbs::task::list::tone;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use jiff::SignedDuration;

/// Without `--wait`, as good as for ever.
const FOR_EVER: SignedDuration = SignedDuration::from_hours(24 * 365);

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion task watch replace-demo-dc1-a-1-x7k2p --wait=2h"
)]
pub struct Watch {
    /// The task
    #[arg(add = ArgValueCandidates::new(crate::candidates::tasks), value_parser = NonEmptyStringValueParser::new())]
    task: String,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    at: Where,
}

impl Watch {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read, that the time is over, or how the task ended.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let limit = self.patience.wait.unwrap_or(FOR_EVER);
        until_its_end(session, &place, &self.task, limit).await
    }
}

/// Print what a task does, until it ends.
///
/// # Errors
/// What could not be read, that the time is over, or how the task ended.
pub async fn until_its_end(
    session: &mut Session<'_>,
    place: &Place,
    name: &str,
    limit: SignedDuration,
) -> Result<Exit, Trouble> {
    let mut last: Option<(String, String)> = None;
    let what = format!("task {name}");
    let selections = [place.tasks_selection()];
    let task: Task = until(place, limit, &what, &selections, async |place: &Place| {
        let task = place.task(name).await?;
        let now = (task.phase.clone(), task.message.clone());
        if last.as_ref() != Some(&now) {
            let phase = if task.phase.is_empty() { "-" } else { &task.phase };
            let phase = session.painted(tone(&task), phase);
            session.tell(format!("{phase}   {}", task.message).trim_end())?;
            last = Some(now);
        }
        Ok(task.has_ended().then_some(task))
    })
    .await?;
    if task.is_done() {
        return Ok(Exit::Done);
    }
    tell_members(session, &task)?;
    Err(Trouble::ended(task))
}

/// So many members are named; all of them are in the output of `task list -o json`.
const NAMED: usize = 20;

/// Who has not done his part, and why.
fn tell_members(session: &mut Session<'_>, task: &Task) -> Result<(), Trouble> {
    let left: Vec<_> = task.members.iter().filter(|member| !member.is_done()).collect();
    for member in left.iter().take(NAMED) {
        let why = together(&[&member.reason, &member.message]);
        session.tell(format!("  {}   {}   {why}", member.name, member.state).trim_end())?;
        for Keyspace { name, state, message } in &member.keyspaces {
            session.tell(format!("    keyspace {name}   {state}   {message}").trim_end())?;
        }
    }
    if left.len() > NAMED {
        session.tell(&format!("  and {} more members", left.len() - NAMED))?;
    }
    Ok(())
}

fn together(parts: &[&str]) -> String {
    let said: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    said.join(": ")
}
