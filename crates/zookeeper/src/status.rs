//! What is so, what is being done, and what is waited for and since when:
//! observations only, no decision is taken from them.

mod service;
mod trouble;

use crate::decide::draft::{Draft, is_upkeep};
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::validate::{self, Valid};
use crate::words::refusal::Refusal;
use crate::words::status::{Accepted, Available, Paused, Rest, Running, Starting};
use palladion_api::conditions::{ACCEPTED, AVAILABLE, PAUSED, PROGRESSING};
use palladion_api::rules::zookeeper::LINES;
use palladion_plan::words::Message;
use palladion_plan::{Conditions, Reason, Truth, wait};
use serde_json::{Value, json};

/// Status of an ensemble that was understood.
pub fn of(facts: &Facts<'_>, valid: &Valid, draft: &Draft) -> Value {
    let wanted = u32::try_from(valid.servers).unwrap_or_default();
    let mut writer = stored(facts);
    writer.set_true(ACCEPTED, Accepted::Valid);
    let service = service::of(facts, valid);
    available(&mut writer, facts, wanted);
    let ready = facts.members.values().filter(|m| !m.is_gone() && m.is_ready()).count();
    if is_at_rest(facts, draft, ready, wanted) {
        writer.set_false(PROGRESSING, Rest::AllReady);
    } else {
        progressing(&mut writer, facts, draft);
    }
    trouble::degraded(&mut writer, facts, draft);
    paused(&mut writer, facts);
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

/// Status of an ensemble that was refused: what runs goes on running.
pub fn refused(facts: &Facts<'_>, refusal: &Refusal) -> Value {
    let mut writer = stored(facts);
    writer.set_false(ACCEPTED, refusal.clone());
    writer.set_false(PROGRESSING, refusal.clone());
    paused(&mut writer, facts);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": Value::Null,
    })
}

/// Status of a cluster that is being deleted. Nothing is written of one that goes at once.
pub fn deleting(facts: &Facts<'_>, draft: &Draft) -> Value {
    let wait = draft.waits.first();
    if wait.is_none() && facts.snapshot.failure.is_none() {
        return Value::Null;
    }
    let mut writer = stored(facts);
    if let Some(wait) = wait {
        writer.set(PROGRESSING, Truth::True, wait.reason, &wait.message);
    }
    trouble::degraded(&mut writer, facts, draft);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.now()),
    })
}

/// Is everything, or this ensemble, paused? Says where.
pub fn pause(facts: &Facts<'_>) -> Option<Paused> {
    if facts.operator_config.as_ref().is_some_and(|c| c.paused) {
        return Some(Paused::Everywhere);
    }
    facts.spec.paused.then_some(Paused::Here)
}

fn stored(facts: &Facts<'_>) -> Conditions {
    let generation = facts.snapshot.owner.meta.generation;
    Conditions::new(&facts.status.conditions, generation, facts.now())
}

/// Whether the ensemble serves, as it is now.
fn available(writer: &mut Conditions, facts: &Facts<'_>, wanted: u32) {
    let (size, ready) = (service::size(facts, wanted), service::ready(facts));
    match ready * 2 > size {
        true => writer.set_true(AVAILABLE, Available::Quorum { ready, size }),
        false => writer.set_false(AVAILABLE, Available::NoQuorum { ready, size }),
    }
}

/// Is nothing to be done, and is everybody there?
fn is_at_rest(facts: &Facts<'_>, draft: &Draft, ready: usize, wanted: u32) -> bool {
    let works = !draft.waits.is_empty() || draft.steps.iter().any(|s| !is_upkeep(s));
    usize::try_from(wanted) == Ok(ready) && !works && pause(facts).is_none()
}

/// What is being done, or why nothing is.
fn progressing(writer: &mut Conditions, facts: &Facts<'_>, draft: &Draft) {
    if let Some(paused) = pause(facts) {
        return writer.set_false(PROGRESSING, paused);
    }
    if let Some(wait) = draft.waits.first() {
        return writer.set(PROGRESSING, Truth::True, wait.reason, &wait.message);
    }
    if let Some(step) = draft.steps.iter().find(|s| !is_upkeep(s)) {
        let doing = Message::quoted(step.doing());
        return writer.set(PROGRESSING, Truth::True, Reason::CreatingObjects, doing);
    }
    let exists = |m: &&MemberFact| !m.is_gone() && (m.object.is_some() || m.pod.is_some());
    let mut away = facts.members.values().filter(exists).filter(|m| !m.is_ready());
    let starting = away.next().map(|m| Starting::Member {
        member: m.name.clone(),
        pod: pod_words(m),
        server: server_words(m),
    });
    writer.set_true(PROGRESSING, starting.unwrap_or(Starting::NoMember));
}

fn paused(writer: &mut Conditions, facts: &Facts<'_>) {
    match pause(facts) {
        Some(paused) => writer.set_true(PAUSED, paused),
        None => writer.set_false(PAUSED, Running::NotPaused),
    }
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
