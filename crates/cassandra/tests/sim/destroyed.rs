//! What was destroyed: pods and claims that the operator ended, and pods that a
//! StatefulSet ended because it should have fewer. Each with the reason.

use super::manifests::NAMESPACE;
use super::world::{World, cluster_key};
use palladion_api::ids::HostId;
use palladion_api::member::MemberState;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::operator::Write;
use palladion_plan::sim::store::{owners, text};
use palladion_plan::sim::{Activity, Done};
use serde_json::Value;

fn is_ending(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

impl World {
    /// The operator has ended a pod or a claim, if it is on its way out now.
    pub(super) fn note_destroyed(&mut self, done: &Done) {
        let what = match done.write {
            // What it takes from the ring is the same.
            Write::DeleteProcess | Write::Evict => "pod",
            Write::DeleteData => "claim",
            Write::Apply
            | Write::Create
            | Write::Patch
            | Write::CompareAndSet
            | Write::Issue
            | Write::Delete
            | Write::Status => {
                return;
            }
        };
        let name = done.object.name.clone();
        if self.store.get(&done.object).is_some_and(|object| !is_ending(object)) {
            return;
        }
        self.watch_stop(&name);
        self.note_unready(&name);
        let proof = done.proof.map_or("no proof", |kind| kind.name());
        self.destructive.push(format!("{what} {name}: {} ({proof})", done.doing));
        if done.write == Write::Evict {
            self.evicted.push(name);
        }
    }

    /// Controllers and kubelets; what StatefulSets end is noted.
    pub(super) fn step_kubernetes(&mut self) -> Activity {
        let in_place = |(key, pod): (&ObjectKey, &std::sync::Arc<Value>)| {
            let set = owners(pod).find(|o| o["kind"] == "StatefulSet")?;
            let set = set["name"].as_str()?.to_string();
            (key.namespace == NAMESPACE && !is_ending(pod))
                .then(|| (key.clone(), text(pod, "/metadata/uid").to_string(), set))
        };
        let before: Vec<_> = self.store.list(kinds::POD).filter_map(in_place).collect();
        let activity = self.kube.step(&mut self.store);
        for (pod, uid, set) in before {
            let is_ended = |p: &Value| is_ending(p) && text(p, "/metadata/uid") == uid;
            if self.store.get(&pod).is_some_and(|p| is_ended(p)) {
                self.ended_by_set(&pod, &set);
            }
        }
        activity
    }

    /// A set ends a pod: not one of a full member, unless a person wants it.
    fn ended_by_set(&mut self, pod: &ObjectKey, set: &str) {
        let key = ObjectKey::new(kinds::STATEFUL_SET, &pod.namespace, set);
        if self.store.get(&key).is_none_or(|s| is_ending(s)) {
            // It goes with its owner.
            return;
        }
        let member = &pod.name;
        let server = self.ring.servers.values().find(|s| s.member == *member);
        let record = self.store.get(&ObjectKey::new(kinds::MEMBER, &pod.namespace, member));
        let recorded = record.map(|m| HostId::new(text(m, "/spec/hostID")));
        let hosts = server.and_then(|s| s.host_id.clone()).into_iter().chain(recorded);
        let is_full = hosts
            .filter_map(|host| self.ring.seats.get(&host))
            .any(|seat| seat.state == MemberState::Normal);
        let cluster = self.store.get(&cluster_key());
        let is_stop = cluster.is_none_or(|c| c["spec"]["run"] == "Stopped");
        let by_hand = self.scaled_by_hand.contains(set);
        if is_full && !is_stop && !by_hand {
            let words = format!("{set} ends the pod of {member}, a full member of the ring");
            self.ring.breaches.push(words);
        }
        let why = match is_full {
            true => "a full member",
            false => "no member of the ring",
        };
        self.destructive.push(format!("pod {member}: {set} should have fewer ({why})"));
    }
}
