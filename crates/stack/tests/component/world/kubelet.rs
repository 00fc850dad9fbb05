//! The kubelet: it mounts what it has heard of, runs the agent's own gate in the
//! init container, and starts the service behind it.

use super::pods::{address, has_container, key_of_texts, labels, mounts_texts};
use super::{NAMESPACE, World, is_ready};
use jiff::{SignedDuration, Timestamp};
use palladion_agent_gate::reload::{Due, Taken};
use palladion_agent_gate::{Gate, Labels, Reload, Verdict};
use palladion_api::gate::{file_of_key, hash_of_files};
use palladion_api::ids::Uid;
use palladion_plan::sim::store::text;
use palladion_plan::{Mind, ObjectKey, Precondition, Propagation, Resource};
use palladion_stack::resources as kinds;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// From the deletion of a pod to its end.
const GRACE: SignedDuration = SignedDuration::from_secs(2);

/// So long a change may take from a dependency to a pod.
const HEARD: SignedDuration = SignedDuration::from_secs(1);

/// All nodes in one.
#[derive(Default)]
pub struct Kubelet {
    runs: BTreeMap<String, Run>,
    made: u32,
    /// So long a changed ConfigMap takes to reach a pod.
    pub map_delay: SignedDuration,
    map: Map,
    /// Pods that never get ready.
    pub sick: BTreeSet<String>,
    /// Pods whose files are not refreshed any more.
    pub frozen: BTreeSet<String>,
    /// Pods that find no node.
    pub unscheduled: BTreeSet<String>,
    /// Pods that run, and of which nobody reports anything.
    pub mute: BTreeSet<String>,
    /// Pods in which nothing is seen of their labels and files for a while.
    pub blind: BTreeSet<String>,
    /// From now on a pod whose gate opens is mute.
    pub silent_once_open: bool,
    /// Pods whose volumes are not there: none of their containers is started.
    pub unmounted: BTreeSet<String>,
    /// Pods in which no process has the name that is to be signalled.
    pub nameless: BTreeSet<String>,
    /// Pods whose node is gone: nobody ends them.
    pub dead: BTreeSet<String>,
    /// The nodes on which new pods come one after the other; without any, all come to one.
    pub rota: VecDeque<&'static str>,
    /// A quota on pods.
    pub quota: Option<i64>,
    /// An init container that something puts before the gate.
    pub put_before_the_gate: Option<String>,
    /// Every start of a service: pod, uid, hash of its files.
    pub starts: Vec<(String, String, String)>,
    /// Every signal: pod, hash of its files.
    pub signals: Vec<(String, String)>,
}

#[derive(Default)]
struct Map {
    now: BTreeMap<String, String>,
    /// Contents with the times at which pods see them.
    coming: Vec<(Timestamp, BTreeMap<String, String>)>,
}

/// A pod on its node.
struct Run {
    ip: String,
    files: BTreeMap<String, String>,
    id: String,
    since: Timestamp,
    gate: Gate,
    state: State,
    /// Hash of the files that the gate has let through, which is its last word.
    let_through: String,
    reload: Reload,
}

enum State {
    Gated,
    Serving,
    /// The gate has ended; another is started.
    Ended,
}

impl Kubelet {
    /// The pod's sandbox is made again: its init container runs once more, and
    /// its service stands still.
    pub fn restart_sandbox(&mut self, pod: &Value, now: Timestamp) {
        let uid = text(pod, "/metadata/uid");
        self.made += 1;
        let id = format!("containerd://{}", self.made);
        let run = self.runs.get_mut(uid).unwrap();
        run.begin(id, now, &labels(pod));
    }

    /// Where the scheduler puts the next pod that may come to any node.
    pub fn next_node(&mut self) -> String {
        self.rota.rotate_left(self.rota.len().min(1));
        self.rota.back().copied().unwrap_or("node-1").to_string()
    }

    fn settle_map(&mut self, map: BTreeMap<String, String>, now: Timestamp) {
        let newest = self.map.coming.last().map(|(_, map)| map).unwrap_or(&self.map.now);
        if *newest != map {
            self.map.coming.push((now + self.map_delay, map));
        }
        while self.map.coming.first().is_some_and(|(due, _)| *due <= now) {
            self.map.now = self.map.coming.remove(0).1;
        }
    }
}

impl Run {
    fn begin(&mut self, id: String, now: Timestamp, found: &Labels) {
        (self.id, self.since, self.state) = (id, now, State::Gated);
        self.gate = Gate::new(now.as_second(), found);
    }

    fn hash(&self, key: &str) -> String {
        let own = self.files.iter().filter_map(|(k, v)| Some((file_of_key(key, k)?, v.as_str())));
        hash_of_files(own)
    }
}

impl<M: Mind + Clone + Default> World<M> {
    pub fn restart_sandbox(&mut self, pod: &str) {
        let (pod, now) = (self.pod(pod), self.store.now);
        self.kubelet.restart_sandbox(&pod, now);
    }

    /// Asks for a pod to end, as `kubectl delete` does.
    pub fn end_pod(&mut self, pod: &str) {
        self.end(kinds::POD, pod);
    }

    /// As `kubectl delete` does it: what somebody uses goes later.
    pub fn end(&mut self, resource: Resource, name: &str) {
        let key = ObjectKey::new(resource, NAMESPACE, name);
        let uid = Uid::new(text(&self.get(resource, name).unwrap(), "/metadata/uid"));
        self.store.delete(&key, &Precondition::Uid(uid), Propagation::Background).unwrap();
        self.settle();
    }

