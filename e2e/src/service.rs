//! A cluster of a service under test, of whatever kind: its object, its members and its
//! pods, in a namespace that has its name.

#![expect(clippy::missing_panics_doc, reason = "test helpers: a panic is a failed test")]

mod volumes;

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use palladion_testbed::audit::{AuditEntry, AuditMark};
use serde_json::{Value, json};

use crate::audits::is_write;
use crate::bed::{OPERATOR_USER, bed, text, wait_for};
use crate::machines::Cordoned;
use crate::story::is_soak;
use crate::zoned::operator_requests;

/// Members are started, or leave, one after the other.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// What is done every some seconds is seen in this time.
const REST: Duration = Duration::from_secs(10);
/// What is done every some minutes in this one.
const LONG_REST: Duration = Duration::from_secs(600);

/// Assert that the operator asks for nothing while nothing happens.
pub fn operator_rests() {
    // Its last words may be on their way.
    wait_for("the operator to rest", Duration::from_secs(60), || {
        let mark = bed().cluster.audit_mark()?;
        thread::sleep(Duration::from_secs(5));
        Ok(operator_requests(mark)?.is_empty().then_some(()))
    })
    .expect("rest");
    let mark = bed().cluster.audit_mark().expect("the audit log");
    thread::sleep(if is_soak() { LONG_REST } else { REST });
    let asked = operator_requests(mark).expect("the audit log");
    assert_eq!(asked, Vec::<String>::new(), "at rest");
}

/// A name that no writer has had, of this run of the tests or of one before it: what it writes
/// is not taken for what another has written.
pub fn name_of_a_writer() -> String {
    static WRITERS: AtomicU32 = AtomicU32::new(0);
    let number = WRITERS.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{number}", jiff::Timestamp::now().as_millisecond())
}

/// What the operator and the agents have written of a service.
#[derive(Debug, Default)]
pub struct Wrote {
    /// Times that a status was written.
    pub status: usize,
    /// All that is neither a status nor an event: who, what, of which object.
    pub more: Vec<String>,
}

/// A line of the spec with which every member has a node of its own.
pub fn apart(label: &str, name: &str) -> String {
    format!(
        "placement: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{{label}: {name}}}}}}}]}}}}"
    )
}

/// A cluster of a service.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// Its kind, as kubectl takes it.
    pub kind: &'static str,
    /// What stands between its name and the number of a member.
    pub infix: &'static str,
    /// Its namespace and its name.
    pub name: &'static str,
    /// Longest wait for anything that it should do.
    pub patience: Duration,
}

impl Service {
    /// Apply a manifest of it in a fresh namespace.
    pub fn create(&self, manifest: &str) {
        bed().fresh_namespace(self.name).expect("a namespace");
        self.apply(manifest);
    }

    /// Apply a manifest of it.
    pub fn apply(&self, manifest: &str) {
        bed().apply(self.name, manifest).expect("accepted");
    }

    /// The object.
    pub fn owner(&self) -> Result<Value> {
        bed().get(self.name, self.kind, self.name)?.context("the object is gone")
    }

    /// Its status.
    pub fn status(&self) -> Value {
        self.owner().expect("the object")["status"].take()
    }

    /// Change its spec.
    pub fn patch_spec(&self, spec: &Value) {
        let patch = json!({ "spec": spec });
        bed().patch(self.name, self.kind, self.name, &patch).expect("patch");
    }

    /// Wait for something of the object, which is returned.
    pub fn wait(&self, what: &str, test: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let found = wait_for(what, self.patience, || {
            last = self.owner()?;
            Ok(test(&last).then(|| last.clone()))
        });
        found.unwrap_or_else(|e| panic!("{e:#}; status: {:#}", last["status"]))
    }

    /// A member.
    pub fn member(&self, ordinal: u32) -> Value {
        let name = self.member_name(ordinal);
        let member = bed().get(self.name, "servicemember", &name).expect("get");
        member.unwrap_or_else(|| panic!("there is no member {name}"))
    }

    /// The name of a member and of its pod.
    pub fn member_name(&self, ordinal: u32) -> String {
        format!("{}-{}-{ordinal}", self.name, self.infix)
    }

    /// Where clients reach the members of record at a port, by what the status says to
    /// dependents.
    pub fn addresses(&self, port: &str) -> Vec<SocketAddrV4> {
        self.members_of_record(port).into_iter().map(|(_, address)| address).collect()
    }

    /// The same with the names of the members, which are those of their pods.
    pub fn members_of_record(&self, port: &str) -> Vec<(String, SocketAddrV4)> {
        let status = self.status();
        let port = status["service"]["ports"][port].as_u64().expect("a port");
        let nodes = status["service"]["nodes"].as_array().cloned().unwrap_or_default();
        let member = |node: &Value| {
            let address = format!("{}:{port}", text(node, "/address"));
            let parsed = address.parse().unwrap_or_else(|e| panic!("{address}: {e}"));
            (text(node, "/name").to_string(), parsed)
        };
        nodes.iter().map(member).collect()
    }

