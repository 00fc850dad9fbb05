//! A mind for tests: a `Toy` with `spec.count` wants so many ConfigMaps that say
//! `spec.value`, and one `spec.once` that is created and left alone. With `spec.unless` nothing is applied while there is a ConfigMap of that name. Its epoch is kept in its status and fences every write.

use palladion_api::labels;
use palladion_api::rights::Right;
use palladion_api::words::Message;
use palladion_plan::issue::{Order, Placed};
use palladion_plan::proof::{MakesProofs, Proof, ProofKind};
use palladion_plan::{
    Event, EventType, Fence, Hazard, IfRefused, Keep, Loss, Mind, Object, ObjectKey, Plan,
    Precondition, Propagation, Reason, Resource, Route, Snapshot, Step, Wait, Watch,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const TOY: Resource = Resource::namespaced("engine.test", "v1", "Toy", "toys");
pub const CONFIG_MAP: Resource = Resource::namespaced("", "v1", "ConfigMap", "configmaps");
pub const NODE: Resource = Resource::cluster("", "v1", "Node", "nodes");
pub const POD: Resource = Resource::namespaced("", "v1", "Pod", "pods");
pub const OWNER: &str = "engine.test/toy";

/// How long the first decision about a busy toy takes.
pub const BUSY: Duration = Duration::from_secs(16);
/// How long each decision about an endless toy takes.
pub const ENDLESS: Duration = Duration::from_secs(4);

/// Names of the toys for which a decision that takes long has begun.
pub static BEGUN: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Decisions about counted toys that are being made, and the most that were at once.
pub static AT_ONCE: Mutex<(usize, usize)> = Mutex::new((0, 0));

fn takes_long(owner: &Object, time: Duration) {
    BEGUN.lock().unwrap().push(owner.meta.name.clone());
    std::thread::sleep(time);
}

fn has_begun(owner: &Object) -> bool {
    BEGUN.lock().unwrap().contains(&owner.meta.name)
}

fn counted() {
    {
        let mut at_once = AT_ONCE.lock().unwrap();
        at_once.0 += 1;
        at_once.1 = at_once.1.max(at_once.0);
    }
    std::thread::sleep(Duration::from_millis(100));
    AT_ONCE.lock().unwrap().0 -= 1;
}

pub struct ToyMind;

impl Mind for ToyMind {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn owner(&self) -> Resource {
        TOY
    }

    fn watches(&self) -> Vec<Watch> {
        let watch =
            |resource, selector, route| Watch { resource, selector, keep: Keep::Everything, route };
        vec![
            watch(TOY, "", Route::Owner),
            watch(CONFIG_MAP, "app.kubernetes.io/managed-by=palladion", Route::Label(OWNER)),
            watch(NODE, "", Route::Every),
        ]
    }

    fn rights(&self) -> &'static [Right] {
        &[]
    }

    fn references(&self, owner: &Object) -> Vec<ObjectKey> {
        let name = owner.str_at("/spec/reference");
        name.map(|name| ObjectKey::new(CONFIG_MAP, &owner.meta.namespace, name))
            .into_iter()
            .collect()
    }

    fn hazards(&self) -> &'static [Hazard] {
        &[]
    }

    fn open_work(&self) -> &'static [&'static str] {
        &["/status/turn"]
    }

    fn decide(&self, snapshot: &Snapshot) -> Plan {
        let owner = &snapshot.owner;
        match owner.str_at("/spec/behaviour") {
            Some("panic") => panic!("as the spec says"),
            Some("lawless") => return lawless(),
            // The first time only, and in real time, as something that is computed.
            Some("busy") if !has_begun(owner) => takes_long(owner, BUSY),
            Some("endless") => takes_long(owner, ENDLESS),
            Some("counted") => counted(),
            _ => {}
        }
        let (maps, nodes) = match (snapshot.all(CONFIG_MAP), snapshot.all(NODE)) {
            (Ok(maps), Ok(nodes)) => (maps, nodes.len()),
            (Err(why), _) | (_, Err(why)) => {
                return Plan { status: json!({"unknown": why}), ..Plan::default() };
            }
        };
        let seen = owner.at("/status/epoch").cloned().unwrap_or(Value::Null);
        if seen.as_i64().unwrap_or(0) < snapshot.epoch {
            let claim = Step::CompareAndSet {
                status: json!({"epoch": snapshot.epoch}),
                seen: vec![("/status/epoch".to_string(), seen)],
                lock: None,
                doing: "take the epoch".to_string(),
                event: None,
                counted: None,
            };
            return Plan { steps: vec![claim], ..Plan::default() };
        }
        let mut all = steps(snapshot, maps);
        let parts = vec![all.len()];
        all.extend(certificates(owner));
        Plan {
            steps: all,
            parts,
            status: status(snapshot, maps, nodes),
            events: told(owner, maps),
            ..wake(snapshot)
        }
    }
}

