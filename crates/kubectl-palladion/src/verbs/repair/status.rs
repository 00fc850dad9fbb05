//! `repair status`: how far the repair of each member's ranges is.

use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View};
use crate::paint::Tone;
use crate::place::Place;
use crate::read::repair::{Repair, Running};
use crate::session::Session;
use crate::showing::OfRing;
use crate::table::{Cell, Table};
use crate::time::{age, span};
use crate::words::answer::{Answer, Due};
use clap::Args;
use jiff::Timestamp;

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion repair status demo\n\nOLDEST: since the start of the oldest of the last repairs. BEHIND: when the first range is late; the exit code is 1 if one is, if no schedule covers the ring, or if a member does not know."
)]
pub struct Status {
    #[command(flatten)]
    of: OfRing,
}

impl Status {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let selections = |place: &Place, ring: &str| vec![place.members_selection(Some(ring))];
        self.of.show(session, selections, look).await
    }
}

async fn look(place: &Place, ring: &str, manner: Manner) -> Result<View, Trouble> {
    let members = place.repairs(ring).await?;
    if members.is_empty() {
        // Does the ring exist at all?
        place.ring(ring).await?;
    }
    let mut view = View::of_table(&members, &table(&members, manner), manner.paint);
    if members.is_empty() {
        return Ok(view.or(&Answer::NoMembers { ring: ring.to_string() }));
    }
    if !members.iter().any(|member| member.is_covered) {
        view.table.clear();
        view.lead = vec![Answer::NothingCovers { ring: ring.to_string() }.to_string()];
    }
    let is_well = members.iter().all(|member| member.is_in_time(manner.now));
    view.exit = (!is_well).then_some(Exit::NotWell);
    Ok(view)
}

/// In how long it is, or that it has come.
fn due(at: Option<Timestamp>, now: Timestamp) -> String {
    match at {
        None => String::new(),
        Some(at) if at <= now => Due::Now.to_string(),
        Some(at) => Due::In { time: span(at.duration_since(now)) }.to_string(),
    }
}

fn late(member: &Repair, now: Timestamp) -> Cell {
    match member.behind_at {
        Some(at) if at <= now => Cell::of(Tone::Bad, Due::For { time: age(now, at) }.to_string()),
        at => due(at, now).into(),
    }
}

fn running(running: &Running) -> String {
    let what = match (running.keyspace.as_str(), running.table.as_str()) {
        ("", _) => String::new(),
        (keyspace, "") => keyspace.to_string(),
        (keyspace, table) => format!("{keyspace}.{table}"),
    };
    match (running.done, running.total) {
        (Some(done), Some(total)) => format!("{done}/{total} {what}").trim_end().to_string(),
        (Some(_) | None, _) => what,
    }
}

fn table(members: &[Repair], manner: Manner) -> Table {
    let mut heading =
        vec!["RACK", "MEMBER", "OLDEST", "DUE", "BEHIND", "NEVER", "RANGES", "RUNNING", "PRESSURE"];
    heading.extend(manner.format.is_wide().then_some("MESSAGE"));
    let mut table = Table::new(&heading);
    for member in members {
        let figure = |figure: u64| match member.is_known {
            true => figure.to_string(),
            false => String::new(),
        };
        let never = match member.never_ranges {
            0 => Cell::from(figure(0)),
            ranges => Cell::of(Tone::Busy, figure(ranges)),
        };
        let mut cells: Vec<Cell> = vec![
            member.rack.as_str().into(),
            member.member.as_str().into(),
            member.oldest_at.map(|at| age(manner.now, at)).unwrap_or_default().into(),
            due(member.due_at, manner.now).into(),
            late(member, manner.now),
            never,
            figure(member.ranges).into(),
            member.running.as_ref().map(running).unwrap_or_default().into(),
            Cell::of(Tone::Busy, member.pressure.as_str()),
        ];
        cells.extend(manner.format.is_wide().then(|| member.message.as_str().into()));
        table.row(cells);
    }
    table
}
