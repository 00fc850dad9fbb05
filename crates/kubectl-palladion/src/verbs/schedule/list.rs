//! `schedule list`.

use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View};
use crate::paint::Tone;
use crate::place::Place;
use crate::read::schedule::Schedule;
use crate::session::Session;
use crate::showing::OfRings;
use crate::table::{Cell, Table};
use crate::time::{age, span};
use crate::words::answer::{Answer, Due};
use clap::Args;
use jiff::Timestamp;

/// See the module.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion schedule list demo")]
pub struct List {
    #[command(flatten)]
    of: OfRings,
}

impl List {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        self.of.show(session, |place, _| vec![place.schedules_selection()], look).await
    }
}

async fn look(place: &Place, ring: Option<&str>, manner: Manner) -> Result<View, Trouble> {
    if let Some(ring) = ring {
        place.ring(ring).await?;
    }
    let schedules = place.schedules(ring).await?;
    let none = match ring {
        Some(ring) => Answer::NoSchedulesOf { ring: ring.to_string() },
        None => Answer::NoSchedules { place: place.to_string() },
    };
    let table = table(&schedules, place, ring, manner);
    Ok(View::of_table(&schedules, &table, manner.paint).or(&none))
}

fn next(schedule: &Schedule, now: Timestamp) -> String {
    match schedule.next {
        None => String::new(),
        Some(next) if next <= now => Due::Now.to_string(),
        Some(next) => Due::In { time: span(next.duration_since(now)) }.to_string(),
    }
}

fn table(schedules: &[Schedule], place: &Place, ring: Option<&str>, manner: Manner) -> Table {
    let is_wide = manner.format.is_wide();
    let mut heading = vec![
        "NAMESPACE",
        "RING",
        "NAME",
        "SCHEDULE",
        "TIME ZONE",
        "NEXT",
        "LAST",
        "ACTIVE",
        "MISSED",
        "AGE",
        "MESSAGE",
    ];
    let is_shown = |column: &str| match column {
        "NAMESPACE" => place.namespace.is_none(),
        "RING" => ring.is_none(),
        "MISSED" | "AGE" => is_wide,
        _ => true,
    };
    heading.retain(|column| is_shown(column));
    let mut table = Table::new(&heading);
    for schedule in schedules {
        let ago = |time: Option<Timestamp>| time.map(|t| age(manner.now, t)).unwrap_or_default();
        let tone = if schedule.runs() { Tone::Good } else { Tone::Bad };
        let all: Vec<(&str, Cell)> = vec![
            ("NAMESPACE", schedule.namespace.as_str().into()),
            ("RING", schedule.ring.as_str().into()),
            ("NAME", Cell::of(tone, schedule.name.as_str())),
            ("SCHEDULE", schedule.schedule.as_str().into()),
            ("TIME ZONE", schedule.time_zone.as_str().into()),
            ("NEXT", next(schedule, manner.now).into()),
            ("LAST", ago(schedule.last).into()),
            ("ACTIVE", schedule.active.join(",").into()),
            ("MISSED", schedule.missed.to_string().into()),
            ("AGE", ago(schedule.created).into()),
            ("MESSAGE", schedule.message().into()),
        ];
        table.row(all.into_iter().filter(|(column, _)| is_shown(column)).map(|(_, c)| c).collect());
    }
    table
}