/// With `spec.about`, an event about the ConfigMap of that name besides.
fn told(owner: &Object, maps: &[Arc<Object>]) -> Vec<Event> {
    let about = owner.str_at("/spec/about");
    let map = maps.iter().find(|m| Some(m.meta.name.as_str()) == about);
    let event = Event::of(EventType::Normal, Reason::Synced, Message::quoted("it is there"));
    map.map(|map| event.also_about(CONFIG_MAP, &map.meta)).into_iter().collect()
}

fn wake(snapshot: &Snapshot) -> Plan {
    let seconds = snapshot.owner.int_at("/spec/wakeSeconds");
    let wait = |s| Wait {
        until: Some(snapshot.now + jiff::SignedDuration::from_secs(s)),
        ..Wait::new(Reason::WaitingForPod, Message::quoted("for the time"))
    };
    Plan { waits: seconds.map(wait).into_iter().collect(), ..Plan::default() }
}

fn steps(snapshot: &Snapshot, maps: &[Arc<Object>]) -> Vec<Step> {
    let owner = &snapshot.owner;
    let count = owner.int_at("/spec/count").unwrap_or(0);
    let fence = Fence {
        object: ObjectKey::new(TOY, &owner.meta.namespace, &owner.meta.name),
        pointer: "/status/epoch".to_string(),
        expected: json!(snapshot.epoch),
        lock: None,
    };
    let unless = owner.str_at("/spec/unless").map(|name| Fence {
        object: ObjectKey::new(CONFIG_MAP, &owner.meta.namespace, name),
        pointer: String::new(),
        expected: Value::Null,
        lock: None,
    });
    let mut steps: Vec<Step> = Vec::new();
    for number in 0..count {
        let name = format!("{}-{number}", owner.meta.name);
        let precondition = match maps.iter().find(|m| m.meta.name == name) {
            Some(map) => Precondition::Uid(map.meta.uid.clone()),
            None => Precondition::Absent,
        };
        steps.push(Step::Apply {
            key: ObjectKey::new(CONFIG_MAP, &owner.meta.namespace, &name),
            object: map(owner, &name),
            precondition,
            fences: std::iter::once(&fence).chain(&unless).cloned().collect(),
            proof: None,
            doing: format!("apply ConfigMap {name}"),
            event: None,
            if_refused: match owner.str_at("/spec/behaviour") {
                Some("alone") => IfRefused::StandsAlone,
                Some("pairs") => IfRefused::LeavesOutNext,
                _ => IfRefused::EndsPlan,
            },
        });
    }
    if let Some(name) = owner.str_at("/spec/once") {
        let key = ObjectKey::new(CONFIG_MAP, &owner.meta.namespace, name);
        let object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": name, "namespace": owner.meta.namespace },
            "data": { "value": owner.at("/spec/value") },
        });
        steps.push(
            Step::create(key, object, format!("create ConfigMap {name}")).fenced(fence.clone()),
        );
    }
    let wanted = |m: &Object| (0..count).any(|n| m.meta.name == format!("{}-{n}", owner.meta.name));
    for map in maps.iter().filter(|m| !wanted(m)) {
        steps.push(Step::Delete {
            key: ObjectKey::new(CONFIG_MAP, &owner.meta.namespace, &map.meta.name),
            precondition: Precondition::Uid(map.meta.uid.clone()),
            loss: Loss::Nothing,
            propagation: Propagation::Background,
            fences: vec![fence.clone()],
            proof: (owner.str_at("/spec/behaviour") == Some("proven")).then(|| proof(snapshot)),
            doing: format!("delete ConfigMap {}", map.meta.name),
            event: None,
        });
    }
    steps
}

