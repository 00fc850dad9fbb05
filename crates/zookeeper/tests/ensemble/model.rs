//! A model of ZooKeeper's servers: logs, votes, configurations and epochs, as real ones
//! were seen to behave. All running servers reach each other, but for those that are
//! stopped (`SIGSTOP`): that is all that the stories need of a network.

use super::volume::Volume;
use palladion_api::service_member::OperationAnswer;
use palladion_plan::sim::kubernetes::Disk;
use std::collections::{BTreeMap, BTreeSet};

pub type Disks = BTreeMap<String, Disk<Volume>>;

/// Which servers there are, and whether each votes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    pub version: u64,
    pub servers: BTreeMap<i64, (String, bool)>,
}

impl Config {
    pub fn voters(&self) -> BTreeSet<i64> {
        self.servers.iter().filter(|(_, (_, votes))| *votes).map(|(id, _)| *id).collect()
    }

    fn is_majority(&self, ids: &BTreeSet<i64>) -> bool {
        let voters = self.voters();
        voters.intersection(ids).count() * 2 > voters.len()
    }
}

/// What a server has on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    pub epoch: u64,
    /// Acknowledgeable writes by zxid; sessions and configurations only raise it.
    pub log: BTreeMap<u64, Option<u32>>,
}

impl Data {
    pub fn zxid(&self) -> u64 {
        self.log.last_key_value().map_or(0, |(zxid, _)| *zxid)
    }
}

/// A server process.
#[derive(Clone, Debug)]
pub struct Server {
    pub id: i64,
    pub address: String,
    pub disk: String,
    pub config: Config,
    /// The pod uid of the leader that it follows; its own if it leads.
    pub leader: Option<String>,
}

/// All servers, by the uid of the pod that they run in.
#[derive(Clone, Debug, Default)]
pub struct Ensemble {
    pub servers: BTreeMap<String, Server>,
    /// Processes that are stopped (`SIGSTOP`).
    pub stopped: BTreeSet<String>,
    /// Writes that a client was told are done.
    pub acknowledged: BTreeSet<u32>,
    next_write: u32,
    /// The volume that each server ID was used on first.
    pub used_on: BTreeMap<i64, String>,
    /// Ensembles that were begun.
    pub begun: usize,
    /// `db.autocreate`: a server without data votes. Never so but in a mutation.
    pub autocreate: bool,
    /// What a server answers to each reconfiguration, which it does not make.
    pub refuses: Option<OperationAnswer>,
    /// Answers to reconfigurations that get lost, of those to come.
    pub answers_lost: usize,
}

impl Ensemble {
    /// The leader, if there is one that its followers follow.
    pub fn leader(&self) -> Option<&Server> {
        self.servers.iter().find(|(uid, s)| s.leader.as_ref() == Some(*uid)).map(|(_, s)| s)
    }

    fn leader_uid(&self) -> Option<String> {
        let leads = |(uid, s): &(&String, &Server)| s.leader.as_ref() == Some(*uid);
        self.servers.iter().find(leads).map(|(uid, _)| uid.clone())
    }

    /// Start a server; an error is its last words.
    pub fn start(&mut self, uid: &str, server: Server) -> Result<(), String> {
        if !server.config.servers.contains_key(&server.id) {
            return Err(format!("My id {} not in the peer list", server.id));
        }
        self.servers.insert(uid.to_string(), server);
        Ok(())
    }

    pub fn stop(&mut self, uid: &str) -> bool {
        self.stopped.remove(uid);
        self.servers.remove(uid).is_some()
    }

    fn runs(&self) -> Vec<String> {
        self.servers.keys().filter(|uid| !self.stopped.contains(*uid)).cloned().collect()
    }

    /// IDs of servers that follow this leader, and its own.
    fn in_touch(&self, leader: &str) -> BTreeSet<i64> {
        let follows = |uid: &&String| self.servers[*uid].leader.as_deref() == Some(leader);
        self.runs().iter().filter(follows).map(|uid| self.servers[uid].id).collect()
    }

