//! `members`: one line for each member.

use crate::amount::bytes;
use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View};
use crate::paint::Tone;
use crate::place::Place;
use crate::read::member::{Member, Repaired};
use crate::session::Session;
use crate::showing::OfRings;
use crate::table::{Cell, Table};
use crate::time::age;
use crate::verbs::status::state;
use crate::words::answer::Answer;
use clap::Args;

/// See the module.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion members demo -o wide")]
pub struct Members {
    #[command(flatten)]
    of: OfRings,
}

/// Which columns say where a member belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// The heading names the ring.
    OfOneRing,
    /// Each row names it.
    OfManyRings,
    /// And its namespace.
    Everywhere,
}

impl Members {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        self.of.show(session, |place, ring| vec![place.members_selection(ring)], look).await
    }
}

async fn look(place: &Place, ring: Option<&str>, manner: Manner) -> Result<View, Trouble> {
    let columns = match (&place.namespace, ring) {
        (None, _) => Columns::Everywhere,
        (Some(_), None) => Columns::OfManyRings,
        (Some(_), Some(_)) => Columns::OfOneRing,
    };
    let members = place.members(ring).await?;
    if let Some(ring) = ring.filter(|_| members.is_empty()) {
        // Does the ring exist at all?
        place.ring(ring).await?;
    }
    let none = match ring {
        Some(ring) => Answer::NoMembers { ring: ring.to_string() },
        None => Answer::NoMembersIn { place: place.to_string() },
    };
    let table = table(&members, manner, columns);
    Ok(View::of_table(&members, &table, manner.paint).or(&none))
}

/// When the oldest of its ranges was repaired, where a schedule covers the ring.
fn repaired(member: &Member, manner: Manner) -> Cell {
    match member.repaired {
        Repaired::Unknown => Cell::default(),
        Repaired::Never => Cell::of(Tone::Busy, "never"),
        Repaired::Since { at } => format!("{} ago", age(manner.now, at)).into(),
    }
}

/// The members as a table.
pub fn table(members: &[Member], manner: Manner, columns: Columns) -> Table {
    let mut heading = match columns {
        Columns::OfOneRing => vec![],
        Columns::OfManyRings => vec!["RING"],
        Columns::Everywhere => vec!["NAMESPACE", "RING"],
    };
    heading.extend(["RACK", "MEMBER", "STATE", "MODE", "LOAD", "REPAIRED"]);
    heading.extend(["ADDRESS", "REASON", "SINCE"]);
    if manner.format.is_wide() {
        heading.extend(["VERSION", "AGENT", "NODE", "HOST-ID", "VOLUME-ID", "MESSAGE"]);
    }
    let mut table = Table::new(&heading);
    for member in members {
        let of = |text: &str| Cell::from(text);
        let mut cells = match columns {
            Columns::OfOneRing => vec![],
            Columns::OfManyRings => vec![of(&member.ring)],
            Columns::Everywhere => vec![of(&member.namespace), of(&member.ring)],
        };
        let since = member.since.map(|s| age(manner.now, s)).unwrap_or_default();
        cells.extend([
            of(&member.rack),
            of(&member.name),
            state(member, manner.paint),
            of(&member.mode),
            member.load_bytes.map(bytes).unwrap_or_default().into(),
            repaired(member, manner),
            of(&member.address),
            of(&member.reason),
            since.into(),
        ]);
        if manner.format.is_wide() {
            cells.extend([
                of(&member.version),
                of(&member.agent),
                of(&member.node),
                of(&member.host_id),
                of(&member.volume_id),
                of(&member.message),
            ]);
        }
        table.row(cells);
    }
    table
}
