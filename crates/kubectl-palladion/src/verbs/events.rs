//! `events`: what was reported about a ring and what belongs to it.

use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View};
use crate::paint::Tone;
use crate::place::Place;
use crate::read::{text, time};
use crate::session::Session;
use crate::showing::OfRing;
use crate::table::{Cell, Table};
use crate::time::age;
use crate::words::answer::Answer;
use clap::Args;
use jiff::Timestamp;
use palladion_api::names;
use palladion_engine::door::read::selection;
use palladion_engine::request::Selection;
use palladion_plan::Resource;
use serde::Serialize;
use serde_json::Value;

const EVENT: Resource = Resource::namespaced("", "v1", "Event", "events");

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion events demo\n\nEvents about the ring, its racks, members, pods, claims and tasks; the latest last. Kubernetes keeps them for an hour."
)]
pub struct Events {
    #[command(flatten)]
    of: OfRing,
}

/// An event as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    last: Option<Timestamp>,
    count: u64,
    #[serde(rename = "type")]
    type_: String,
    reason: String,
    kind: String,
    name: String,
    message: String,
}

impl Events {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        self.of.show(session, |place, _| vec![all(place)], look).await
    }
}

fn all(place: &Place) -> Selection {
    selection(EVENT, place.namespace.as_deref(), "")
}

async fn look(place: &Place, ring: &str, manner: Manner) -> Result<View, Trouble> {
    let all = all(place);
    let (object, members, tasks, events) = tokio::join!(
        place.ring(ring),
        place.members(Some(ring)),
        place.tasks(Some(ring)),
        place.door.list(&all)
    );
    let (ring, members, tasks) = (object?, members?, tasks?);
    let racks = ring.racks.iter().map(|rack| {
        names::rack_set(&ring.name, &ring.datacenter, &palladion_api::ids::RackName::new(rack))
    });
    let mut known: Vec<String> = racks.collect();
    known.push(ring.name.clone());
    known.extend(members.into_iter().map(|m| m.name));
    known.extend(tasks.into_iter().map(|t| t.name));
    let mut events: Vec<Event> = events?.iter().map(read).collect();
    events.retain(|event| belongs(event, &known));
    events.sort_by(|a, b| (a.last, &a.name, &a.message).cmp(&(b.last, &b.name, &b.message)));
    let view = View::of_table(&events, &table(&events, manner), manner.paint);
    Ok(view.or(&Answer::NoEvents { ring: ring.name }))
}

/// A claim is named for its template and its member.
fn belongs(event: &Event, known: &[String]) -> bool {
    let is_claim = event.kind == "PersistentVolumeClaim";
    known.iter().any(|name| {
        let of_claim = || event.name.strip_suffix(name.as_str()).is_some_and(|t| t.ends_with('-'));
        event.name == *name || is_claim && of_claim()
    })
}

fn read(object: &Value) -> Event {
    let last = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/firstTimestamp"];
    let count = ["/series/count", "/count"];
    Event {
        last: last.iter().find_map(|at| time(object, at)),
        count: count.iter().find_map(|at| object.pointer(at)?.as_u64()).unwrap_or(1),
        type_: text(object, "/type"),
        reason: text(object, "/reason"),
        kind: text(object, "/involvedObject/kind"),
        name: text(object, "/involvedObject/name"),
        message: text(object, "/message").replace('\n', " "),
    }
}

fn table(events: &[Event], manner: Manner) -> Table {
    let mut heading = vec!["LAST", "TYPE", "REASON", "OBJECT", "COUNT", "MESSAGE"];
    if !manner.format.is_wide() {
        heading.retain(|column| *column != "COUNT");
    }
    let mut table = Table::new(&heading);
    for event in events {
        let tone = if event.type_ == "Warning" { Tone::Busy } else { Tone::Plain };
        let mut cells: Vec<Cell> = vec![
            event.last.map(|l| age(manner.now, l)).unwrap_or_default().into(),
            Cell::of(tone, event.type_.as_str()),
            event.reason.as_str().into(),
            format!("{}/{}", event.kind.to_lowercase(), event.name).into(),
        ];
        if manner.format.is_wide() {
            cells.push(event.count.to_string().into());
        }
        cells.push(event.message.as_str().into());
        table.row(cells);
    }
    table
}
