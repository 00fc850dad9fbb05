//! The one builder of clusters for unit tests: members whose nodes serve and agree, to be
//! changed by the test.

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

/// A cluster in the making.
#[derive(Clone)]
pub(crate) struct ClusterFixture {
    /// Manifest of the cluster.
    pub spec: Value,
    /// Its status.
    pub status: Value,
    /// Spec and status of each member.
    pub members: Vec<(Value, Value)>,
}

/// So many nodes, all of which run.
pub(crate) fn a_cluster(nodes: usize) -> ClusterFixture {
    let all: Vec<String> = (0..nodes).map(node).collect();
    let member = |n: usize| {
        let spec = json!({
            "system": "RabbitMQ", "cluster": "demo", "address": format!("10.0.0.{}", n + 1),
            "revisions": ["r"], "volumeID": format!("v{n}"), "fileSystem": "f",
            "nodeName": node(n),
        });
        let view = json!({
            "node": node(n), "running": all, "members": all,
            "flags": { "enabled": ["quorum_queue"] },
        });
        let status = json!({
            "agent": { "version": "1", "protocol": 1, "podUID": format!("p{n}"), "revision": "r", "node": "n1" },
            "volume": { "volumeID": format!("v{n}"), "state": "Joined", "fileSystem": "f", "starts": 1 },
            "server": { "state": "Running", "since": NOW, "version": "3.10.8" },
            "nodeName": node(n),
            "broker": view,
            "evidence": {
                "nonce": "q", "readAt": NOW, "volumeID": format!("v{n}"), "broker": view,
                "queues": { "nodes": [], "behind": { "count": 0 } },
            },
        });
        (spec, status)
    };
    ClusterFixture {
        spec: json!({ "nodes": nodes, "version": "3.10.8" }),
        status: json!({ "epoch": 1 }),
        members: (0..nodes).map(member).collect(),
    }
}

/// The name of a member's node.
pub(crate) fn node(n: usize) -> String {
    format!("rabbit@demo-rmq-{n}.demo-rmq-nodes.messaging.svc.cluster.local")
}

impl ClusterFixture {
    /// Change what a member's agent reports by itself, and its answer, alike.
    pub(crate) fn views(mut self, of: &[usize], change: impl Fn(&mut Value)) -> Self {
        for n in of {
            change(&mut self.members[*n].1["broker"]);
            change(&mut self.members[*n].1["evidence"]["broker"]);
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
            let name = format!("demo-rmq-{n}");
            let body = json!({ "spec": spec, "status": status });
            put(kinds::MEMBER, object(&name, &format!("m{n}"), body));
            let ready = json!({ "type": "Ready", "status": "True", "lastTransitionTime": NOW });
            let running = json!({
                "spec": { "nodeName": "n1" },
                "status": { "phase": "Running", "conditions": [ready] },
            });
            put(kinds::POD, object(&name, &format!("p{n}"), pod::project(&running)));
            let service = json!({ "spec": { "clusterIP": format!("10.0.0.{}", n + 1) } });
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
        namespace: "messaging".into(),
        uid: Uid::new(uid),
        resource_version: "1".into(),
        generation: 1,
        ..Meta::default()
    };
    meta.labels.insert(labels::MEMBER.into(), name.into());
    meta.labels.insert(labels::CONTROLLER_REVISION.into(), "r".into());
    Arc::new(Object { meta, body })
}
