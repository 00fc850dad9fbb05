//! The one builder of ensembles for unit tests: members whose servers serve and agree,
//! to be changed by the test.

use crate::resources as kinds;
use jiff::Timestamp;
use palladion_api::ids::{Nonce, Uid};
use palladion_api::labels;
use palladion_plan::workload::pod;
use palladion_plan::{Meta, Object, Observed, Resource, Snapshot};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The time of every snapshot.
pub(crate) const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// An ensemble in the making.
#[derive(Clone)]
pub(crate) struct EnsembleFixture {
    /// Manifest of the cluster.
    pub spec: Value,
    /// Its status.
    pub status: Value,
    /// Spec and status of each member.
    pub members: Vec<(Value, Value)>,
}

/// So many servers, all of which vote.
pub(crate) fn an_ensemble(servers: usize) -> EnsembleFixture {
    let config: Vec<Value> = (0..servers).map(|n| server(n, "Participant")).collect();
    let member = |n: usize| {
        let spec = json!({
            "system": "ZooKeeper", "cluster": "demo", "address": address(n), "revisions": ["r"],
            "volumeID": format!("v{n}"), "fileSystem": "f", "serverID": n + 1,
        });
        let mode = if n == 0 { "Leader" } else { "Follower" };
        let view = json!({
            "serverID": n + 1, "mode": mode, "configVersion": "7", "servers": config,
        });
        let status = json!({
            "agent": { "version": "1", "protocol": 1, "podUID": format!("p{n}"), "revision": "r", "node": "n1" },
            "volume": { "volumeID": format!("v{n}"), "state": "Joined", "fileSystem": "f", "starts": 1 },
            "server": { "state": "Running", "since": NOW, "version": "3.9.3" },
            "ensemble": view,
            "evidence": { "nonce": "q", "readAt": NOW, "volumeID": format!("v{n}"), "ensemble": view },
        });
        (spec, status)
    };
    EnsembleFixture {
        spec: json!({ "servers": servers, "version": "3.9.3" }),
        status: json!({ "epoch": 1 }),
        members: (0..servers).map(member).collect(),
    }
}

/// A server of a configuration.
pub(crate) fn server(n: usize, role: &str) -> Value {
    json!({ "serverID": n + 1, "address": address(n), "role": role })
}

fn address(n: usize) -> String {
    format!("10.0.0.{}", n + 1)
}

impl EnsembleFixture {
    /// Change what a member's agent reports by itself, and its answer, alike.
    pub(crate) fn views(mut self, of: &[usize], change: impl Fn(&mut Value)) -> Self {
        for n in of {
            change(&mut self.members[*n].1["ensemble"]);
            change(&mut self.members[*n].1["evidence"]["ensemble"]);
        }
        self
    }

    /// Change the status of a member.
    pub(crate) fn status_of(mut self, member: usize, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.members[member].1);
        self
    }

    /// What is known of it.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut objects: BTreeMap<Resource, Vec<Arc<Object>>> =
            kinds::watches().iter().map(|w| (w.resource, Vec::new())).collect();
        let mut put = |resource, object| objects.entry(resource).or_default().push(object);
        for (n, (spec, status)) in self.members.iter().enumerate() {
            let name = format!("demo-zk-{n}");
            let body = json!({ "spec": spec, "status": status });
            put(kinds::MEMBER, object(&name, &format!("m{n}"), body));
            let ready = json!({ "type": "Ready", "status": "True", "lastTransitionTime": NOW });
            let running = json!({
                "spec": { "nodeName": "n1" },
                "status": { "phase": "Running", "conditions": [ready] },
            });
            put(kinds::POD, object(&name, &format!("p{n}"), pod::project(&running)));
            let service = json!({ "spec": { "clusterIP": address(n) } });
            put(kinds::SERVICE, object(&name, &format!("s{n}"), service));
            let claim = json!({ "volume": format!("pv{n}") });
            put(kinds::CLAIM, object(&format!("data-{name}"), &format!("c{n}"), claim));
        }
        let default = "storageclass.kubernetes.io/is-default-class";
        let mut class =
            Object { meta: Meta { name: "local".into(), ..Meta::default() }, body: json!({}) };
        class.meta.annotations.insert(default.into(), "true".into());
        put(kinds::STORAGE_CLASS, Arc::new(class));
        let known = |value| Observed::Known { value, as_of: NOW };
        Snapshot {
            now: NOW,
            epoch: 1,
            nonce: Nonce::from("fresh"),
            owner: object("demo", "u", json!({ "spec": self.spec, "status": self.status })),
            objects: objects.into_iter().map(|(kind, all)| (kind, known(all))).collect(),
            references: BTreeMap::new(),
            probes: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            lock: palladion_plan::LockFact::Unasked,
            failure: None,
            settings: Arc::new([("agentImage".to_string(), "agent:1".to_string())].into()),
        }
    }
}

fn object(name: &str, uid: &str, body: Value) -> Arc<Object> {
    let mut meta = Meta {
        name: name.into(),
        namespace: "coordination".into(),
        uid: Uid::new(uid),
        resource_version: "1".into(),
        generation: 1,
        ..Meta::default()
    };
    meta.labels.insert(labels::MEMBER.into(), name.into());
    meta.labels.insert(labels::CONTROLLER_REVISION.into(), "r".into());
    Arc::new(Object { meta, body })
}
