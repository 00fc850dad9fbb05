//! Which reasons people see of the cluster, its racks, members and tasks, and in
//! events: each story names those that it must show.

use crate::every::a_ring;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster, two_racks};
use crate::sim::ring::Login;
use crate::sim::world::{Link, Tick, cluster_key};
use crate::tasks::{ask, key as task_key, replace};
use palladion_api::reasons::Reason;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// All values of the field `reason` below this one.
fn reasons_in(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("reason").and_then(Value::as_str).map(str::to_string));
            fields.values().for_each(|field| reasons_in(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| reasons_in(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Go on to the end. These are shown on the way, or by the end.
fn shows(mut world: World, reasons: &[Reason]) -> World {
    let mut shown = BTreeSet::new();
    for _ in 0..20_000 {
        let tick = world.tick().unwrap_or_else(|why| panic!("{why}\n{}", world.last_words()));
        for kind in [kinds::CLUSTER, kinds::MEMBER, kinds::TASK] {
            world
                .store
                .list(kind)
                .for_each(|(_, object)| reasons_in(&object["status"], &mut shown));
        }
        if tick == Tick::Rest {
            break;
        }
    }
    shown.extend(world.events.iter().map(|reason| reason.as_str().to_string()));
    let missing: Vec<_> = reasons.iter().filter(|r| !shown.contains(r.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?} not in {shown:?}\n{}", world.last_words());
    world
}

/// A condition of a rack: status, reason and message.
fn of_rack(world: &World, rack: &str, type_: &str) -> Option<String> {
    let cluster = world.store.get(&cluster_key())?;
    let conditions = cluster["status"]["racks"][rack]["conditions"].as_array()?;
    let found = conditions.iter().find(|c| c["type"] == type_)?;
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_string();
    Some(format!("{} {}: {}", text("status"), text("reason"), text("message")))
}

#[test]
fn the_creation_of_a_ring() {
    let mut cluster = two_racks();
    cluster["spec"]["bootstrapGraceSeconds"] = json!(30);
    let reasons = [
        Reason::CreatingObjects,
        Reason::Initializing,
        Reason::Joining,
        Reason::Starting,
        Reason::SystemKeyspaces,
        Reason::WaitingForGrace,
        Reason::WaitingForMember,
        Reason::WaitingForPermit,
    ];
    let world = shows(World::new().with(&cluster), &reasons);
    assert_eq!(of_rack(&world, "a", "MemberLeaving"), None, "it never was");
}

#[test]
fn a_growth() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let world = shows(world, &[Reason::MaintenancePending, Reason::Joining, Reason::Synced]);
    assert_eq!(of_rack(&world, "a", "MemberLeaving"), None, "it never was");
}

#[test]
fn a_shrink_and_the_condition_of_its_rack() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    let leaving = "True MemberLeaving: member demo-dc1-a-1 is leaving the ring";
    world.until(|w| of_rack(w, "a", "MemberLeaving").as_deref() == Some(leaving));
    let reasons = [Reason::MemberLeaving, Reason::Decommissioned, Reason::WaitingForEvidence];
    let world = shows(world, &reasons);
    let stays = "False UpToDate: no member of this rack is leaving the ring";
    assert_eq!(of_rack(&world, "a", "MemberLeaving").as_deref(), Some(stays));
    assert_eq!(of_rack(&world, "b", "MemberLeaving"), None, "it never was");
}

#[test]
fn a_replacement_and_the_condition_of_its_rack() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    let replacing = "True MemberReplacing: member demo-dc1-a-1 is being replaced";
    let mut shown = world.clone();
    shown.until(|w| of_rack(w, "a", "MemberReplacing").as_deref() == Some(replacing));
    let world = shows(world, &[Reason::VolumeLost, Reason::MemberReplacing]);
    let stays = "False UpToDate: no member of this rack is being replaced";
    assert_eq!(of_rack(&world, "a", "MemberReplacing").as_deref(), Some(stays));
}

#[test]
fn a_rollout() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    // A pod that is deleted meanwhile has the new revision before its turn.
    world.until(|w| w.writes.iter().any(|w| w.contains("restart")));
    world.delete(kinds::POD, "demo-dc1-b-0");
    shows(world, &[Reason::WaitingForRevision]);
}

