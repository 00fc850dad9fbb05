//! What people and nature do to a cluster.

use super::manifests::NAMESPACE;
use super::ring::{Force, Phase};
use super::rows::Level;
use super::volume::{Remains, Volume};
use super::world::{Api, Link, World, cluster_key};
use jiff::SignedDuration;
use palladion_agent::render::Door;
use palladion_api::ids::{HostId, StaticAddress, VolumeId};
use palladion_api::member::{Liveness, MemberState, RingMember};
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Operator;
use palladion_plan::sim::kubernetes::{Disk, Machine, Mount};
use palladion_plan::{ObjectKey, Precondition, Propagation, Subresource};
use serde_json::{Value, json};

impl World {
    /// A person patches the spec.
    pub fn patch_spec(&mut self, patch: &Value) {
        self.tell(&format!("a person patches the spec: {patch}"));
        self.store
            .merge(&cluster_key(), &json!({ "spec": patch }), Subresource::None)
            .expect("the patch should be accepted");
    }

    /// A person changes the racks.
    pub fn set_racks(&mut self, cluster: &Value) {
        let racks = &cluster["spec"]["datacenter"]["racks"];
        let words = racks.as_array().into_iter().flatten();
        let words: Vec<_> =
            words.map(|r| format!("{} in rack {}", r["members"], r["name"])).collect();
        self.tell(&format!("a person wants {}", words.join(", ").replace('"', "")));
        let patch = json!({ "spec": { "datacenter": { "racks": racks } } });
        self.store
            .merge(&cluster_key(), &patch, Subresource::None)
            .expect("the racks should be accepted");
    }

    /// The status of the cluster, as it is stored.
    pub fn status(&self) -> Value {
        self.store.get(&cluster_key()).map(|known| known["status"].clone()).unwrap_or_default()
    }

    /// The status of the cluster is lost, as after a restore of etcd without it.
    pub fn erase_status(&mut self) {
        self.tell("the status of the cluster is erased");
        self.store.put_status(&cluster_key(), Value::Null).expect("the cluster should exist");
    }

    /// Every process on every machine ends at once; machines and pods come
    /// back, the API server and the operator stay away.
    pub fn power_cut(&mut self) {
        self.tell("power is lost everywhere");
        self.forget_processes();
        self.api = Api::Away;
    }

    /// A machine stops to answer, or comes back with its processes started anew.
    pub fn set_machine(&mut self, node: &str, machine: Machine) {
        self.tell(&format!("node {node} is {machine:?}"));
        self.kube.set_machine(&mut self.store, node, machine);
    }

    /// A machine burns, with its disks, and a person deletes its Node.
    pub fn lose_node(&mut self, node: &str) {
        self.tell(&format!("node {node} is lost and its Node deleted"));
        self.kube.delete_node(&mut self.store, node);
        self.ring.clients.disks_lost = true;
    }

    /// A machine stops to answer and a person deletes its Node.
    pub fn delete_node(&mut self, node: &str) {
        self.tell(&format!("Node {node} is deleted"));
        self.kube.forget_node(&mut self.store, node);
    }

    /// A machine registers its Node, for the first time or again.
    pub fn register_node(&mut self, node: &str, zone: &str) {
        self.tell(&format!("Node {node} is registered"));
        self.kube.add_node(&mut self.store, node, zone);
    }

    /// The volume of a member cannot be mounted any more, and it is down.
    pub fn break_volume(&mut self, member: &str) {
        self.delete(kinds::POD, member);
        self.unmount(member);
        self.give_up(member);
    }

    /// Clients write new rows at QUORUM; as many as are acknowledged come back.
    pub fn write(&mut self, rows: u32) -> u32 {
        self.write_at(rows, Level::Quorum, "")
    }

    /// Clients write new rows through a member.
    pub fn write_at(&mut self, rows: u32, level: Level, through: &str) -> u32 {
        self.ring.now = self.store.now;
        (0..rows)
            .map(|_| {
                let row = self.ring.new_row();
                u32::from(self.ring.put(through, row, None, level, &mut self.kube.disks))
            })
            .sum()
    }

    /// Clients delete rows at QUORUM; as many as are acknowledged come back.
    pub fn delete_rows(&mut self, rows: impl IntoIterator<Item = u32>) -> u32 {
        let now = self.store.now;
        self.ring.now = now;
        rows.into_iter()
            .map(|row| {
                u32::from(self.ring.put("", row, Some(now), Level::Quorum, &mut self.kube.disks))
            })
            .sum()
    }

