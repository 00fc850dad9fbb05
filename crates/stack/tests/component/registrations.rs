//! A Registration from its spec to its calls: whom it calls for, at which address, with
//! which path and body, and what its conditions say.

mod disturbed;
mod removal;
mod selected;
mod target;

use crate::world::schema;
use jiff::{SignedDuration, Timestamp};
use palladion_api::Reason;
use palladion_api::ids::Uid;
use palladion_api::registration::CallKind;
use palladion_plan::words::exchange::Failed;
use palladion_plan::workload::pod;
use palladion_plan::{
    Answer, Captured, Exchange, ExchangeKey, Meta, Mind, Object, Observed, Resource, Scheme,
    Snapshot,
};
use palladion_stack::RegistrationMind;
use palladion_stack::resources as kinds;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn spec() -> Value {
    json!({
        "target": { "component": "config", "port": "api" },
        "select": [{ "kind": "Component", "name": "control" }],
        "lookup": { "method": "GET", "path": "/nodes/{{ pod.name }}", "capture": { "id": "/id" } },
        "register": {
            "path": "/nodes",
            "body": "{\"name\": \"{{ pod.name }}\", \"ip\": \"{{ pod.ip }}\"}",
        },
        "deregister": { "method": "DELETE", "path": "/nodes/{{ captured.id }}" },
    })
}

struct World {
    now: Timestamp,
    owner: Object,
    objects: BTreeMap<Resource, Vec<Object>>,
    answers: BTreeMap<ExchangeKey, Answer>,
    decisions: u32,
    epoch: i64,
}

fn object(name: &str, labels: Value, body: Value) -> Object {
    let labels = serde_json::from_value(labels).unwrap();
    let meta = Meta { name: name.into(), namespace: "shop".into(), labels, ..Meta::default() };
    Object { meta, body }
}

/// A Component with so many members on record, and their pods.
fn component(world: &mut World, name: &str, members: u32, active: bool) {
    let node = |n: u32| json!({ "name": format!("{name}-{n}"), "address": format!("10.96.0.{n}") });
    let service = json!({
        "active": active, "wanted": members, "ready": members,
        "nodes": (0..members).map(node).collect::<Vec<_>>(), "ports": { "api": 8082 },
    });
    let mut component = object(name, json!({}), json!({ "status": { "service": service } }));
    component.meta.uid = Uid::new(format!("uid-of-{name}"));
    let all = world.objects.entry(kinds::COMPONENT).or_default();
    all.retain(|other| other.meta.name != name);
    all.push(component);
    for n in 0..members {
        let status = json!({
            "podIP": format!("10.1.0.{n}"), "phase": "Running",
            "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": world.now }],
        });
        let pod = json!({ "spec": { "nodeName": "node-1" }, "status": status });
        let labels = json!({ "palladion.dev/component": name });
        let pod = object(&format!("{name}-{n}"), labels, pod::project(&pod));
        world.objects.entry(kinds::POD).or_default().push(pod);
    }
}

impl World {
    fn new(spec: Value) -> Self {
        let mut world = Self {
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            owner: object("all", json!({}), json!({ "spec": spec })),
            objects: [(kinds::GROUP, vec![]), (kinds::OPERATOR_CONFIG, vec![])].into(),
            answers: BTreeMap::new(),
            decisions: 0,
            epoch: 1,
        };
        component(&mut world, "config", 2, true);
        component(&mut world, "control", 1, true);
        world
    }

    fn snapshot(&mut self) -> Snapshot {
        self.decisions += 1;
        let known = |all: &Vec<Object>| Observed::Known {
            value: all.iter().cloned().map(Arc::new).collect(),
            as_of: self.now,
        };
        Snapshot {
            now: self.now,
            epoch: self.epoch,
            nonce: palladion_api::ids::Nonce::new(format!("n{}", self.decisions)),
            owner: Arc::new(self.owner.clone()),
            objects: self.objects.iter().map(|(kind, all)| (*kind, known(all))).collect(),
            references: BTreeMap::new(),
            probes: BTreeMap::new(),
            lock: palladion_plan::LockFact::Unasked,
            exchanges: self.answers.clone(),
            failure: None,
            settings: Default::default(),
        }
    }

    /// One decision; its status is stored, and the calls that are wanted then are handed out.
    fn decide(&mut self) -> Vec<Exchange> {
        self.owner.body["status"] = self.decided();
        schema::fits(kinds::REGISTRATION.kind, &self.owner.body["status"]);
        self.wanted()
    }