/// With `spec.request`, an authority of the toy, and a certificate in its spec if
/// there is none.
fn certificates(owner: &Object) -> Option<Step> {
    let request = owner.str_at("/spec/request")?;
    let life = jiff::SignedDuration::from_hours(24);
    if let Some(forget) = owner.str_at("/spec/forget") {
        let doing = "forget the authority";
        let is_known = owner.at("/status/authorities/client-1").is_some_and(|a| !a.is_null());
        let step = || Step::forget_authority(TOY, &owner.meta, "client-1", forget, doing);
        return is_known.then(step);
    }
    let Some(known) = owner.str_at("/status/authorities/client-1/fingerprint") else {
        let doing = "make the authority";
        // Only one that was made since then is taken.
        if let Some(since) = owner.str_at("/spec/since") {
            let order = Order::Authority { life: life * 100, since: since.parse().ok() };
            let next = (order, json!({ "rotation": "of a toy" }));
            return Some(Step::make_next_authority(TOY, &owner.meta, "client-1", next, doing));
        }
        return Some(Step::make_authority(TOY, &owner.meta, "client-1", life * 100, doing));
    };
    let order = Order::Certificate {
        fingerprint: known.to_string(),
        request: request.to_string(),
        names: owner.str_at("/spec/certified").map(str::to_string).into_iter().collect(),
        addresses: vec!["127.0.0.1".to_string()],
        life,
    };
    let into = Placed { patch: json!({ "spec": {} }), at: "/spec" };
    let certify = || Step::certify(TOY, &owner.meta, "client-1", order, into, "certify");
    owner.at("/spec/certificate").is_none().then(certify)
}

/// What these tests make proofs by.
struct Toys;

impl MakesProofs for Toys {}

fn proof(snapshot: &Snapshot) -> Proof {
    Proof::new(Toys, ProofKind::Idle, Vec::new(), snapshot.now, "it is not wanted".to_string())
}

fn map(owner: &Object, name: &str) -> Value {
    let mut data = json!({"value": owner.str_at("/spec/value").unwrap_or_default()});
    if let Some(extra) = owner.str_at("/spec/extra") {
        data["extra"] = json!(extra);
    }
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": name, "namespace": owner.meta.namespace,
            "labels": {OWNER: owner.meta.name, labels::MANAGED_BY: labels::PALLADION},
            "ownerReferences": [{
                "apiVersion": "engine.test/v1", "kind": "Toy", "name": owner.meta.name,
                "uid": owner.meta.uid, "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "data": data,
    })
}

fn status(snapshot: &Snapshot, maps: &[Arc<Object>], nodes: usize) -> Value {
    let count = snapshot.owner.int_at("/spec/count").unwrap_or(0);
    let made = i64::try_from(maps.len()).unwrap();
    let (ready, reason) =
        if made == count { ("True", "UpToDate") } else { ("False", "CreatingObjects") };
    let words = snapshot.owner.str_at("/spec/words").unwrap_or_default();
    let reference = snapshot.references.values().next().map(|r| match r.known() {
        Ok(Some(object)) => object.str_at("/data/value").unwrap_or("present").to_string(),
        Ok(None) => "missing".to_string(),
        Err(why) => why.to_string(),
    });
    let since = "2026-01-01T00:00:00Z";
    let ready = json!({"type": "Ready", "status": ready, "reason": reason,
        "message": format!("{made} of {count}{words}"), "lastTransitionTime": since});
    let degraded = snapshot.owner.str_at("/spec/degraded").map(|status| {
        json!({"type": "Degraded", "status": status, "reason": "UpToDate", "message": "well",
            "lastTransitionTime": since})
    });
    let conditions = std::iter::once(ready).chain(degraded);
    json!({
        "made": made,
        "nodes": nodes,
        "pruned": snapshot.owner.str_at("/spec/pruned"),
        "unknown": null,
        "reference": reference,
        "failure": snapshot.failure.as_ref().map(|f| json!({
            "class": format!("{:?}", f.class),
            "message": f.message,
            "all": f.all.iter().map(|one| one.object.to_string()).collect::<Vec<_>>(),
        })),
        "conditions": conditions.collect::<Vec<_>>(),
    })
}

/// A plan that deletes a pod as if nothing could be lost.
fn lawless() -> Plan {
    let step = Step::Delete {
        key: ObjectKey::new(POD, "n", "precious"),
        precondition: Precondition::Uid("uid-1".into()),
        loss: Loss::Nothing,
        propagation: Propagation::Background,
        fences: Vec::new(),
        proof: None,
        doing: "delete a pod without a word".to_string(),
        event: None,
    };
    Plan { steps: vec![step], status: json!({"told": "yes"}), ..Plan::default() }
}
