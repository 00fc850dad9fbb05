//! `task list`.

use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View};
use crate::paint::Tone;
use crate::place::Place;
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
        self.of.show(session, |place, _| vec![place.tasks_selection()], look).await
    }
}

async fn look(place: &Place, ring: Option<&str>, manner: Manner) -> Result<View, Trouble> {
    if let Some(ring) = ring {
        place.ring(ring).await?;
    }
    let tasks = place.tasks(ring).await?;
    let none = match ring {
        Some(ring) => Answer::NoTasksOf { ring: ring.to_string() },
        None => Answer::NoTasks { place: place.to_string() },
    };
    let table = table(&tasks, place, ring, manner);
    Ok(View::of_table(&tasks, &table, manner.paint).or(&none))
}

/// The colour of a phase.
pub fn tone(task: &Task) -> Tone {
    match (task.has_ended(), task.is_done()) {
        (_, true) => Tone::Good,
        (true, false) => Tone::Bad,
        (false, false) => Tone::Busy,
    }
}

fn table(tasks: &[Task], place: &Place, ring: Option<&str>, manner: Manner) -> Table {
    let mut heading =
        vec!["NAMESPACE", "RING", "POS", "NAME", "KIND", "PHASE", "PROGRESS", "AGE", "MESSAGE"];
    let is_shown = |column: &str| match column {
        "NAMESPACE" => place.namespace.is_none(),
        "RING" => ring.is_none(),
        _ => true,
    };
    heading.retain(|column| is_shown(column));
    let mut table = Table::new(&heading);
    for task in tasks {
        let mut cells: Vec<Cell> = Vec::new();
        if is_shown("NAMESPACE") {
            cells.push(task.namespace.as_str().into());
        }
        if is_shown("RING") {
            cells.push(task.ring.as_str().into());
        }
        let age = task.created.map(|c| age(manner.now, c)).unwrap_or_default();
        cells.extend([
            task.position.map(|place| place.to_string()).unwrap_or_default().into(),
            task.name.as_str().into(),
            task.kind.as_str().into(),
            Cell::of(tone(task), task.phase.as_str()),
            task.progress.as_str().into(),
            age.into(),
            task.message.as_str().into(),
        ]);
        table.row(cells);
    }
    table
}