    /// The clock of a member's machine is ahead from now on.
    pub fn set_clock(&mut self, member: &str, ahead: SignedDuration) {
        self.tell(&format!("the clock of {member} is {ahead:#} ahead"));
        self.clocks.insert(member.to_string(), ahead);
        for (agent, _) in self.agents.values_mut().filter(|(a, _)| a.pod.key.name == member) {
            agent.clock = ahead;
        }
    }

    /// A person says what is wanted of a member; the last wish counts.
    pub fn want(&mut self, member: &str, wanted: &Value) {
        self.tell(&format!("a person wants of {member}: {wanted}"));
        let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
        self.store
            .merge(&key, &json!({ "spec": { "wanted": wanted } }), Subresource::None)
            .expect("the wish should be accepted");
    }

    /// What people want of members and does not hold: member, wish and reason.
    pub fn unmet(&self) -> Vec<String> {
        let cluster = self.store.get(&cluster_key()).cloned().unwrap_or_default();
        let unmet = cluster["status"]["unmet"].as_array().cloned().unwrap_or_default();
        let text = |u: &Value, field: &str| u[field].as_str().unwrap_or_default().to_string();
        let words = |u| format!("{} {} {}", text(u, "member"), text(u, "wish"), text(u, "reason"));
        unmet.iter().map(words).collect()
    }

    /// Does a server of this member run?
    pub fn runs(&self, member: &str) -> bool {
        self.ring.servers.values().any(|s| s.member == member)
    }

    /// The agents that run speak an older version of the member protocol.
    pub fn set_protocol(&mut self, protocol: u32) {
        self.tell(&format!("the agents speak version {protocol} of the member protocol"));
        for (agent, _) in self.agents.values_mut() {
            agent.protocol = protocol;
        }
    }

    /// The agent of a member that runs speaks this version of the member protocol.
    pub fn set_protocol_of(&mut self, member: &str, protocol: u32) {
        self.tell(&format!("the agent of {member} speaks version {protocol} of the protocol"));
        let agents = self.agents.values_mut().map(|(agent, _)| agent);
        for agent in agents.filter(|agent| agent.pod.key.name == member) {
            agent.protocol = protocol;
        }
    }

    /// The clock of the machine on which the newest leader runs.
    pub fn set_leaders_clock(&mut self, ahead: SignedDuration) {
        self.tell(&format!("the clock of the leader is {ahead:#} ahead"));
        if let Some(leader) = self.operators.last_mut() {
            leader.clock = ahead;
        }
    }

    /// A person makes a member leave by hand, by force.
    pub fn nodetool_decommission(&mut self, member: &str, force: Force) {
        self.tell(&format!("a person runs nodetool decommission on {member}: {force:?}"));
        let pod = self.ring.servers.iter().find(|(_, s)| s.member == member);
        let pod = pod.map(|(pod, _)| pod.clone()).expect("its server should run");
        let answer = self.ring.decommission(&pod, force, self.store.now, &self.kube.disks);
        self.tell(&format!("   it answers {answer:?}"));
    }

    /// The agent of a member ends and is started anew; its server goes on.
    pub fn restart_agent(&mut self, member: &str) {
        self.tell(&format!("the agent of {member} is started anew"));
        self.agents.retain(|_, (agent, _)| agent.pod.key.name != member);
    }

    /// A person does not care for the data of a member any more.
    pub fn give_up(&mut self, member: &str) {
        let host = self.disk_of(member).content.data.as_ref();
        let host = host.map(|d| d.host_id.clone()).unwrap_or_default();
        self.given_up.insert(host);
        self.ring.clients.disks_lost = true;
    }

    /// The node of a member's pod.
    pub fn node_of(&self, member: &str) -> String {
        let key = ObjectKey::new(kinds::POD, NAMESPACE, member);
        let pod = self.store.get(&key).expect("the pod should exist");
        pod["spec"]["nodeName"].as_str().unwrap_or_default().into()
    }

    /// A person labels an object.
    pub fn label(&mut self, resource: palladion_plan::Resource, name: &str, key: &str) {
        self.tell(&format!("a person labels {} {name}: {key}", resource.kind));
        let patch = json!({ "metadata": { "labels": { key: "" } } });
        let key = ObjectKey::new(resource, NAMESPACE, name);
        self.store.merge(&key, &patch, Subresource::None).expect("the object should exist");
    }

    /// The network between a member and all others is cut; not that to the API server.
    pub fn cut_off(&mut self, member: &str) {
        self.tell(&format!("the network of {member} is cut"));
        self.ring.cut.insert(member.to_string());
    }