    /// Let elections happen and servers find their leader. True = something changed.
    pub fn step(&mut self, disks: &mut Disks) -> bool {
        let before: Vec<_> =
            self.servers.values().map(|s| (s.leader.clone(), s.config.version)).collect();
        // Who is stopped hears nothing, and has to catch up afterwards.
        for uid in &self.stopped {
            if let Some(server) = self.servers.get_mut(uid) {
                server.leader = None;
            }
        }
        if let Some(leader) = self.leader_uid() {
            let config = self.servers[&leader].config.clone();
            if self.stopped.contains(&leader) || !config.is_majority(&self.in_touch(&leader)) {
                self.servers.values_mut().for_each(|s| s.leader = None);
            }
        } else {
            self.servers.values_mut().for_each(|s| s.leader = None);
        }
        if self.leader_uid().is_none() {
            self.elect(disks);
        }
        if let Some(leader) = self.leader_uid() {
            self.follow(&leader, disks);
        }
        let after: Vec<_> =
            self.servers.values().map(|s| (s.leader.clone(), s.config.version)).collect();
        before != after
    }

    /// Whether a server may vote: it has data, or makes itself some.
    fn has_vote(&self, uid: &str, disks: &Disks) -> bool {
        let server = &self.servers[uid];
        let has_data = disks.get(&server.disk).is_some_and(|d| d.content.data.is_some());
        has_data || self.autocreate
    }

    fn elect(&mut self, disks: &mut Disks) {
        self.gossip();
        let running = self.runs();
        let mut configs: Vec<Config> =
            running.iter().map(|uid| self.servers[uid].config.clone()).collect();
        configs.sort_by_key(|c| std::cmp::Reverse(c.version));
        for config in configs {
            let votes = |uid: &&String| {
                let server = &self.servers[*uid];
                let place = config.servers.get(&server.id);
                server.config == config
                    && place == Some(&(server.address.clone(), true))
                    && self.has_vote(uid, disks)
            };
            let voters: Vec<String> = running.iter().filter(votes).cloned().collect();
            let ids = voters.iter().map(|uid| self.servers[uid].id).collect();
            if !config.is_majority(&ids) {
                continue;
            }
            let rank = |uid: &String| {
                let data = disks.get(&self.servers[uid].disk).and_then(|d| d.content.data.clone());
                let data = data.unwrap_or_default();
                (data.epoch, data.zxid(), self.servers[uid].id)
            };
            let leader = voters.iter().max_by_key(|uid| rank(uid)).unwrap().clone();
            return self.lead(&leader, disks);
        }
    }

    /// In an election a server takes over any newer configuration that it is sent.
    fn gossip(&mut self) {
        let running = self.runs();
        for from in &running {
            for to in &running {
                let (sender, receiver) = (&self.servers[from], &self.servers[to]);
                let reaches = sender
                    .config
                    .servers
                    .get(&receiver.id)
                    .is_some_and(|(address, _)| *address == receiver.address);
                if reaches && sender.config.version > receiver.config.version {
                    let config = sender.config.clone();
                    self.servers.get_mut(to).unwrap().config = config;
                }
            }
        }
    }

    fn lead(&mut self, uid: &str, disks: &mut Disks) {
        let server = self.servers.get_mut(uid).unwrap();
        server.leader = Some(uid.to_string());
        let content = &mut disks.get_mut(&server.disk).unwrap().content;
        let data = content.data.get_or_insert_default();
        data.epoch += 1;
        if server.config.version == 0 {
            server.config.version = data.epoch << 32;
        }
        content.file = Some(server.config.clone());
    }