#[test]
fn a_member_that_people_stop_and_start() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "restartToken": "all" }));
    world.until(|w| w.writes.iter().any(|w| w.contains("begin the restart")));
    world.want(LAST, &json!({ "run": "Stopped" }));
    let reasons = [Reason::WaitingForTurn, Reason::MemberStopping, Reason::StoppedByIntent];
    let mut world = shows(world, &reasons);
    world.want(LAST, &json!({ "run": "Running" }));
    shows(world, &[Reason::MemberStarting]);
}

#[test]
fn a_join_that_fails_and_a_ring_that_is_stopped() {
    let mut world = a_ring(2, 1);
    let mut stopped = world.clone();
    world.ring.unlucky.insert("demo-dc1-a-2".into());
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    shows(world, &[Reason::JoinFailed]);
    stopped.patch_spec(&json!({ "run": "Stopped" }));
    shows(stopped, &[Reason::Stopping, Reason::Stopped]);
}

#[test]
fn data_that_no_ledger_accounts_for() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    world.lose_ledger(LAST);
    shows(world, &[Reason::VolumeForeign]);
}

#[test]
fn a_volume_that_grows() {
    let mut world = a_ring(2, 1);
    let mut racks = a_cluster(&[("a", 2), ("b", 1)]);
    let claim = json!([{ "metadata": { "name": "data" }, "spec": { "resources": { "requests": { "storage": "20Gi" } } } }]);
    racks["spec"]["datacenter"]["racks"][0]["storage"] = json!({ "volumeClaimTemplates": claim });
    world.set_racks(&racks);
    world.kube.resizing_is_stuck = true;
    let mut world = shows(world, &[Reason::VolumeGrowing]);
    world.kube.resizing_is_stuck = false;
    world.annotate_cluster("example.org/driver", "restarted");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_claim_template_that_cannot_be_followed() {
    let mut world = a_ring(2, 1);
    let mut racks = a_cluster(&[("a", 2), ("b", 1)]);
    let claim = json!([{ "metadata": { "name": "data" }, "spec": { "resources": { "requests": { "storage": "5Gi" } } } }]);
    racks["spec"]["datacenter"]["racks"][0]["storage"] = json!({ "volumeClaimTemplates": claim });
    world.set_racks(&racks);
    let world = shows(world, &[Reason::ClaimTemplateKept]);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True ClaimTemplateKept: rack a"), "{said}");
}

#[test]
fn a_deletion() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "deletionPolicy": "Delete" }));
    world.settle();
    world.delete_cluster();
    shows(world, &[Reason::Deleting]);
}

#[test]
fn a_rack_that_nobody_wants_and_whose_set_is_gone() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "paused": true }));
    world.settle();
    world.set_racks(&a_cluster(&[("a", 2)]));
    world.delete(kinds::STATEFUL_SET, "demo-dc1-b");
    world.patch_spec(&json!({ "paused": false }));
    let world = shows(world, &[Reason::RackNotInSpec]);
    let said = world.condition("Degraded");
    assert!(said.contains("demo-dc1-b-0") && said.contains("add the rack"), "{said}");
}

#[test]
fn memory_that_is_not_enough() {
    let mut world = a_ring(2, 1);
    let resources = json!({ "limits": { "memory": "64Mi" } });
    let mut racks = a_cluster(&[("a", 2), ("b", 1)]);
    racks["spec"]["datacenter"]["racks"][0]["resources"] = resources;
    world.set_racks(&racks);
    let world = shows(world, &[Reason::NotEnoughMemory]);
    let said = world.condition("Accepted");
    assert!(said.starts_with("False NotEnoughMemory") && said.contains("64Mi"), "{said}");
}