    /// The status that one decision makes of the stored one.
    fn decided(&mut self) -> Value {
        let snapshot = self.snapshot();
        let patch = RegistrationMind.decide(&snapshot).status;
        let mut status = self.owner.body["status"].clone();
        for (field, value) in patch.as_object().into_iter().flatten() {
            status[field] = value.clone();
            if let (true, Some(status)) = (value.is_null(), status.as_object_mut()) {
                status.remove(field);
            }
        }
        status
    }

    /// The calls that the stored status asks for.
    fn wanted(&mut self) -> Vec<Exchange> {
        let snapshot = self.snapshot();
        RegistrationMind.exchanges(&snapshot).expect("all is known")
    }

    fn answer(&mut self, call: &Exchange, end: Result<Captured, Failed>) -> Vec<Exchange> {
        self.answers = [(call.key.clone(), Answer { at: self.now, end })].into();
        self.decide()
    }

    fn says(&self, type_: &str) -> (String, String) {
        let all = self.owner.body["status"]["conditions"].as_array().unwrap();
        let found = all.iter().find(|c| c["type"] == type_).unwrap();
        let text = |field: &str| found[field].as_str().unwrap_or_default().to_string();
        (format!("{} {}", text("status"), text("reason")), text("message"))
    }
}

fn good(code: u16, id: Option<&str>) -> Result<Captured, Failed> {
    let values = id.map(|id| ("id".to_string(), id.to_string())).into_iter().collect();
    Ok(Captured { code, values })
}

#[test]
fn a_pod_is_asked_for_registered_and_taken_out_by_what_the_service_calls_it() {
    let mut world = World::new(spec());
    let asked = world.decide();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(world.says("Progressing").0, format!("True {}", Reason::Registering));
    let call = &asked[0];
    assert_eq!((call.method, call.path.as_str()), ("GET", "/nodes/control-0"));
    assert_eq!((call.address.as_str(), call.port), ("10.96.0.0", 8082));
    assert_eq!((call.host.as_str(), &call.scheme), ("config-client.shop.svc", &Scheme::Http));
    let fence = call.fence.clone().expect("a fence");
    assert_eq!(fence.pointer, "/status/entries/0/call/nonce");
    assert_eq!(world.owner.body.pointer(&fence.pointer), Some(&fence.expected));
    let told = world.answer(call, Err(Failed::Code { code: 404 }));
    assert_eq!((told[0].method, told[0].path.as_str()), ("POST", "/nodes"));
    let body: Value = serde_json::from_str(told[0].body.as_deref().unwrap()).unwrap();
    assert_eq!(body, json!({ "name": "control-0", "ip": "10.1.0.0" }));
    assert_eq!(told[0].accept, [200, 201, 204, 409]);
    // It answers without a value, so it is asked.
    let asked = world.answer(&told[0], good(409, None));
    assert_eq!(asked[0].method, "GET");
    assert_eq!(world.answer(&asked[0], good(200, Some("a/b c"))), []);
    assert_eq!(world.owner.body["status"]["registered"], "1/1");
    assert_eq!(world.says("Available").0, "True UpToDate");
    assert_eq!(world.says("Progressing").0, "False UpToDate");
    // Its pod is gone, with all that was known of it.
    world.objects.get_mut(&kinds::POD).unwrap().retain(|pod| pod.meta.name != "control-0");
    component(&mut world, "control", 0, false);
    assert_eq!(world.decide(), []);
    world.now += SignedDuration::from_secs(61);
    let removed = world.decide();
    assert_eq!((removed[0].method, removed[0].path.as_str()), ("DELETE", "/nodes/a%2Fb%20c"));
    assert_eq!(world.answer(&removed[0], good(404, None)), []);
    assert!(world.owner.body["status"]["entries"].is_null());
}

#[test]
fn until_the_target_is_active_nobody_is_called_and_it_is_said_why() {
    let mut world = World::new(spec());
    component(&mut world, "config", 2, false);
    assert_eq!(world.decide(), []);
    let (said, message) = world.says("Progressing");
    assert_eq!(said, format!("True {}", Reason::WaitingForTarget));
    assert!(message.contains("Component config"), "{message}");
    world.objects.get_mut(&kinds::COMPONENT).unwrap().retain(|c| c.meta.name != "config");
    assert_eq!(world.decide(), []);
    assert!(world.says("Progressing").1.contains("does not exist"));
}

