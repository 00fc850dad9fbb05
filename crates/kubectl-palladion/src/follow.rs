//! Shows something once, or again whenever it changes (`--watch`): then only
//! what is not as it was shown before, as kubectl does.

use crate::backoff::Backoff;
use crate::exit::{Exit, Trouble};
use crate::format::Format;
use crate::paint::Paint;
use crate::place::Place;
use crate::session::Session;
use crate::table::Table;
use crate::words::answer::Answer;
use crate::words::trouble::Said;
use clap::Args;
use futures::StreamExt;
use jiff::Timestamp;
use palladion_engine::door::read::Change;
use palladion_engine::request::Selection;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// Changes come in bursts; what they amount to is shown once.
const BURST: Duration = Duration::from_millis(500);

/// The flag.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Watch {
    /// Show it again whenever it changes, until interrupted
    #[arg(short, long)]
    pub watch: bool,
}

/// How something is shown.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// What is printed.
    pub format: Format,
    /// In which colours.
    pub paint: Paint,
    /// The time.
    pub now: Timestamp,
}

/// Something to show.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// All of it, for programs.
    pub data: Value,
    /// Lines before the table.
    pub lead: Vec<String>,
    /// What these lines are about: they are shown again when it changes.
    pub lead_data: Value,
    /// Heading and rows.
    pub table: Vec<String>,
    /// What each row is about.
    pub row_data: Vec<Value>,
    /// The exit code that this amounts to.
    pub exit: Option<Exit>,
}

impl View {
    /// A table alone, one row for each item.
    pub fn of_table<T: Serialize>(items: &[T], table: &Table, paint: Paint) -> Self {
        let row_data: Vec<Value> = items.iter().map(value).collect();
        let data = serde_json::json!({ "items": row_data });
        Self { data, table: table.lines(paint), row_data, ..Self::default() }
    }

    /// This sentence in the place of a table that has no rows.
    #[must_use]
    pub fn or(mut self, nothing: &Answer) -> Self {
        if self.row_data.is_empty() {
            self.table.clear();
            self.lead = vec![nothing.to_string()];
        }
        self
    }

    fn lines(&self) -> Vec<String> {
        self.lead.iter().chain(&self.table).cloned().collect()
    }

    /// The lines that are not as in the view before.
    fn changed(&self, before: &View) -> Vec<String> {
        let lead = (self.lead_data != before.lead_data).then_some(&self.lead);
        let rows = self.table.iter().skip(1).zip(&self.row_data);
        let new = rows.filter(|(_, data)| !before.row_data.contains(data)).map(|(line, _)| line);
        lead.into_iter().flatten().chain(new).cloned().collect()
    }
}

/// As data; nothing if it cannot be.
pub fn value(data: &impl Serialize) -> Value {
    serde_json::to_value(data).unwrap_or(Value::Null)
}

/// Show what `look` sees, once or for as long as it is wanted.
///
/// # Errors
/// What `look` could not read, or why the watch broke.
pub async fn show(
    session: &mut Session<'_>,
    format: Format,
    watch: Watch,
    place: &Place,
    selections: &[Selection],
    look: impl AsyncFn(&Place, Manner) -> Result<View, Trouble>,
) -> Result<Exit, Trouble> {
    let mut shown = look(place, manner(session, format)).await?;
    crate::format::print(session, format, &shown.data, || shown.lines())?;
    if !watch.watch {
        return Ok(shown.exit.unwrap_or(Exit::Done));
    }
    let mut backoff = Backoff::default();
    loop {
        let mut changes = place.door.changes(selections).await?;
        loop {
            let view = look(place, manner(session, format)).await?;
            match format.data(&view.data) {
                Some(text) if view.data != shown.data => session.print_text(&text)?,
                Some(_) => {}
                None => view.changed(&shown).iter().try_for_each(|l| session.print(l))?,
            }
            shown = view;
            match changes.next().await {
                Some(Ok(Change::Something)) => tokio::time::sleep(BURST).await,
                Some(Ok(Change::Over)) | None => break,
                Some(Err(error)) => {
                    let said = Said::WatchEnded { why: error.to_string() };
                    return Err(Trouble::new(Exit::NoConnection, said));
                }
            }
            // The rest of the burst is in what is looked at next.
            while let Some(Some(Ok(Change::Something))) =
                futures::FutureExt::now_or_never(changes.next())
            {}
        }
        // A server that ends every watch at once is not asked again without a pause.
        tokio::time::sleep(backoff.pause()).await;
    }
}

fn manner(session: &Session<'_>, format: Format) -> Manner {
    Manner { format, paint: session.paint, now: session.now() }
}