    pub(super) fn run_kubelet(&mut self) {
        let texts = self.texts();
        self.kubelet.settle_map(texts, self.store.now);
        let pods: Vec<ObjectKey> = self.store.list(kinds::POD).map(|(k, _)| k.clone()).collect();
        for key in pods {
            let pod = Value::clone(self.store.get(&key).unwrap());
            self.run_pod(&key, &pod);
        }
    }

    fn run_pod(&mut self, key: &ObjectKey, pod: &Value) {
        let now = self.store.now;
        if let Ok(deleted) = text(pod, "/metadata/deletionTimestamp").parse::<Timestamp>() {
            if now >= deleted + GRACE && !self.kubelet.dead.contains(&key.name) {
                self.store.remove(key);
            }
            return;
        }
        let waits = self.kubelet.unmounted.contains(&key.name);
        if !pod["spec"]["nodeName"].is_string() || waits {
            return;
        }
        let uid = text(pod, "/metadata/uid").to_string();
        if !self.kubelet.runs.contains_key(&uid) {
            self.kubelet.made += 1;
            let number = self.kubelet.made;
            let run = Run {
                ip: address(pod, number),
                files: BTreeMap::new(),
                id: format!("containerd://{number}"),
                since: now,
                gate: Gate::new(now.as_second(), &labels(pod)),
                state: State::Gated,
                let_through: String::new(),
                reload: Reload::new(""),
            };
            self.kubelet.runs.insert(uid.clone(), run);
        }
        let is_frozen = self.kubelet.frozen.contains(&key.name);
        let mounted = match mounts_texts(pod) {
            true => self.kubelet.map.now.clone(),
            false => BTreeMap::new(),
        };
        let run = self.kubelet.runs.get_mut(&uid).unwrap();
        if !is_frozen {
            run.files = mounted;
        }
        if !self.kubelet.blind.contains(&key.name) {
            self.look(key, pod, &uid, is_frozen);
        }
        self.report(key, pod, &uid);
    }

    /// What runs in the pod looks at its labels and its files.
    fn look(&mut self, key: &ObjectKey, pod: &Value, uid: &str, is_frozen: bool) {
        let now = self.store.now.as_second();
        let run = self.kubelet.runs.get_mut(uid).unwrap();
        let mounted = run.hash(&key_of_texts(pod, &run.ip));
        let found = labels(pod);
        match run.state {
            State::Gated => match run.gate.look(&found, &mounted, now) {
                Verdict::Open => {
                    run.state = State::Serving;
                    run.reload = Reload::new(&mounted);
                    run.let_through.clone_from(&mounted);
                    self.kubelet.starts.push((key.name.clone(), uid.into(), mounted));
                    if self.kubelet.silent_once_open {
                        self.kubelet.mute.insert(key.name.clone());
                    }
                    self.started(key);
                }
                Verdict::Wait(_) => {}
                Verdict::End(_) => run.state = State::Ended,
            },
            State::Ended => {
                self.kubelet.made += 1;
                let id = format!("containerd://{}", self.kubelet.made);
                let now = self.store.now;
                self.kubelet.runs.get_mut(uid).unwrap().begin(id, now, &found);
            }
            State::Serving if !is_frozen => match run.reload.look(&found, &mounted, now) {
                Due::Nothing => {}
                Due::Signal if has_container(pod, "reload") => {
                    run.reload.signalled(&mounted);
                    self.kubelet.signals.push((key.name.clone(), mounted));
                }
                Due::Signal => run.reload.signalled(&mounted),
            },
            State::Serving => {
                let _ = run.reload.look(&found, &mounted, now);
            }
        }
    }

    /// No service starts while a dependency is away. What the kubelet mounts is a little late.
    fn started(&self, key: &ObjectKey) {
        let since = self.store.now - self.kubelet.map_delay - HEARD;
        let all_there = self.all_there.is_some_and(|at| at >= since);
        assert!(all_there, "{} started although a dependency was away", key.name);
    }

    fn report(&mut self, key: &ObjectKey, pod: &Value, uid: &str) {
        let run = &self.kubelet.runs[uid];
        if self.kubelet.mute.contains(&key.name) {
            return;
        }
        let is_sick = self.kubelet.sick.contains(&key.name)
            || text(pod, "/spec/containers/0/image").contains("bad");
        let is_late = run.reload.taken(self.store.now.as_second()) == Taken::Late
            || self.kubelet.nameless.contains(&key.name);
        let is_serving = matches!(run.state, State::Serving) && !is_sick && !is_late;
        let state = match run.state {
            State::Gated => json!({ "running": { "startedAt": run.since } }),
            State::Serving => {
                json!({ "terminated": { "exitCode": 0, "message": run.let_through } })
            }
            State::Ended => json!({ "terminated": { "exitCode": 1 } }),
        };
        let truth = if is_serving { "True" } else { "False" };
        let since = match is_ready(pod) == is_serving && pod["status"].is_object() {
            true => pod["status"]["conditions"][0]["lastTransitionTime"].clone(),
            false => json!(self.store.now),
        };
        let mut status = json!({
            "phase": if matches!(run.state, State::Serving) { "Running" } else { "Pending" },
            "podIP": run.ip,
            "conditions": [{ "type": "Ready", "status": truth, "lastTransitionTime": since }],
            "initContainerStatuses": [{ "name": "init", "containerID": run.id, "state": state }],
        });
        if has_container(pod, "reload") && matches!(run.state, State::Serving) {
            let running = json!({ "running": { "startedAt": run.since } });
            let name = &pod["spec"]["containers"][0]["name"];
            status["containerStatuses"] = json!([
                { "name": name, "ready": !is_sick, "state": running },
                { "name": "reload", "ready": !is_late, "state": running },
            ]);
        }
        let _ = self.store.put_status(key, status);
    }
}
