//! What people and nature do.

use super::volume::Volume;
use super::world::{NAMESPACE, World, cluster_key};
use palladion_plan::sim::kubernetes::{Disk, Machine};
use palladion_plan::{ObjectKey, Precondition, Propagation, Resource, Subresource};
use palladion_zookeeper::resources as kinds;
use serde_json::{Value, json};

pub fn pod(ordinal: i32) -> String {
    format!("demo-zk-{ordinal}")
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
        if let Some(uid) = self.uid(ordinal) {
            self.ensemble.stop(&uid);
            self.agents.remove(&uid);
        }
        self.disk(ordinal).content = Volume::default();
    }

    /// Only the server's data is gone; marker and ledger stay.
    pub fn lose_data(&mut self, ordinal: i32) {
        self.tell(&format!("the data of {} is lost", pod(ordinal)));
        if let Some(uid) = self.uid(ordinal) {
            self.ensemble.stop(&uid);
        }
        self.disk(ordinal).content.data = None;
    }

    /// Somebody adds a server to the configuration that no member accounts for; it does
    /// not run.
    pub fn add_stranger(&mut self, id: i64) {
        let version = self.ensemble.leader().unwrap().config.version + 1;
        let address = format!("10.9.9.{id}");
        for server in self.ensemble.servers.values_mut() {
            server.config.version = version;
            server.config.servers.insert(id, (address.clone(), true));
            if let Some(disk) = self.kube.disks.get_mut(&server.disk) {
                disk.content.file = Some(server.config.clone());
            }
        }
    }

    /// A process is stopped without its knowing.
    pub fn stop_process(&mut self, ordinal: i32) {
        self.tell(&format!("the server of {} is stopped", pod(ordinal)));
        let uid = self.uid(ordinal).unwrap();
        self.ensemble.stopped.insert(uid);
    }

    pub fn continue_all(&mut self) {
        self.tell("all servers go on");
        self.ensemble.stopped.clear();
    }

    /// The last writes are known to the first two members alone; then the machine of the
    /// first goes down and the volume of the second is wiped, and the third is back.
    pub fn wipe_the_only_other_one_that_knows(&mut self) {
        self.stop_process(2);
        self.pass(3);
        self.kube.set_machine(&mut self.store, "n1", Machine::Down);
        assert!(self.uid(0).is_none(), "one machine holds one server");
        self.wipe(1);
        self.continue_all();
    }

    /// The node that a member's pod is on.
    pub fn node_of(&self, ordinal: i32) -> Option<String> {
        let pod = self.store.get(&ObjectKey::new(kinds::POD, NAMESPACE, &pod(ordinal)))?;
        pod["spec"]["nodeName"].as_str().map(str::to_string)
    }

    /// A machine is switched off and its Node deleted.
    pub fn take_away(&mut self, node: &str) {
        self.tell(&format!("node {node} is switched off and deleted"));
        self.kube.take_away(&mut self.store, node);
    }

    /// It is switched on again.
    pub fn bring_back(&mut self, node: &str) {
        self.tell(&format!("node {node} is back"));
        self.kube.bring_back(&mut self.store, node, "z1");
    }

    /// The ordinal of the member that leads.
    pub fn leader(&self) -> i32 {
        let leader = self.ensemble.leader().unwrap().id;
        let name = self.status()["leader"].as_str().unwrap_or_default().to_string();
        let ordinal = name.rsplit('-').next().and_then(|n| n.parse().ok());
        ordinal.unwrap_or_else(|| panic!("server {leader} leads, and the status says {name:?}"))
    }

    /// IDs of servers that vote.
    pub fn voters(&self) -> Vec<i64> {
        self.ensemble.leader().map(|l| l.config.voters().into_iter().collect()).unwrap_or_default()
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
