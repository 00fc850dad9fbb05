//! Maintenance that the operator does by itself, as the `CassandraMember` that it is of
//! says: what is pending, and what is under way.

use super::{items, text};
use serde::Serialize;
use serde_json::Value;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Maintenance {
    /// Namespace.
    pub namespace: String,
    /// The member.
    pub member: String,
    /// Its ring.
    pub ring: String,
    /// What is done, for example `Cleanup`.
    pub kind: String,
    /// `Pending` or `Running`.
    pub phase: String,
    /// How far it is, for example `41%`.
    pub progress: String,
    /// Why it is pending, or what its agent says of it.
    pub message: String,
}

impl Maintenance {
    /// What a member is to do or does, in the order of its spec.
    pub fn of(member: &Value) -> Vec<Self> {
        let running = running(member);
        // Rings of an older Palladion have the list under its former name.
        let lists = ["/spec/pendingMaintenance", "/spec/owes"];
        let debts = lists.into_iter().flat_map(|list| items(member, list));
        let mut all: Vec<Self> = debts.map(|debt| pending(member, debt)).collect();
        let Some(mut running) = running else { return all };
        match all.iter().position(|one| one.kind == running.kind) {
            Some(at) => {
                if running.message.is_empty() {
                    running.message = std::mem::take(&mut all[at].message);
                }
                all[at] = running;
            }
            // It is owed by nobody: the replication of system keyspaces, for example.
            None => all.insert(0, running),
        }
        all
    }
}

fn of_member(member: &Value, kind: String, phase: &str) -> Maintenance {
    Maintenance {
        namespace: text(member, "/metadata/namespace"),
        member: text(member, "/metadata/name"),
        ring: text(member, "/spec/cluster"),
        kind,
        phase: phase.to_string(),
        progress: String::new(),
        message: String::new(),
    }
}

fn pending(member: &Value, debt: &Value) -> Maintenance {
    let message = text(debt, "/reason");
    Maintenance { message, ..of_member(member, text(debt, "/kind"), "Pending") }
}

/// The operation that the spec names, until its agent has reported its end.
fn running(member: &Value) -> Option<Maintenance> {
    let asked = member.pointer("/spec/operation").filter(|operation| operation.is_object())?;
    let told = member.pointer("/status/operation").filter(|told| told["id"] == asked["id"]);
    let is_over = told.is_some_and(|told| text(told, "/state") != "Running");
    if is_over {
        return None;
    }
    let percent = told.and_then(|told| told["progress"].as_u64());
    let progress = percent.map(|percent| format!("{percent}%")).unwrap_or_default();
    let message = told.map(|told| text(told, "/message")).unwrap_or_default();
    Some(Maintenance { progress, message, ..of_member(member, text(asked, "/kind"), "Running") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(member: &Value) -> Vec<String> {
        let line = |one: Maintenance| {
            format!("{} {} {} {}", one.kind, one.phase, one.progress, one.message)
        };
        Maintenance::of(member).into_iter().map(line).collect()
    }

    #[test]
    fn what_is_under_way_is_not_pending_besides() {
        let mut member = json!({ "spec": {
            "pendingMaintenance": [
                { "kind": "Repair", "reason": "it was down" },
                { "kind": "Cleanup", "reason": "b-1 joined" },
            ],
            "operation": { "id": "m-1", "kind": "Cleanup" },
        } });
        assert_eq!(told(&member), ["Repair Pending  it was down", "Cleanup Running  b-1 joined"]);
        member["status"]["operation"] = json!({ "id": "m-1", "state": "Running", "progress": 7 });
        assert_eq!(told(&member)[1], "Cleanup Running 7% b-1 joined");
        member["status"]["operation"]["state"] = json!("Failed");
        assert_eq!(told(&member)[1], "Cleanup Pending  b-1 joined", "it is asked for again");
        member["status"]["operation"] = json!({ "id": "m-0", "state": "Succeeded" });
        assert_eq!(told(&member)[1], "Cleanup Running  b-1 joined", "that was an earlier one");
    }

    #[test]
    fn what_nobody_owes_is_told_while_it_runs() {
        let member = json!({ "spec": { "operation": { "id": "k", "kind": "AlterReplication" } } });
        assert_eq!(told(&member), ["AlterReplication Running  "]);
        assert_eq!(told(&json!({ "spec": {} })), [] as [String; 0]);
    }
}
