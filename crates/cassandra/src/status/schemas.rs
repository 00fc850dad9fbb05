//! Members that do not agree on the schema for long: nobody joins, leaves or is
//! restarted meanwhile, and nothing mends it by itself (safety rule 7.3).

use super::views::living;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact, lines};
use crate::resources as kinds;
use crate::words::views::{Disagreement, Settling};
use jiff::{SignedDuration, Timestamp};
use palladion_api::reasons::Reason;
use palladion_plan::wait::Subject;
use palladion_plan::words::Names;
use std::collections::BTreeMap;

/// A change of the schema reaches all members within seconds; who missed it
/// pulls it within a minute or two. What lasts longer does not pass.
const LASTING: SignedDuration = SignedDuration::from_mins(5);

/// Note that members do not agree, and after some time that it does not pass.
pub fn note(facts: &Facts<'_>, draft: &mut Draft) {
    let living = living(facts);
    let sees_two = |m: &&&MemberFact| m.status.ring.as_ref().is_some_and(|r| !r.schema_agreed);
    let witnesses: Vec<&MemberFact> = living.iter().filter(sees_two).copied().collect();
    // Of an upgrade between lines nothing is told: they never agree meanwhile.
    if witnesses.is_empty() || lines::explain_schemas(facts) {
        return;
    }
    let cluster = Subject::new(kinds::CLUSTER, &facts.snapshot.owner.meta.name);
    let since = since(facts).unwrap_or(facts.now());
    let lasting_from = facts.again(since, None, LASTING);
    let (few, most) = groups(&living);
    if facts.now() < lasting_from {
        let waiting = Settling::Schemas { by: names(&witnesses) };
        draft.wait_for(waiting).about(cluster).until(lasting_from);
        return;
    }
    let what = match few.is_empty() {
        true => Disagreement::SchemasSeen { by: names(&witnesses), since },
        false => Disagreement::Schemas { few: names(&few), most: names(&most), since },
    };
    draft.report(what.clone());
    draft.wait_for(what).about(cluster);
}

/// Since when the status says so.
fn since(facts: &Facts<'_>) -> Option<Timestamp> {
    let mut waits = facts.status.waits.iter();
    waits.find(|w| w.reason == Reason::SchemasDisagree.as_str()).map(|w| w.since.0)
}

/// Those with the schema version that most have, and the others first.
fn groups<'a>(living: &[&'a MemberFact]) -> (Vec<&'a MemberFact>, Vec<&'a MemberFact>) {
    let version = |m: &&MemberFact| m.status.server.as_ref().and_then(|s| s.schema_version.clone());
    let mut of_version: BTreeMap<String, usize> = BTreeMap::new();
    for schema in living.iter().filter_map(version) {
        *of_version.entry(schema).or_default() += 1;
    }
    let most = of_version.into_iter().max_by_key(|(_, members)| *members).map(|(schema, _)| schema);
    living.iter().copied().partition(|m| version(m) != most)
}

fn names(members: &[&MemberFact]) -> Names {
    Names::of(members.iter().map(|m| &m.name))
}