    /// Who knows the leader follows it, whether it is in the configuration or not, and
    /// has the leader's log from then on.
    fn follow(&mut self, leader: &str, disks: &mut Disks) {
        let head = self.servers[leader].clone();
        let data = disks[&head.disk].content.data.clone();
        for uid in self.runs() {
            let server = self.servers.get_mut(&uid).unwrap();
            let knows = server
                .config
                .servers
                .get(&head.id)
                .is_some_and(|(address, _)| *address == head.address);
            if server.leader.is_some() || !knows || uid == leader {
                continue;
            }
            server.leader = Some(leader.to_string());
            server.config = head.config.clone();
            if let Some(disk) = disks.get_mut(&server.disk) {
                disk.content.data.clone_from(&data);
                disk.content.file = Some(head.config.clone());
            }
        }
    }

    /// Put something into the log of all that are in touch with the leader.
    fn commit(&mut self, value: Option<u32>, disks: &mut Disks) -> bool {
        let Some(leader) = self.leader_uid() else { return false };
        let config = &self.servers[&leader].config;
        if self.stopped.contains(&leader) || !config.is_majority(&self.in_touch(&leader)) {
            return false;
        }
        let data = disks[&self.servers[&leader].disk].content.data.clone().unwrap();
        let zxid = data.zxid().max(data.epoch << 32) + 1;
        for uid in self.runs() {
            let server = &self.servers[&uid];
            if server.leader.as_ref() == Some(&leader)
                && let Some(data) =
                    disks.get_mut(&server.disk).and_then(|d| d.content.data.as_mut())
            {
                data.log.insert(zxid, value);
            }
        }
        true
    }

    /// A client writes; whether it is told that it is done.
    pub fn write(&mut self, disks: &mut Disks) -> Option<u32> {
        self.next_write += 1;
        let write = self.next_write;
        self.commit(Some(write), disks).then(|| {
            self.acknowledged.insert(write);
            write
        })
    }

    /// Open and close a session through this server: a write that a quorum takes.
    pub fn open_session(&mut self, uid: &str, disks: &mut Disks) -> bool {
        let follows = self.servers.get(uid).is_some_and(|s| s.leader.is_some());
        follows && !self.stopped.contains(uid) && self.commit(None, disks)
    }

    /// Change the configuration through this server.
    pub fn reconfig(
        &mut self,
        uid: &str,
        version: u64,
        add: &[(i64, String)],
        remove: &[i64],
        disks: &mut Disks,
    ) -> OperationAnswer {
        let Some(leader) = self.leader_uid().filter(|_| self.servers[uid].leader.is_some()) else {
            return OperationAnswer::NoAnswer;
        };
        if let Some(refusal) = self.refuses {
            return refusal;
        }
        let old = self.servers[&leader].config.clone();
        if old.version != version {
            return OperationAnswer::BadVersion;
        }
        let mut new = old.clone();
        new.servers.retain(|id, _| !remove.contains(id));
        new.servers.extend(add.iter().map(|(id, address)| (*id, (address.clone(), true))));
        let in_touch = self.in_touch(&leader);
        if new.voters().is_empty() || !new.is_majority(&in_touch) || !old.is_majority(&in_touch) {
            return OperationAnswer::NewConfigNoQuorum;
        }
        if !self.commit(None, disks) {
            return OperationAnswer::NoAnswer;
        }
        new.version = disks[&self.servers[&leader].disk].content.data.as_ref().unwrap().zxid();
        for uid in self.runs() {
            let server = self.servers.get_mut(&uid).unwrap();
            if server.leader.as_ref() == Some(&leader) {
                server.config = new.clone();
                if let Some(disk) = disks.get_mut(&server.disk) {
                    disk.content.file = Some(new.clone());
                }
            }
        }
        let leads_on = new.servers.contains_key(&self.servers[&leader].id);
        if !leads_on {
            self.servers.values_mut().for_each(|s| s.leader = None);
        }
        if !leads_on || self.answers_lost > 0 {
            self.answers_lost = self.answers_lost.saturating_sub(1);
            return OperationAnswer::NoAnswer;
        }
        OperationAnswer::Made
    }
}