    /// The ring has a member in another datacenter, which no record names.
    pub fn elsewhere(&mut self, host: &str, datacenter: &str, address: &str) {
        self.tell(&format!("the ring has {host} in datacenter {datacenter}, at {address}"));
        let member = RingMember {
            host_id: HostId::new(host),
            address: StaticAddress::new(address),
            liveness: Liveness::Up,
            state: MemberState::Normal,
            datacenter: Some(datacenter.into()),
            version: Some("5.0.5".into()),
        };
        self.ring.elsewhere.insert(HostId::new(host), member);
    }

    /// A member of another datacenter has left the ring, or was removed from it there.
    pub fn leaves_elsewhere(&mut self, host: &str) {
        self.tell(&format!("{host} elsewhere is not in the ring any more"));
        self.ring.elsewhere.remove(&HostId::new(host));
    }

    /// What happens to a member of another datacenter.
    pub fn there(&mut self, host: &str, what: &str, change: impl Fn(&mut RingMember)) {
        self.tell(&format!("{host} elsewhere {what}"));
        self.ring.elsewhere.get_mut(&HostId::new(host)).into_iter().for_each(change);
    }

    /// A person opens the native transport of a server by hand.
    pub fn open_by_hand(&mut self, member: &str) {
        self.tell(&format!("a person opens the native transport of {member}"));
        let servers = self.ring.servers.values_mut().filter(|s| s.member == member);
        servers.for_each(|server| server.door = Door::Open);
    }

    /// A server takes long to open its native transport after it is NORMAL.
    pub fn opens_late(&mut self, member: &str, after: SignedDuration) {
        let until = self.now() + after;
        self.tell(&format!("{member} is NORMAL, and opens its native transport at {until}"));
        let servers = self.ring.servers.values_mut().filter(|s| s.member == member);
        servers.for_each(|server| (server.until, server.was_open) = (until, false));
    }

    /// All networks are whole again.
    pub fn reconnect(&mut self) {
        self.tell("the network is whole again");
        self.ring.cut.clear();
    }

    /// The server of a member ends.
    pub fn kill_server(&mut self, member: &str) {
        let pods = self.ring.servers.iter().filter(|(_, s)| s.member == member);
        for pod in pods.map(|(pod, _)| pod.clone()).collect::<Vec<_>>() {
            self.ring.exit(&pod, "killed");
        }
    }

    /// The agent of a member does not reach the API server any more; its kubelet does.
    pub fn agent_is_cut(&mut self, member: &str, link: Link) {
        self.tell(&format!("the agent of {member} and the API server: {link:?}"));
        self.links.insert(member.to_string(), link);
    }

    /// All agents reach the API server again.
    pub fn agents_are_back(&mut self) {
        self.tell("all agents reach the API server");
        self.links.clear();
    }

    /// All that disturbs ends.
    pub fn heal(&mut self) {
        self.tell("all is well again");
        self.ring.cut.clear();
        for node in self.kube.machines.keys().cloned().collect::<Vec<_>>() {
            self.kube.set_machine(&mut self.store, &node, Machine::Up);
        }
        self.api = Api::Reachable;
    }

    /// What the operator waits for.
    pub fn waits(&self) -> String {
        let waits = self.operators.iter().flat_map(|o| &o.waits);
        waits.map(|w| format!("{}: {}", w.reason, w.message)).collect::<Vec<_>>().join("; ")
    }

    /// How often that was counted: the name of a counter, without what all have, and its labels.
    pub fn counted(&self, what: &str) -> usize {
        self.counts.get(&format!("palladion_{what}")).copied().unwrap_or_default()
    }

    /// What the operator adds to this gauge now.
    pub fn gauge(&self, name: &str) -> Option<i64> {
        let name = format!("palladion_{name}");
        let mut figures = self.operators.iter().flat_map(|o| &o.figures);
        figures.find(|figure| figure.metric.name == name).map(|figure| figure.value)
    }

    /// Neither the operator nor any agent reaches the API server.
    pub fn api_goes_away(&mut self) {
        self.tell("the API server is away");
        self.api = Api::Away;
        self.operators.iter_mut().for_each(Operator::abandon);
    }

    /// The API server is back.
    pub fn api_returns(&mut self) {
        self.tell("the API server is back");
        self.api = Api::Reachable;
    }

    /// Delete all pods at once.
    pub fn delete_all_pods(&mut self) {
        self.tell("all pods are deleted at once");
        let pods: Vec<ObjectKey> =
            self.store.list(kinds::POD).map(|(key, _)| key.clone()).collect();
        for pod in pods {
            let gone = self.store.delete(&pod, &Precondition::Absent, Propagation::Background);
            gone.expect("the pod was listed");
        }
    }

