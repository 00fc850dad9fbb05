//! What is so, what is being done, and what is waited for and since when:
//! observations only, no decision is taken from them.

mod service;
mod trouble;

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::{self, Valid};
use palladion_api::rules::zookeeper::LINES;
use palladion_plan::members::status as shared;
use palladion_plan::words::status::Paused;
use palladion_plan::{Conditions, Trouble, wait};
use serde_json::{Value, json};

/// Status of an ensemble that was understood.
pub fn of(facts: &Facts<'_>, valid: &Valid, draft: &Draft) -> Value {
    let wanted = u32::try_from(valid.size).unwrap_or_default();
    let mut writer = stored(facts);
    let service = service::of(facts, valid);
    let counts = (service::ready(facts), service::size(facts, wanted), wanted);
    shared::conditions(&mut writer, facts, draft, counts, pause(facts));
    trouble::degraded(&mut writer, facts, draft);
    let ready = shared::ready_members(facts);
    let configuration = facts.configuration();
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "service": service,
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.now()),
        "ask": draft.more.ask,
        "servers": format!("{ready}/{wanted}"),
        "leader": service::leader(facts),
        "configVersion": configuration.as_ref().map(|c| c.version),
        "ensemble": configuration.as_ref().map(|c| service::ensemble(facts, c)),
        "highestReleaseLine": line_on_record(facts),
        "completeOnce": service::is_complete_once(facts, wanted).then_some(true),
    })
}

/// Status of an ensemble that was refused: what runs goes on running, and how it is, is told.
pub fn refused(facts: &Facts<'_>, refusal: &Trouble) -> Value {
    let mut writer = stored(facts);
    let wanted = facts.status.service.as_ref().map_or(facts.spec.servers, |last| last.wanted);
    let counts = (service::ready(facts), service::size(facts, wanted));
    shared::refused(&mut writer, refusal, counts, pause(facts));
    trouble::degraded(&mut writer, facts, &shared::held(facts, facts.turn(), refusal));
    let (last, nodes) = (facts.status.service.as_ref(), service::nodes(facts));
    let ready = shared::ready_members(facts);
    let configuration = facts.configuration();
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "service": shared::service_of_refused(last, counts, nodes),
        "waits": Value::Null,
        "ask": Value::Null,
        "servers": format!("{ready}/{wanted}"),
        "leader": service::leader(facts),
        "configVersion": configuration.as_ref().map(|c| c.version),
        "ensemble": configuration.as_ref().map(|c| service::ensemble(facts, c)),
    })
}

/// Status of a cluster that is being deleted. Nothing is written of one that goes at once.
pub fn deleting(facts: &Facts<'_>, draft: &Draft) -> Value {
    if draft.waits.is_empty() && facts.snapshot.failure.is_none() {
        return Value::Null;
    }
    let mut writer = stored(facts);
    shared::deleting(&mut writer, draft);
    trouble::degraded(&mut writer, facts, draft);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.now()),
    })
}

/// Is everything, or this ensemble, paused? Says where.
pub fn pause(facts: &Facts<'_>) -> Option<Paused> {
    shared::pause(facts, facts.spec.paused)
}

fn stored(facts: &Facts<'_>) -> Conditions {
    shared::stored(facts, &facts.status.conditions)
}

/// The highest release line that a server has run: data of a newer line cannot be read
/// by an older server.
fn line_on_record(facts: &Facts<'_>) -> Option<String> {
    let rank = |line: &str| LINES.iter().position(|known| *known == line);
    let reported = facts.members.values().filter_map(|m| m.status.server.as_ref()?.version.clone());
    let lines = reported.filter_map(|version| validate::line(&version).map(str::to_string));
    let stored = facts.status.highest_release_line.clone();
    // One that is not known is of a newer operator, and newer than all that are.
    lines.chain(stored).max_by_key(|line| rank(line).unwrap_or(LINES.len()))
}
