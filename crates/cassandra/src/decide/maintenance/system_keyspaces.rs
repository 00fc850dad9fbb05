//! Replication of the system keyspaces: Cassandra makes them with
//! SimpleStrategy and factors of 1 to 3; a lost member would lock users out.
//! NetworkTopologyStrategy with min(3, members), then a repair of each member
//! (safety rule 6.2).

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::turn::failed_start;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::maintenance::{Doing, Happened, Problem, Replicating};
use palladion_api::cluster::Mode;
use palladion_api::ids::Nonce;
use palladion_api::member::{Operation, OperationKind, OperationState};
use palladion_plan::words::Count;
use palladion_plan::{Event, Step};
use serde_json::{Value, json};

/// The keyspaces whose replication Cassandra leaves to the person.
const KEYSPACES: [&str; 3] = ["system_auth", "system_distributed", "system_traces"];
/// More copies help nobody: quorum of three survives one loss.
const MOST_COPIES: usize = 3;

/// Is this one of the keyspaces that are kept here?
pub fn is_one(keyspace: &str) -> bool {
    KEYSPACES.contains(&keyspace)
}

/// Can the system keyspaces be kept by this many members as they are?
pub fn fit(facts: &Facts<'_>, valid: &Valid, members: usize) -> bool {
    valid.mode == Mode::Scylla
        || facts.status.system_replication.is_some_and(|f| f <= factor_for(members))
}

fn factor_for(members: usize) -> u32 {
    u32::try_from(members.min(MOST_COPIES)).unwrap_or(1)
}

/// Replication as the number of members wants it, once nobody joins.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let waiting_to_join = facts.members.values().any(|m| {
        !m.is_gone()
            && m.recorded_host_id().is_none()
            && m.pod.is_some()
            && !failed_start::has_failed_for_good(m)
    });
    if waiting_to_join || valid.mode == Mode::Scylla {
        return;
    }
    let joined = facts.members.values().filter(|m| m.recorded_host_id().is_some()).count();
    set(facts, valid, joined, draft);
}

/// Set, repair, then record. One step at a time; the operation's ID carries
/// the factor and a nonce, so that going back to a factor is a new operation.
pub fn set(facts: &Facts<'_>, valid: &Valid, members: usize, draft: &mut Draft) {
    let factor = factor_for(members);
    if facts.status.system_replication == Some(factor) {
        return;
    }
    if let Err(why) = evidence::ring_is_quiet(facts) {
        draft.wait_for(Replicating::Quiet { why });
        return;
    }
    let joined: Vec<&MemberFact> =
        facts.members.values().filter(|m| m.recorded_host_id().is_some()).collect();
    match altered(&joined, factor) {
        None => start_alter(facts, valid, &joined, factor, draft),
        Some(nonce) => repair_each(facts, valid, &joined, factor, &nonce, draft),
    }
}

fn alter_prefix(factor: u32) -> String {
    format!("system-keyspaces-{factor}-")
}

/// The nonce of an alter operation for this factor that has succeeded.
fn altered(joined: &[&MemberFact], factor: u32) -> Option<Nonce> {
    joined.iter().find_map(|m| {
        let operation = m.spec.as_ref()?.operation.as_ref()?;
        let alter = operation.id.strip_prefix(&alter_prefix(factor));
        let repair = operation.id.strip_prefix(&repair_prefix(factor));
        match (alter, repair) {
            (Some(nonce), _) if outcome(m, &operation.id) == Some(OperationState::Succeeded) => {
                Some(Nonce::new(nonce))
            }
            (None, Some(nonce)) => Some(Nonce::new(nonce)),
            _ => None,
        }
    })
}

fn repair_prefix(factor: u32) -> String {
    format!("repair-system-keyspaces-{factor}-")
}

fn outcome(member: &MemberFact, id: &str) -> Option<OperationState> {
    member.status.operation.as_ref().filter(|o| o.id == id).map(|o| o.state)
}

fn start_alter(
    facts: &Facts<'_>,
    valid: &Valid,
    joined: &[&MemberFact],
    factor: u32,
    draft: &mut Draft,
) {
    let prefix = alter_prefix(factor);
    let running = joined.iter().find_map(|m| {
        let operation = m.spec.as_ref()?.operation.as_ref()?;
        operation.id.starts_with(&prefix).then_some((m, operation.id.clone()))
    });
    let Some((member, id)) = running else {
        let Some(first) = joined.first() else { return };
        let operation = Operation {
            id: format!("{prefix}{}", facts.snapshot.nonce),
            kind: OperationKind::AlterReplication,
            keyspaces: KEYSPACES.map(str::to_string).to_vec(),
            replication: [(valid.datacenter.clone(), factor)].into(),
            target: None,
        };
        return order(first, &operation, draft);
    };
    follow(facts, valid, member, &id, OperationKind::AlterReplication, factor, &prefix, draft);
}