    /// A person deletes the cluster.
    pub fn delete_cluster(&mut self) {
        self.delete(kinds::CLUSTER, super::manifests::CLUSTER);
    }

    /// A person deletes an object.
    pub fn delete(&mut self, resource: palladion_plan::Resource, name: &str) {
        self.tell(&format!("{} {name} is deleted", resource.kind));
        let key = ObjectKey::new(resource, NAMESPACE, name);
        self.store
            .delete(&key, &Precondition::Absent, Propagation::Background)
            .expect("the object should exist");
    }

    /// Is there such an object?
    pub fn exists(&self, resource: palladion_plan::Resource, name: &str) -> bool {
        self.store.get(&ObjectKey::new(resource, NAMESPACE, name)).is_some()
    }

    /// A member's volume is emptied; marker and ledger are gone as well.
    pub fn wipe_volume(&mut self, member: &str) {
        self.tell(&format!("the volume of {member} is emptied"));
        self.disk_of(member).content = Volume::default();
        self.ring.clients.disks_lost = true;
    }

    /// Somebody empties the data directories of a member: its commit log remains, with
    /// marker and ledger.
    pub fn empty_partly(&mut self, member: &str) {
        self.tell(&format!("the data directories of {member} are emptied"));
        let volume = &mut self.disk_of(member).content;
        (volume.data, volume.remains) = (None, Remains::Files);
        self.ring.clients.disks_lost = true;
    }

    /// The disk of one member is a copy of the disk of another.
    pub fn copy_volume(&mut self, from: &str, to: &str) {
        self.tell(&format!("the disk of {to} is a copy of that of {from}"));
        let copy = self.disk_of(from).content.clone();
        self.disk_of(to).content = copy;
    }

    /// A person gives a member an empty disk: nothing of any member was on it alone.
    pub fn clear_volume(&mut self, member: &str) {
        self.tell(&format!("a person empties the disk of {member}"));
        self.disk_of(member).content = Volume::default();
    }

    /// Has the claim of this member a disk?
    pub fn has_disk(&self, member: &str) -> bool {
        self.kube.disks.values().any(|disk| disk.claim == format!("data-{member}"))
    }

    /// A member's ledger is lost, its data is not.
    pub fn lose_ledger(&mut self, member: &str) {
        self.tell(&format!("the ledger of {member} is lost"));
        let volume = &mut self.disk_of(member).content;
        (volume.marker, volume.ledger) = (None, None);
    }

    /// A volume with another ID is in the place of a member's, for example an old copy.
    pub fn exchange_volume(&mut self, member: &str) {
        self.tell(&format!("the volume of {member} is exchanged"));
        let volume = &mut self.disk_of(member).content;
        let another = VolumeId::new("another".to_string());
        if let Some(ledger) = &mut volume.ledger {
            ledger.volume_id = another.clone();
        }
        volume.marker = Some(another);
    }

    /// Another file system is in the place of a member's volume.
    pub fn unmount(&mut self, member: &str) {
        self.tell(&format!("the volume of {member} is not mounted"));
        self.disk_of(member).mount = Mount::Missing;
    }

    /// The volume is in its place again.
    pub fn mount(&mut self, member: &str) {
        self.tell(&format!("the volume of {member} is mounted again"));
        self.disk_of(member).mount = Mount::Mounted;
    }

    /// How many ranges a member has noted as streamed in a leave.
    pub fn noted_streams(&mut self, member: &str) -> usize {
        self.disk_of(member).content.data.as_ref().map_or(0, |data| data.streamed.len())
    }

    pub fn disk_of(&mut self, member: &str) -> &mut Disk<Volume> {
        let key = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{member}"));
        let claim = self.store.get(&key).expect("the claim should exist");
        let name = claim["spec"]["volumeName"].as_str().unwrap_or_default();
        self.kube.disks.get_mut(name).expect("the member should have a disk")
    }

    /// Somebody cleans all annotations off the claims.
    pub fn strip_claims(&mut self) {
        self.tell("all annotations of all claims are removed");
        let patch = json!({ "metadata": { "annotations": null } });
        for name in self.names(kinds::CLAIM) {
            let key = ObjectKey::new(kinds::CLAIM, NAMESPACE, &name);
            self.store.merge(&key, &patch, Subresource::None).expect("the claim should exist");
        }
    }

    /// Somebody takes all labels off a member's claim.
    pub fn unlabel_claim(&mut self, member: &str) {
        self.tell(&format!("all labels of the claim of {member} are removed"));
        let patch = json!({ "metadata": { "labels": null } });
        let key = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{member}"));
        self.store.merge(&key, &patch, Subresource::None).expect("the claim should exist");
    }

