//! Names that a line may go on with: those of rings, members, tasks and the
//! like, from the Kubernetes cluster. Silent if it does not answer: whoever
//! presses a key wants no error.

use crate::exit::Trouble;
use crate::paint::Paint;
use crate::place::{At, Place, Where};
use crate::session::{Answers, Session};
use clap_complete::CompletionCandidate;
use jiff::Timestamp;
use palladion_api::reasons::Reason;
use palladion_engine::door::read::selection;
use palladion_plan::Resource;
use std::ffi::OsString;
use std::time::Duration;

/// A key was pressed: an answer after this time comes too late.
const PATIENCE: Duration = Duration::from_secs(3);

const NAMESPACE: Resource = Resource::cluster("", "v1", "Namespace", "namespaces");

/// Where the line that is being typed looks: its flags as far as they are there.
#[derive(Debug, Default)]
struct Line {
    at: Where,
}

impl Line {
    fn typed() -> Self {
        Self::of(std::env::args_os())
    }

    fn of(words: impl Iterator<Item = OsString>) -> Self {
        let words: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
        let value = |long: &str, short: Option<&str>| {
            let mut found = None;
            for (at, word) in words.iter().enumerate() {
                let joined = word.strip_prefix(&format!("{long}="));
                let apart = (word == long || short == Some(word)).then(|| words.get(at + 1));
                found = joined.map(str::to_string).or_else(|| apart.flatten().cloned()).or(found);
            }
            found.filter(|text| !text.is_empty() && !text.starts_with('-'))
        };
        let at = Where {
            namespace: value("--namespace", Some("-n")),
            context: value("--context", None),
            kubeconfig: value("--kubeconfig", None).map(Into::into),
        };
        Self { at }
    }
}

/// Names that are read from the Kubernetes cluster.
fn names<F>(read: F) -> Vec<CompletionCandidate>
where
    F: AsyncFnOnce(Place) -> Result<Vec<(String, String)>, Trouble> + Send + 'static,
{
    let (answer, answered) = std::sync::mpsc::channel();
    // In a thread of its own: a plugin for credentials may block for as long as it likes.
    std::thread::spawn(move || {
        // Who has stopped waiting needs no answer.
        let _ = answer.send(ask(read));
    });
    answered.recv_timeout(PATIENCE).unwrap_or_default()
}

fn ask<F>(read: F) -> Vec<CompletionCandidate>
where
    F: AsyncFnOnce(Place) -> Result<Vec<(String, String)>, Trouble>,
{
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let found = runtime.block_on(async {
        let (mut out, mut notes) = (std::io::sink(), std::io::sink());
        let mut session = Session {
            out: &mut out,
            notes: &mut notes,
            answers: Answers::Nobody,
            paint: Paint::Off,
            clock: Timestamp::now,
            door: None,
            at: At::default(),
        };
        let asked = async {
            let place = Line::typed().at.open(&mut session).await?;
            read(place).await
        };
        tokio::time::timeout(PATIENCE, asked).await
    });
    runtime.shutdown_background();
    let Ok(Ok(found)) = found else { return Vec::new() };
    let candidate = |(name, help): (String, String)| {
        CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.into()))
    };
    found.into_iter().map(candidate).collect()
}

/// Names of rings.
pub fn rings() -> Vec<CompletionCandidate> {
    names(async |place| {
        let rings = place.rings().await?;
        Ok(rings.into_iter().map(|r| (r.name, format!("{} {}", r.server, r.version))).collect())
    })
}

/// Names of members.
pub fn members() -> Vec<CompletionCandidate> {
    names(async |place| {
        let members = place.members(None).await?;
        Ok(members.into_iter().map(|m| (m.name, m.state)).collect())
    })
}

/// Names of racks.
pub fn racks() -> Vec<CompletionCandidate> {
    names(async |place| {
        let racks = place.rings().await?.into_iter().flat_map(|r| r.racks);
        Ok(racks.map(|rack| (rack, String::new())).collect())
    })
}

/// Names of tasks.
pub fn tasks() -> Vec<CompletionCandidate> {
    names(async |place| {
        let tasks = place.tasks(None).await?;
        Ok(tasks.into_iter().map(|t| (t.name, t.phase)).collect())
    })
}

/// Names of tasks that can still be aborted.
pub fn running_tasks() -> Vec<CompletionCandidate> {
    names(async |place| {
        let tasks = place.tasks(None).await?.into_iter().filter(|t| !t.has_ended());
        Ok(tasks.map(|t| (t.name, t.phase)).collect())
    })
}

/// Names of schedules.
pub fn schedules() -> Vec<CompletionCandidate> {
    names(async |place| {
        let schedules = place.schedules(None).await?;
        Ok(schedules.into_iter().map(|s| (s.name, s.schedule)).collect())
    })
}

/// Names of namespaces.
pub fn namespaces() -> Vec<CompletionCandidate> {
    names(async |place| {
        let all = place.door.list(&selection(NAMESPACE, None, "")).await?;
        let name = |object| (crate::read::text(object, "/metadata/name"), String::new());
        Ok(all.iter().map(name).collect())
    })
}

/// All reasons, each with its meaning.
pub fn reasons() -> Vec<CompletionCandidate> {
    let candidate =
        |r: &Reason| CompletionCandidate::new(r.as_str()).help(Some(r.meaning().into()));
    Reason::ALL.iter().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Where {
        Line::of(text.split(' ').map(OsString::from)).at
    }

    #[test]
    fn the_flags_of_a_half_typed_line_say_where_to_look() {
        let at = line("palladion members -n prod --context=east de");
        assert_eq!(at.namespace.as_deref(), Some("prod"));
        assert_eq!(at.context.as_deref(), Some("east"));
        assert_eq!(line("palladion members -n --context x").namespace, None);
    }
}
