//! What people and nature do.

use super::volume::{Kind, Volume};
use super::world::{NAMESPACE, World, cluster_key};
use palladion_plan::sim::kubernetes::{Disk, Machine};
use palladion_plan::{ObjectKey, Precondition, Propagation, Resource, Subresource};
use palladion_rabbitmq::resources as kinds;
use serde_json::{Value, json};

pub fn pod(ordinal: i32) -> String {
    format!("demo-rmq-{ordinal}")
}

/// The name of a member's node.
pub fn node(ordinal: i32) -> String {
    format!("rabbit@{}.demo-rmq-nodes.messaging.svc.cluster.local", pod(ordinal))
}

impl World {
    /// The uid of the pod of this ordinal, if its containers run.
    pub fn uid(&self, ordinal: i32) -> Option<String> {
        let pods = self.kube.pods(&self.store);
        pods.iter().find(|p| p.key.name == pod(ordinal)).map(|p| p.uid.to_string())
    }

    pub fn exists(&self, resource: Resource, name: &str) -> bool {
        self.store.get(&ObjectKey::new(resource, NAMESPACE, name)).is_some()
    }

    /// Somebody deletes an object.
    pub fn delete(&mut self, resource: Resource, name: &str) {
        self.tell(&format!("{} {name} is deleted", resource.kind));
        let key = ObjectKey::new(resource, NAMESPACE, name);
        let uid = self.store.get(&key).map(|o| o["metadata"]["uid"].clone()).unwrap_or_default();
        let uid = palladion_api::ids::Uid::new(uid.as_str().unwrap_or_default());
        self.store.delete(&key, &Precondition::Uid(uid), Propagation::Background).unwrap();
    }

    /// The disk of a member.
    pub fn disk(&mut self, ordinal: i32) -> &mut Disk<Volume> {
        let key = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{}", pod(ordinal)));
        let claim = self.store.get(&key).unwrap();
        let name = claim["spec"]["volumeName"].as_str().unwrap().to_string();
        self.kube.disks.get_mut(&name).unwrap()
    }

    /// Everything on the disk of a member is gone, its process with it.
    pub fn wipe(&mut self, ordinal: i32) {
        self.tell(&format!("the volume of {} is wiped", pod(ordinal)));
        self.kill(ordinal);
        self.disk(ordinal).content = Volume::default();
    }

    /// Only the node's data is gone; marker and ledger stay.
    pub fn lose_data(&mut self, ordinal: i32) {
        self.tell(&format!("the data of {} is lost", pod(ordinal)));
        self.kill(ordinal);
        self.disk(ordinal).content.data = None;
    }

    /// The management API of this node hangs until a restart that is asked for mends it; wait
    /// until everything has come to its end.
    pub fn hang_until_restarted(&mut self, ordinal: i32) {
        self.hangs.insert(pod(ordinal));
        self.patch_spec(&json!({ "restartToken": "x" }));
        self.until(|w| w.member(ordinal)["spec"]["restartToken"] == "x");
        self.hangs.clear();
        self.settle();
    }

    /// The node process of a member ends, and its agent forgets what it had in memory.
    pub fn kill(&mut self, ordinal: i32) {
        if let Some(uid) = self.uid(ordinal) {
            self.rabbit.stop(&uid, &mut self.kube.disks);
            self.agents.remove(&uid);
        }
    }

    /// The agent of a member ends, and another begins: its node runs on.
    pub fn restart_agent(&mut self, ordinal: i32) {
        if let Some(uid) = self.uid(ordinal) {
            self.tell(&format!("the agent of {} starts again", pod(ordinal)));
            self.agents.remove(&uid);
        }
    }

    /// A client declares a quorum queue on so many nodes as there are, at most `wanted`.
    pub fn declare(&mut self, queue: &str, wanted: usize) {
        let running = self.rabbit.running();
        let on: Vec<String> = running.iter().take(wanted).map(|p| p.name.clone()).collect();
        self.rabbit.declare(queue, Kind::Quorum, &on, wanted, &mut self.kube.disks);
    }

    /// A client declares a queue on these members.
    pub fn declare_on(&mut self, queue: &str, kind: Kind, on: &[i32]) {
        let names: Vec<String> = on.iter().map(|ordinal| node(*ordinal)).collect();
        self.rabbit.declare(queue, kind, &names, names.len(), &mut self.kube.disks);
    }

    /// Ordinals of members with a replica of a queue.
    pub fn replicas(&self, queue: &str) -> Vec<i32> {
        let queues = self.rabbit.queues(&self.kube.disks);
        let replicas = queues.get(queue).map(|q| q.replicas.clone()).unwrap_or_default();
        (0..9).filter(|ordinal| replicas.contains(&node(*ordinal))).collect()
    }

    /// A client deletes a queue, and gives up its messages.
    pub fn delete_queue(&mut self, queue: &str) {
        self.rabbit.allowed_to_go.insert(queue.to_string());
        for disk in self.kube.disks.values_mut() {
            if let Some(data) = disk.content.data.as_mut() {
                data.queues.remove(queue);
                data.logs.remove(queue);
            }
        }
    }

    /// The last messages are known to the first two members alone; then the machine of the
    /// first goes down and the volume of the second is wiped, and the third is back.
    pub fn wipe_the_only_other_one_that_knows(&mut self) {
        self.kube.set_machine(&mut self.store, "n3", Machine::Down);
        assert!(self.uid(2).is_none(), "one machine holds one node");
        self.pass(5);
        self.kube.set_machine(&mut self.store, "n1", Machine::Down);
        self.wipe(1);
        self.kube.set_machine(&mut self.store, "n3", Machine::Up);
    }

    /// A person has a node boot without waiting for the tables of others.
    pub fn force_boot(&mut self, ordinal: i32) {
        self.disk(ordinal).content.data.as_mut().unwrap().ran_on.clear();
    }

    /// Nothing passes between these members.
    pub fn cut(&mut self, a: i32, b: i32) {
        self.tell(&format!("nothing passes between {} and {}", pod(a), pod(b)));
        self.rabbit.cut.insert((node(a), node(b)));
    }

    pub fn heal(&mut self) {
        self.tell("the network is whole again");
        self.rabbit.cut.clear();
    }

    /// The nonce that the status asks a user for.
    #[track_caller]
    pub fn nonce(&self) -> String {
        let ask = self.status()["ask"].clone();
        ask["nonce"]
            .as_str()
            .unwrap_or_else(|| panic!("nothing is asked\n{}", self.last_words()))
            .to_string()
    }

    pub fn member(&self, ordinal: i32) -> Value {
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, &pod(ordinal));
        self.store.get(&key).map(|m| Value::clone(m)).unwrap_or_default()
    }

    pub fn annotate_cluster(&mut self, key: &str, value: &str) {
        let patch = json!({ "metadata": { "annotations": { key: value } } });
        self.store.merge(&cluster_key(), &patch, Subresource::None).unwrap();
    }

    /// A user says that the volume of a member is lost.
    pub fn give_up_volume(&mut self, ordinal: i32) {
        let volume = self.member(ordinal)["spec"]["volumeID"].clone();
        let patch = json!({ "metadata": { "annotations": { "palladion.dev/replace": volume } } });
        self.patch_member(&pod(ordinal), &patch);
    }

    /// Uids of all pods, by name.
    pub fn pods(&self) -> Vec<(String, String)> {
        let pods = self.kube.pods(&self.store);
        pods.iter().map(|p| (p.key.name.clone(), p.uid.to_string())).collect()
    }
}