    /// Somebody writes another record of authentication and TLS into the status.
    pub fn set_security(&mut self, security: &Value) {
        self.tell("the record of authentication and TLS is overwritten");
        let patch = json!({ "status": { "security": security } });
        self.store
            .merge(&cluster_key(), &patch, Subresource::Status)
            .expect("the cluster should exist");
    }

    /// What claims say of authentication and TLS is removed, as it is on those of older rings.
    pub fn strip_security_of_claims(&mut self) {
        let patch =
            json!({ "metadata": { "annotations": { palladion_api::labels::SECURITY: null } } });
        for name in self.names(kinds::CLAIM) {
            let key = ObjectKey::new(kinds::CLAIM, NAMESPACE, &name);
            self.store.merge(&key, &patch, Subresource::None).expect("the claim should exist");
        }
    }

    /// A person creates a Secret.
    pub fn secret(&mut self, name: &str, data: &Value) {
        let key = ObjectKey::new(kinds::SECRET, NAMESPACE, name);
        let object = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": name, "namespace": NAMESPACE }, "data": data,
        });
        self.store.create(&key, &object).expect("a Secret is taken");
    }

    /// What is in a Secret as it was created.
    pub fn secret_data(&self, name: &str) -> Value {
        let key = ObjectKey::new(kinds::SECRET, NAMESPACE, name);
        self.store.get(&key).map(|secret| secret["data"].clone()).unwrap_or_default()
    }

    /// A person stores a ConfigMap, or other data in it.
    pub fn config_map(&mut self, name: &str, data: &Value) {
        let key = ObjectKey::new(kinds::CONFIG_MAP, NAMESPACE, name);
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": name, "namespace": NAMESPACE }, "data": data,
        });
        match self.store.get(&key) {
            None => self.store.create(&key, &object).map(drop),
            Some(_) => {
                self.store.merge(&key, &json!({ "data": data }), Subresource::None).map(drop)
            }
        }
        .expect("a ConfigMap is taken");
        // It is watched by its name.
        self.operators.iter_mut().for_each(Operator::resync);
    }

    /// A person annotates the cluster.
    pub fn annotate_cluster(&mut self, key: &str, value: &str) {
        self.tell(&format!("a person annotates the cluster: {key}={value}"));
        let patch = json!({ "metadata": { "annotations": { key: value } } });
        self.store
            .merge(&cluster_key(), &patch, Subresource::None)
            .expect("the cluster should exist");
    }

    /// A person scales a StatefulSet by hand.
    pub fn scale_set(&mut self, set: &str, replicas: i64) {
        self.tell(&format!("a person scales {set} to {replicas}"));
        self.scaled_by_hand.insert(set.to_string());
        let key = ObjectKey::new(kinds::STATEFUL_SET, NAMESPACE, set);
        let patch = json!({ "spec": { "replicas": replicas } });
        self.store.merge(&key, &patch, Subresource::None).expect("the set should exist");
    }

    /// The cluster is there no more, and neither is anything that it owned.
    pub fn is_deleted(&self) -> bool {
        self.store.get(&cluster_key()).is_none() && self.store.list(kinds::POD).next().is_none()
    }

    /// Kinds of claims, pods, sets that exist, by name.
    pub fn names(&self, resource: palladion_plan::Resource) -> Vec<String> {
        self.store
            .list(resource)
            .filter(|(key, _)| key.namespace == NAMESPACE)
            .map(|(key, _)| key.name.clone())
            .collect()
    }

    /// Members whose server is NORMAL.
    pub fn normal(&self) -> usize {
        self.ring.servers.values().filter(|s| s.phase == Phase::Normal).count()
    }

    /// A condition of the cluster: status, reason and message.
    pub fn condition(&self, type_: &str) -> String {
        let cluster = self.store.get(&cluster_key()).cloned().unwrap_or_default();
        let all = cluster["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let text = |c: &Value, field: &str| c[field].as_str().unwrap_or_default().to_string();
        all.iter()
            .find(|c| c["type"] == type_)
            .map(|c| format!("{} {}: {}", text(c, "status"), text(c, "reason"), text(c, "message")))
            .unwrap_or_default()
    }

    /// The end of the story, and what is waited for.
    pub fn last_words(&self) -> String {
        let start = self.story.len().saturating_sub(60);
        let waits: Vec<String> = self
            .operators
            .iter()
            .flat_map(|o| &o.waits)
            .map(|w| format!("waits: {}: {}", w.reason, w.message))
            .collect();
        format!("{}\n{}", self.story[start..].join("\n"), waits.join("\n"))
    }
}