fn repair_each(
    facts: &Facts<'_>,
    valid: &Valid,
    joined: &[&MemberFact],
    factor: u32,
    nonce: &Nonce,
    draft: &mut Draft,
) {
    let id = format!("{}{nonce}", repair_prefix(factor));
    for member in joined {
        let ordered = member.spec.as_ref().and_then(|s| s.operation.as_ref());
        let is_ours = ordered.is_some_and(|o| o.id == id || o.id.starts_with(&format!("{id}-")));
        if !is_ours {
            let operation = repair(id);
            return order(member, &operation, draft);
        }
        let ordered_id = ordered.map(|o| o.id.clone()).unwrap_or_default();
        if outcome(member, &ordered_id) != Some(OperationState::Succeeded) {
            return follow(
                facts,
                valid,
                member,
                &ordered_id,
                OperationKind::Repair,
                factor,
                &format!("{id}-"),
                draft,
            );
        }
    }
    let turn = facts.snapshot.owner.at("/status/turn").cloned().unwrap_or(Value::Null);
    let copies = Count::of(factor, "copy");
    let datacenter = valid.datacenter.clone();
    draft.steps.push(
        Step::compare_and_set(
            json!({ "systemReplication": factor }),
            vec![("/status/turn".into(), turn)],
            Doing::RecordReplication { copies },
        )
        .announced(Event::normal(Happened::Replicated { copies, datacenter })),
    );
}

fn repair(id: String) -> Operation {
    Operation {
        id,
        kind: OperationKind::Repair,
        keyspaces: KEYSPACES.map(str::to_string).to_vec(),
        replication: Default::default(),
        target: None,
    }
}

/// Wait for an operation, and start it again if it failed.
#[expect(clippy::too_many_arguments, reason = "one place that follows both kinds of operation")]
fn follow(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    id: &str,
    kind: OperationKind,
    factor: u32,
    prefix: &str,
    draft: &mut Draft,
) {
    let (operation, name) = (|| kind.into(), || member.name.clone());
    let waiting = match outcome(member, id) {
        None => Replicating::Requested { factor, operation: operation(), member: name() },
        Some(OperationState::Running) => {
            Replicating::Running { factor, operation: operation(), member: name() }
        }
        Some(OperationState::Succeeded) => return,
        Some(OperationState::Failed | OperationState::Interrupted) => {
            let status = member.status.operation.as_ref();
            let why = status.and_then(|o| o.message.clone()).unwrap_or_default();
            draft.report(Problem::NotReplicated {
                factor,
                operation: operation(),
                member: name(),
                why,
            });
            let ended = status.and_then(|o| o.finished_at.as_ref()).map_or(facts.now(), |t| t.0);
            let again = ended + jiff::SignedDuration::from_secs(30);
            if facts.now() < again {
                let waiting =
                    Replicating::Retried { factor, operation: kind.into(), member: name() };
                draft.wait_for(waiting).about(member.subject()).until(again);
                return;
            }
            let operation = match kind {
                OperationKind::AlterReplication => Operation {
                    id: format!("{prefix}{}", facts.snapshot.nonce),
                    kind,
                    keyspaces: KEYSPACES.map(str::to_string).to_vec(),
                    replication: [(valid.datacenter.clone(), factor)].into(),
                    target: None,
                },
                _ => repair(format!("{prefix}{}", facts.snapshot.nonce)),
            };
            return order(member, &operation, draft);
        }
    };
    draft.wait_for(waiting).about(member.subject());
}

fn order(member: &MemberFact, operation: &Operation, draft: &mut Draft) {
    let Some(object) = &member.object else { return };
    let mut patch = json!({ "spec": { "operation": operation } });
    for absent in ["replication", "target"] {
        if patch["spec"]["operation"].get(absent).is_none() {
            patch["spec"]["operation"][absent] = Value::Null;
        }
    }
    let (kind, name) = (operation.kind, member.name.clone());
    draft
        .wait_for(Replicating::Starting { operation: kind.into(), member: name.clone() })
        .about(member.subject());
    let doing = Doing::StartOperation { operation: kind.into(), member: name };
    draft.steps.push(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing));
}
