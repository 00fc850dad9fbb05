//! What is so, what is being done, and what is waited for and since when: observations
//! only, no decision is taken from them.

mod service;
mod trouble;

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::{self, Valid, rank};
use crate::words::status::{Partition, Seen};
use palladion_api::conditions::{ALL_NODES_SEEN, PARTITIONED};
use palladion_api::rabbitmq::PartitionHandling;
use palladion_plan::members::status as shared;
use palladion_plan::words::Names;
use palladion_plan::words::status::Paused;
use palladion_plan::{Conditions, Reason, Trouble, Truth, wait};
use serde_json::{Value, json};

/// Status of a cluster that was understood.
pub fn of(facts: &Facts<'_>, valid: &Valid, draft: &Draft) -> Value {
    let wanted = u32::try_from(valid.size).unwrap_or_default();
    let mut writer = stored(facts);
    let service = service::of(facts, valid);
    let counts = (service::ready(facts), service::size(facts, wanted), wanted);
    shared::conditions(&mut writer, facts, draft, counts, pause(facts));
    all_nodes_seen(&mut writer, facts);
    partitioned(&mut writer, facts);
    let stands = trouble::stands(facts, draft);
    if !stands {
        trouble::degraded(&mut writer, facts, draft);
    }
    let asked = facts.status.ask.as_ref().filter(|_| stands);
    let ready = shared::ready_members(facts);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "service": service,
        "waits": wait::in_status(&facts.status.waits, &draft.waits, facts.now()),
        "ask": draft.more.ask.as_ref().or(asked),
        "nodes": format!("{ready}/{wanted}"),
        "cluster": service::cluster(facts),
        "highestReleaseLine": line_on_record(facts),
        "completeOnce": service::is_complete_once(facts, wanted).then_some(true),
    })
}

/// Status of a cluster that was refused: what runs goes on running, and how it is, is told.
pub fn refused(facts: &Facts<'_>, refusal: &Trouble) -> Value {
    let mut writer = stored(facts);
    let wanted = facts.status.service.as_ref().map_or(facts.spec.nodes, |last| last.wanted);
    let counts = (service::ready(facts), service::size(facts, wanted));
    shared::refused(&mut writer, refusal, counts, pause(facts));
    all_nodes_seen(&mut writer, facts);
    partitioned(&mut writer, facts);
    trouble::degraded(&mut writer, facts, &shared::held(facts, facts.turn(), refusal));
    let (last, nodes) = (facts.status.service.as_ref(), service::nodes(facts));
    let ready = shared::ready_members(facts);
    json!({
        "observedGeneration": facts.snapshot.owner.meta.generation,
        "conditions": writer.all(),
        "service": shared::service_of_refused(last, counts, nodes),
        "waits": Value::Null,
        "ask": Value::Null,
        "nodes": format!("{ready}/{wanted}"),
        "cluster": service::cluster(facts),
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

/// Is everything, or this cluster, paused? Says where.
pub fn pause(facts: &Facts<'_>) -> Option<Paused> {
    shared::pause(facts, facts.spec.paused)
}

fn stored(facts: &Facts<'_>) -> Conditions {
    shared::stored(facts, &facts.status.conditions)
}

/// Does every node that serves see every member of record run? It says less than that
/// clients are served: for good it would take the Service down with every restart.
fn all_nodes_seen(writer: &mut Conditions, facts: &Facts<'_>) {
    let record: Vec<_> = service::of_record(facts).map(|m| facts.node_of(m)).collect();
    let mut views = facts.views();
    let Some(first) = views.next() else {
        let nobody = Seen::Nobody;
        return writer.set(ALL_NODES_SEEN, Truth::Unknown, Reason::FactUnknown, nobody);
    };
    let blind = [first].into_iter().chain(views).find_map(|(member, view)| {
        let unseen = record.iter().filter(|node| !view.sees(node));
        let unseen: Vec<_> = unseen.collect();
        (!unseen.is_empty())
            .then(|| Seen::NotBy { member: member.name.clone(), nodes: Names::of(unseen) })
    });
    match blind {
        Some(blind) => writer.set_false(ALL_NODES_SEEN, blind),
        None => writer.set_true(ALL_NODES_SEEN, Seen::All),
    }
}

fn partitioned(writer: &mut Conditions, facts: &Facts<'_>) {
    match partition(facts) {
        Some((member, nodes)) => {
            writer.set_true(PARTITIONED, Partition::From { member, nodes });
        }
        None if facts.spec.partition_handling == PartitionHandling::Autoheal => {
            writer.set_false(PARTITIONED, Partition::NoneButAutoheal);
        }
        None => writer.set_false(PARTITIONED, Partition::None),
    }
}

/// The first node that reports a partition.
fn partition(facts: &Facts<'_>) -> Option<(palladion_api::ids::MemberName, Names)> {
    let mut views = facts.members.values().filter_map(|m| Some((m, m.status.broker.as_ref()?)));
    let (member, view) = views.find(|(m, view)| m.runs() && !view.partitions.is_empty())?;
    Some((member.name.clone(), Names::of(&view.partitions)))
}

/// The highest release line that a node has run: data of a newer line cannot be read by an
/// older node.
fn line_on_record(facts: &Facts<'_>) -> Option<String> {
    let reported = facts.members.values().filter_map(|m| m.status.server.as_ref()?.version.clone());
    let lines = reported.filter_map(|version| validate::line(&version).map(str::to_string));
    lines.chain(facts.status.highest_release_line.clone()).max_by_key(|line| rank(line))
}
