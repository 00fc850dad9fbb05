//! Creates a task, for every verb that asks for one, and follows it where that
//! is wanted.

use super::watch;
use crate::exit::{Exit, Trouble};
use crate::place::Place;
use crate::read::text;
use crate::session::Session;
use crate::words::answer::{Answer, Note};
use crate::words::trouble::{Hint, Said};
use crate::writing::{Writing, print_tried};
use jiff::Timestamp;
use palladion_cassandra::resources::TASK;
use palladion_engine::door::rights::Refusal;
use palladion_engine::door::write::Storing;
use palladion_plan::hash;
use serde_json::{Value, json};

/// Digits that tell two requests alike apart.
const DIGITS: usize = 8;

/// A task whose name begins with `stem`. Its name is chosen here: what was created
/// can be found without an answer.
pub fn object(stem: &str, namespace: &str, spec: &Value, now: Timestamp) -> Value {
    let request = hash::of(&json!([spec, now.to_string()]));
    let request: String = request.chars().take(DIGITS).collect();
    json!({
        "apiVersion": TASK.api_version(),
        "kind": TASK.kind,
        "metadata": { "name": format!("{stem}-{request}"), "namespace": namespace },
        "spec": spec,
    })
}

/// Create this task and say `answer`; then follow it to its end, or say how that
/// is done.
///
/// # Errors
/// What could not be read or written, or how the task ended.
pub async fn create(
    session: &mut Session<'_>,
    place: &Place,
    writing: &Writing,
    (task, answer): (&Value, &Answer),
) -> Result<Exit, Trouble> {
    let created = place.door.create(TASK, place.namespace(), task, writing.storing()).await;
    if writing.storing() == Storing::OnlyTried {
        print_tried(session, &created?)?;
        return Ok(Exit::Done);
    }
    let name = text(task, "/metadata/name");
    if let Err(refusal) = created {
        find(session, place, task, refusal).await?;
    }
    session.tell(&answer.to_string())?;
    match writing.limit() {
        Some(limit) => watch::until_its_end(session, place, &name, limit).await,
        None => {
            let hint = session.at.command(&Hint::WatchTask { task: name });
            session.tell(&format!("hint: {hint}"))?;
            Ok(Exit::Done)
        }
    }
}

/// Does the task exist, although nobody answered its creation?
async fn find(
    session: &mut Session<'_>,
    place: &Place,
    task: &Value,
    refusal: Refusal,
) -> Result<(), Trouble> {
    if !refusal.is_open() {
        return Err(refusal.into());
    }
    let name = text(task, "/metadata/name");
    if place.task(&name).await.is_ok() {
        session.note(&Note::Recovered { task: name });
        return Ok(());
    }
    let said = Said::Lost { kind: TASK.kind, name, answer: refusal.answer.to_string() };
    let hint = Hint::TasksOf { ring: text(task, "/spec/cluster") };
    Err(Trouble::new(Exit::NoConnection, said).hint(hint))
}
