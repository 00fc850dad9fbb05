//! `task list`.

use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View, value};
use crate::paint::Tone;
use crate::place::Place;
use crate::read::maintenance::Maintenance;
use crate::read::task::Task;
use crate::session::Session;
use crate::showing::OfRings;
use crate::table::{Cell, Table};
use crate::time::age;
use crate::words::answer::Answer;
use clap::Args;

/// See the module.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion task list demo --watch")]
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
        let selections = |place: &Place, ring: Option<&str>| {
            vec![place.tasks_selection(), place.members_selection(ring)]
        };
        self.of.show(session, selections, look).await
    }
}

async fn look(place: &Place, ring: Option<&str>, manner: Manner) -> Result<View, Trouble> {
    if let Some(ring) = ring {
        place.ring(ring).await?;
    }
    let (tasks, members) = tokio::join!(place.tasks(ring), place.members(ring));
    let (tasks, members) = (tasks?, members?);
    let owed: Vec<Maintenance> = members.into_iter().flat_map(|m| m.maintenance).collect();
    let none = match ring {
        Some(ring) => Answer::NoTasksOf { ring: ring.to_string() },
        None => Answer::NoTasks { place: place.to_string() },
    };
    let table = table(&owed, &tasks, place, ring, manner);
    let mut view = View::of_table(&tasks, &table, manner.paint);
    view.row_data.splice(0..0, owed.iter().map(value));
    view.data["pendingMaintenance"] = value(&owed);
    Ok(view.or(&none))
}

/// The colour of a phase.
pub fn tone(task: &Task) -> Tone {
    match (task.has_ended(), task.is_done()) {
        (_, true) => Tone::Good,
        (true, false) => Tone::Bad,
        (false, false) => Tone::Busy,
    }
}

/// Maintenance comes first: it goes before tasks, or between two of their members.
fn table(
    owed: &[Maintenance],
    tasks: &[Task],
    place: &Place,
    ring: Option<&str>,
    manner: Manner,
) -> Table {
    let mut heading =
        vec!["NAMESPACE", "RING", "POS", "NAME", "KIND", "PHASE", "PROGRESS", "AGE", "MESSAGE"];
    let is_shown = |column: &str| match column {
        "NAMESPACE" => place.namespace.is_none(),
        "RING" => ring.is_none(),
        _ => true,
    };
    heading.retain(|column| is_shown(column));
    let mut table = Table::new(&heading);
    let place_of = |namespace: &str, ring: &str| -> Vec<Cell> {
        let of = [("NAMESPACE", namespace), ("RING", ring)];
        of.into_iter().filter(|(column, _)| is_shown(column)).map(|(_, of)| of.into()).collect()
    };
    for one in owed {
        let mut cells = place_of(&one.namespace, &one.ring);
        cells.extend([
            Cell::default(),
            format!("member/{}", one.member).into(),
            one.kind.as_str().into(),
            Cell::of(Tone::Busy, one.phase.as_str()),
            one.progress.as_str().into(),
            Cell::default(),
            one.message.as_str().into(),
        ]);
        table.row(cells);
    }
    for task in tasks {
        let mut cells = place_of(&task.namespace, &task.ring);
        let age = task.created.map(|c| age(manner.now, c)).unwrap_or_default();
        cells.extend([
            task.position.map(|place| place.to_string()).unwrap_or_default().into(),
            task.name.as_str().into(),
            task.shown_kind().into(),
            Cell::of(tone(task), task.phase.as_str()),
            task.progress.as_str().into(),
            age.into(),
            task.message.as_str().into(),
        ]);
        table.row(cells);
    }
    table
}