#[test]
fn a_pod_whose_agent_does_not_report() {
    let mut world = a_ring(2, 1);
    world.agent_is_cut("demo-dc1-a-2", Link::Cut);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let world = shows(world, &[Reason::WaitingForPod]);
    let said = world.condition("Progressing");
    assert!(said.contains("demo-dc1-a-2 is waiting to join"), "{said}");
}

#[test]
fn a_server_that_ends_by_itself_again_and_again() {
    let mut world = a_ring(2, 1);
    world.ring.unlucky.insert(LAST.into());
    world.kill_server(LAST);
    shows(world, &[Reason::ServerFailed]);
}

#[test]
fn a_config_map_that_cannot_be_read() {
    let mut world = a_ring(2, 1);
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "ours", "namespace": NAMESPACE }, "data": { "cassandra.yaml": "{ not: [ yaml" } });
    let key = ObjectKey::new(kinds::CONFIG_MAP, NAMESPACE, "ours");
    world.store.create(&key, &map).unwrap();
    let mut racks = a_cluster(&[("a", 2), ("b", 1)]);
    racks["spec"]["datacenter"]["racks"][0]["configMapName"] = json!("ours");
    world.set_racks(&racks);
    let world = shows(world, &[Reason::ConfigMapInvalid]);
    let said = world.condition("Accepted");
    assert!(said.starts_with("False ConfigMapInvalid") && said.contains("ours"), "{said}");
}

#[test]
fn a_certificate_that_the_agent_does_not_trust() {
    let mut world = a_ring(2, 1);
    world.ring.login = Login::CertificateRefused;
    world.pass(600);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True CertificateRefused"), "{said}");
}

#[test]
fn a_container_that_fails_beside_the_server() {
    let mut world = a_ring(2, 1);
    let key = ObjectKey::new(kinds::POD, NAMESPACE, LAST);
    let mut status = world.store.get(&key).expect("the pod should exist")["status"].clone();
    status["containerStatuses"] = json!([{ "name": "agent", "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container" } } }]);
    world.store.put_status(&key, status).expect("the pod should exist");
    shows(world, &[Reason::PodFailing]);
}

#[test]
fn a_stale_twin() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    world.exchange_volume(LAST);
    let world = shows(world, &[Reason::StaleTwin]);
    assert_eq!(world.normal(), 2, "{}", world.last_words());
}

/// There is no room to set the data aside of a member that had left.
#[test]
fn data_of_a_member_that_left_is_in_the_way() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.settle();
    world.ring.free.insert("demo-dc1-a-1".to_string(), 0);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    let world = shows(world, &[Reason::RetainedVolumeInTheWay]);
    let said = world.condition("Degraded");
    assert!(said.contains("demo-dc1-a-1") && said.contains("expand the volume"), "{said}");
}

#[test]
fn tasks_that_are_refused_and_done() {
    let mut world = spread(2, 1);
    ask(&mut world, "alive", &replace(LAST));
    let mut world = shows(world, &[Reason::TaskRefused]);
    world.break_volume(LAST);
    world.pass(60);
    ask(&mut world, "lost", &replace(LAST));
    shows(world, &[Reason::TaskDone]);
}

#[test]
fn tasks_that_are_aborted_and_that_lose_their_purpose() {
    let mut world = spread(2, 1);
    let node = world.node_of("demo-dc1-b-0");
    world.break_volume(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(60);
    ask(&mut world, "lost", &replace(LAST));
    world.pass(60);
    let mut aborted = world.clone();
    let abort = json!({ "spec": { "abort": true } });
    aborted.store.merge(&task_key("lost"), &abort, Subresource::None).unwrap();
    shows(aborted, &[Reason::TaskAborted]);
    // The volume is mounted again: its member lives.
    world.mount(LAST);
    world.heal();
    shows(world, &[Reason::TaskFailed]);
}
