//! `events`: what was reported about a ring and what belongs to it.

use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View, Watch, show};
use crate::format::Output;
use crate::paint::Tone;
use crate::place::{Place, Where};
use crate::read::{text, time};
use crate::session::Session;
use crate::table::{Cell, Table};
use crate::time::age;
use crate::words::answer::Answer;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use jiff::Timestamp;
use palladion_api::names;
use palladion_engine::door::read::selection;
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
    /// The ring
    #[arg(add = ArgValueCandidates::new(crate::candidates::rings), value_parser = NonEmptyStringValueParser::new())]
    ring: String,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    watch: Watch,
    #[command(flatten)]
    at: Where,
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
        let place = self.at.open(session).await?;
        let selections = [selection(EVENT, place.namespace.as_deref(), "")];
        let look = async |place: &Place, manner: Manner| look(place, &self.ring, manner).await;
        show(session, self.output.output, self.watch, &place, &selections, look).await
    }
}

async fn look(place: &Place, ring: &str, manner: Manner) -> Result<View, Trouble> {
    let all = selection(EVENT, place.namespace.as_deref(), "");
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
    let mut view = View::of_table(&events, &table(&events, manner), manner.paint);
    if events.is_empty() {
        view.table.clear();
        view.lead = vec![Answer::NoEvents { ring: ring.name }.to_string()];
    }
    Ok(view)
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