#[test]
fn what_keeps_calls_from_being_done_is_told_with_the_next_step() {
    let mut world = World::new(spec());
    let call = world.decide().remove(0);
    let secret = "api".to_string();
    let why = "forbidden".to_string();
    world.answer(&call, Err(Failed::NoCredentials { secret, why }));
    let (said, message) = world.says("Degraded");
    assert_eq!(said, format!("True {}", Reason::CredentialsUnreadable));
    assert!(message.contains("Secret api") && message.contains("Role of namespace shop"));
    for attempt in 1..4 {
        world.now += SignedDuration::from_secs(61);
        let call = world.decide().remove(0);
        // After a failure another pod of the target is asked.
        assert_eq!(call.address, format!("10.96.0.{}", attempt % 2));
        let address = "10.96.0.0:8082".to_string();
        world.answer(&call, Err(Failed::TimedOut { address }));
    }
    let (said, message) = world.says("Degraded");
    assert_eq!(said, format!("True {}", Reason::ApiUnreachable));
    assert!(message.contains("port 8082 of config-client.shop.svc"), "{message}");
    world.now += SignedDuration::from_secs(61);
    let call = world.decide().remove(0);
    let said = "no such project".to_string();
    world.answer(&call, Err(Failed::Answered { code: 400, said }));
    let (said, message) = world.says("Degraded");
    assert_eq!(said, format!("True {}", Reason::RegistrationFailed));
    assert!(message.contains("no such project"), "{message}");
}

#[test]
fn a_call_that_cannot_be_made_is_told_and_is_not_sent() {
    let mut spec = spec();
    spec["lookup"]["capture"] = json!({});
    spec["register"]["capture"] = json!({ "id": "/id" });
    let mut world = World::new(spec);
    let call = world.decide().remove(0);
    // It is there already, so that nobody says what it is called.
    world.answer(&call, good(200, None));
    component(&mut world, "control", 0, false);
    world.decide();
    world.now += SignedDuration::from_secs(61);
    assert_eq!(world.decide(), []);
    world.decide();
    let (said, message) = world.says("Degraded");
    assert_eq!(said, format!("True {}", Reason::RegistrationFailed));
    assert!(message.contains("deregister.path"), "{message}");
}

#[test]
fn a_template_that_fails_is_refused_with_its_name_and_line() {
    let mut wrong = spec();
    wrong["register"]["body"] = json!("{\n\"name\": \"{{ pod.nmae }}\"}");
    let mut world = World::new(wrong);
    assert_eq!(world.decide(), []);
    let (said, message) = world.says("Accepted");
    assert_eq!(said, format!("False {}", Reason::TemplateInvalid));
    assert!(message.contains("`register.body` fails in line 2"), "{message}");
    let mut wrong = spec();
    wrong["register"]["body"] = json!("name: {{ pod.name }}");
    let mut world = World::new(wrong);
    world.decide();
    assert!(world.says("Accepted").1.contains("no JSON"), "{}", world.says("Accepted").1);
}

#[test]
fn a_pause_gives_up_what_is_under_way_and_what_is_unknown_stops_nothing() {
    let mut world = World::new(spec());
    let open = world.decide();
    assert_eq!(open.len(), 1);
    let mut snapshot = world.snapshot();
    let why = "the API server is away".to_string();
    snapshot.objects.insert(kinds::COMPONENT, Observed::Unknown { why });
    assert_eq!(RegistrationMind.exchanges(&snapshot), None, "what is under way goes on");
    assert_eq!(RegistrationMind.decide(&snapshot).status, Value::Null);
    world.owner.body["spec"]["paused"] = json!(true);
    assert_eq!(world.decide(), []);
    assert_eq!(world.says("Paused").0, "True Paused");
    let entry = &world.owner.body["status"]["entries"][0];
    assert_eq!((&entry["state"], &entry["call"]), (&json!("Queued"), &Value::Null));
}

#[test]
fn more_pods_than_a_status_holds_are_told() {
    let mut world = World::new(spec());
    component(&mut world, "control", 1003, true);
    world.decide();
    let (said, message) = world.says("Degraded");
    assert_eq!(said, format!("True {}", Reason::TooManyEntries));
    assert!(message.starts_with("3 pods are left out"), "{message}");
}

#[test]
fn node_agents_are_known_by_their_nodes() {
    let mut spec = spec();
    spec["select"] = json!([{ "kind": "NodeAgentGroup", "name": "kernel" }]);
    let mut world = World::new(spec);
    world.objects.insert(kinds::GROUP, vec![object("kernel", json!({}), json!({ "spec": {} }))]);
    let pod = json!({ "spec": { "nodeName": "worker-1" }, "status": { "podIP": "10.1.0.9" } });
    let labels = json!({ "palladion.dev/node-agent-group": "kernel" });
    let pod = object("kernel-x7z", labels, pod::project(&pod));
    world.objects.get_mut(&kinds::POD).unwrap().push(pod);
    let asked = world.decide();
    assert_eq!(asked[0].path, "/nodes/worker-1");
    assert_eq!(asked[0].key.name, format!("{} worker-1/worker-1", CallKind::Lookup.as_str()));
}