    /// Uids of the pods by name.
    pub fn pods(&self) -> BTreeMap<String, String> {
        let pods = bed().list(self.name, "pods").expect("list pods");
        let both = |p: &Value| {
            (text(p, "/metadata/name").to_string(), text(p, "/metadata/uid").to_string())
        };
        pods.iter().map(both).collect()
    }

    /// Restart the servers of all members in their pods, and wait until each has said so.
    pub fn restart(&self, token: &str, members: u32) {
        self.patch_spec(&json!({ "restartToken": token }));
        for ordinal in 0..members {
            wait_for("a server with the token", self.patience, || {
                let done = &self.member(ordinal)["status"]["server"]["restartToken"];
                Ok((done == token).then_some(()))
            })
            .unwrap_or_else(|e| panic!("{}: {e:#}", self.member_name(ordinal)));
        }
    }

    /// Wait until each of these pods was replaced by another of its name.
    pub fn wait_new(&self, before: &BTreeMap<String, String>) {
        self.wait("all pods to be new", |_| {
            let now = self.pods();
            now.len() == before.len() && before.iter().all(|(name, uid)| now.get(name) != Some(uid))
        });
    }

    /// Everything below the mount of a member's volume is gone, marker and ledger too, and its
    /// pod ends.
    pub fn wipe(&self, ordinal: u32, mount: &str) {
        let pod = self.member_name(ordinal);
        let wipe = format!("find {mount} -mindepth 1 -delete 2>/dev/null; find {mount} -type f");
        let left = bed().exec(self.name, &pod, &["sh", "-c", &wipe]).expect("wipe");
        println!("left on the volume of {pod}: {:?}", left.trim());
        self.delete_pod(ordinal, 1);
    }

    /// Delete the pod of a member, with so many seconds to end.
    pub fn delete_pod(&self, ordinal: u32, seconds: u32) {
        let (pod, name) = (self.member_name(ordinal), self.name);
        let words = format!("delete pod {pod} -n {name} --wait=false --grace-period={seconds}");
        bed().kubectl(&words).expect("delete");
    }

    /// The name of the node that a member's pod is on.
    pub fn node_of(&self, ordinal: u32) -> String {
        let node = bed().node_of(self.name, &self.member_name(ordinal)).expect("its node");
        assert!(!node.is_empty(), "{} is on no node", self.member_name(ordinal));
        node
    }

    /// Stop members, and keep them away until what is returned is dropped: their nodes take
    /// no pods, and no other node has their volumes.
    pub fn keep_away(&self, ordinals: &[u32]) -> Cordoned<'static> {
        let nodes: Vec<String> = ordinals.iter().map(|ordinal| self.node_of(*ordinal)).collect();
        let away = bed().cordon(&nodes).expect("cordoned");
        for ordinal in ordinals {
            self.delete_pod(*ordinal, 1);
        }
        for ordinal in ordinals {
            let pod = self.member_name(*ordinal);
            wait_for("a pod that finds no node", self.patience, || {
                let pod = bed().get(self.name, "pod", &pod)?.unwrap_or_default();
                let is_waiting = pod["spec"]["nodeName"].is_null() && pod["spec"].is_object();
                Ok((is_waiting && pod["metadata"]["deletionTimestamp"].is_null()).then_some(()))
            })
            .unwrap_or_else(|e| panic!("{pod}: {e:#}"));
        }
        away
    }

    /// What the operator and the agents have asked to write in its namespace since then.
    ///
    /// # Errors
    /// The audit log cannot be read.
    pub fn wrote(&self, since: AuditMark) -> Result<Wrote> {
        let agents = format!("system:serviceaccount:{}:", self.name);
        let mut wrote = Wrote::default();
        for user in [OPERATOR_USER, &agents] {
            for entry in bed().cluster.audit_entries(since, user)? {
                if entry.namespace != self.name || !is_write(&entry) {
                    continue;
                }
                match (entry.subresource.as_str(), entry.resource.as_str()) {
                    ("status", _) => wrote.status += 1,
                    (_, "events") => {}
                    (part, kind) => {
                        let AuditEntry { user, verb, name, .. } = &entry;
                        wrote.more.push(format!("{user} {verb} {kind}/{name} {part}"));
                    }
                }
            }
        }
        Ok(wrote)
    }

    /// Give the annotation of the owner by which a user answers what it asks.
    pub fn annotate(&self, annotation: &str) {
        let (kind, name) = (self.kind, self.name);
        bed()
            .kubectl(&format!("annotate {kind} {name} -n {name} --overwrite {annotation}"))
            .expect("annotate");
    }

    /// Remove the namespace, without waiting for it: the next test has its own.
    pub fn end(self) {
        let words = format!("delete namespace {} --wait=false", self.name);
        bed().kubectl(&words).expect("clean up");
    }
}
