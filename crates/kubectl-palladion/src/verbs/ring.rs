//! `ring`: how each member sees the ring, side by side.

use crate::exit::{Exit, Trouble};
use crate::follow::{Manner, View, value};
use crate::paint::Tone;
use crate::place::Place;
use crate::read::member::{Member, Seen};
use crate::session::Session;
use crate::showing::OfRing;
use crate::table::{Cell, Table};
use crate::words::answer::{Answer, Note};
use clap::Args;
use palladion_api::words::{Count, Names};
use std::collections::BTreeSet;

/// So many digits of a hash tell two apart.
const DIGITS: usize = 8;

/// See the module.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl palladion ring demo\n\nEach row is what one member reports. The exit code is 1 if they do not see the same ring, or do not agree on the schema."
)]
pub struct Ring {
    #[command(flatten)]
    of: OfRing,
}

impl Ring {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        self.of.show(session, |place, ring| vec![place.members_selection(Some(ring))], look).await
    }
}

async fn look(place: &Place, ring: &str, manner: Manner) -> Result<View, Trouble> {
    let members = place.members(Some(ring)).await?;
    if members.is_empty() {
        let name = place.ring(ring).await?.name;
        let lead = vec![Answer::NoMembers { ring: name }.to_string()];
        return Ok(View { lead, ..View::default() });
    }
    let mut view = View::of_table(&members, &table(&members, manner), manner.paint);
    let (agreement, exit) = agreement(&members);
    view.exit = Some(exit);
    view.lead_data = value(&agreement.to_string());
    let tone = if exit == Exit::Done { Tone::Good } else { Tone::Bad };
    view.lead = vec![manner.paint.paint(tone, &agreement.to_string()), String::new()];
    Ok(view)
}

/// Do those that report see the same ring?
fn agreement(members: &[Member]) -> (Note, Exit) {
    let views = || members.iter().filter_map(|m| m.view.as_ref());
    let rings: BTreeSet<(&str, u64)> = views().map(|v| (v.hash.as_str(), v.members)).collect();
    if rings.is_empty() {
        return (Note::NoViews, Exit::NotWell);
    }
    if rings.len() > 1 {
        return (Note::ViewsDiffer, Exit::NotWell);
    }
    if views().any(|v| !v.exceptions.is_empty()) {
        return (Note::SomeAreOdd, Exit::NotWell);
    }
    if !views().all(|v| v.schema_agreed) {
        return (Note::SchemasDiffer, Exit::NotWell);
    }
    let silent: Vec<&str> = members
        .iter()
        .filter(|m| m.run != "Stopped" && (m.view.is_none() || m.state != "Running"))
        .map(|m| m.name.as_str())
        .collect();
    if !silent.is_empty() {
        return (Note::SomeAreSilent { members: Names::of(silent) }, Exit::NotWell);
    }
    (Note::ViewsAgree { members: Count::of(views().count(), "member") }, Exit::Done)
}

fn table(members: &[Member], manner: Manner) -> Table {
    let mut heading =
        vec!["RACK", "MEMBER", "ADDRESS", "HOST-ID", "SEES", "RING", "SCHEMA", "NOT UP AND NORMAL"];
    if !manner.format.is_wide() {
        heading.retain(|column| *column != "ADDRESS");
    }
    let mut table = Table::new(&heading);
    for member in members {
        let mut cells: Vec<Cell> = vec![member.rack.as_str().into(), member.name.as_str().into()];
        if manner.format.is_wide() {
            cells.push(member.address.as_str().into());
        }
        cells.push(member.host_id.as_str().into());
        cells.extend(match &member.view {
            None => vec!["".into(), "".into(), "".into(), "".into()],
            Some(view) => {
                let schema = match view.schema_agreed {
                    true => Cell::of(Tone::Good, "agreed"),
                    false => Cell::of(Tone::Bad, "differs"),
                };
                let hash: String = view.hash.chars().take(DIGITS).collect();
                let odd: Vec<String> = view.exceptions.iter().map(|e| seen(e, members)).collect();
                vec![view.members.to_string().into(), hash.into(), schema, odd.join(", ").into()]
            }
        });
        table.row(cells);
    }
    table
}

/// `demo-dc1-a-1 Down Normal`, by the name of whoever has that host ID.
fn seen(seen: &Seen, members: &[Member]) -> String {
    let named = members.iter().find(|m| !m.host_id.is_empty() && m.host_id == seen.host_id);
    let name = named.map_or(seen.address.as_str(), |m| m.name.as_str());
    format!("{name} {} {}", seen.liveness, seen.state)
}
