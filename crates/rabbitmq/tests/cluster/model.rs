//! A model of RabbitMQ's nodes as real ones were seen to behave (3.10.8): who is in the
//! cluster, by the tables of each; who waits for whose tables; who pauses; queues with
//! replicas of which a majority confirms, and those that are on one node alone.

use super::volume::{Data, Kind, Queue, Volume};
use palladion_plan::sim::kubernetes::Disk;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

pub type Disks = BTreeMap<String, Disk<Volume>>;
/// Messages that a replica takes over in one round.
const CATCH_UP: usize = 40;

/// A node process.
#[derive(Clone, Debug)]
pub struct Process {
    pub name: String,
    pub disk: String,
    pub app: App,
    /// Has it listeners for clients?
    pub open: bool,
    /// Since it booted, replicas on it have reached what the leader had.
    pub caught_up: BTreeSet<String>,
    pub version: String,
}

/// The application within the virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum App {
    /// It waits for the tables of others.
    Waiting,
    Running,
    /// It has lost touch with the majority.
    Paused,
    /// `stop_app`: the virtual machine lives.
    Stopped,
}

/// Why `join_cluster` was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unjoined {
    NobodyRuns,
    /// "thinks it's clustered with it, but it disagrees".
    Named {
        by: String,
        node: String,
    },
}

impl Display for Unjoined {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Unjoined::NobodyRuns => f.write_str("nobody to join through runs"),
            Unjoined::Named { by, node } => write!(f, "{by} thinks it is clustered with {node}"),
        }
    }
}

/// All nodes, by the uid of the pod that they run in.
#[derive(Clone, Debug, Default)]
pub struct Rabbit {
    pub nodes: BTreeMap<String, Process>,
    /// Pairs of nodes that do not reach each other.
    pub cut: BTreeSet<(String, String)>,
    /// Nodes that have seen a partition since they booted, and from whom.
    pub partitions: BTreeMap<String, BTreeSet<String>>,
    /// Messages that a publisher was told are safe, by queue.
    pub confirmed: BTreeMap<String, BTreeSet<u32>>,
    /// Messages that a replica has acknowledged, by queue and node.
    acknowledged: BTreeMap<(String, String), BTreeSet<u32>>,
    /// Queues that a user gave up.
    pub allowed_to_go: BTreeSet<String>,
    next: u32,
    /// Clusters that were begun.
    pub begun: usize,
    /// Rules that were broken.
    pub broken: Vec<String>,
    /// Empty nodes find their peers by themselves. Never so but in a mutation.
    pub discovery: bool,
    /// `forget` before `delete_member`. Never so but in a mutation.
    pub forgets_first: bool,
    /// Replicas do not catch up.
    pub slow: bool,
    /// Replicas, each a queue and a node, whose process has ended: until that node starts again.
    pub crashed: BTreeSet<(String, String)>,
}

impl Rabbit {
    pub fn by_name(&self, name: &str) -> Option<(&String, &Process)> {
        self.nodes.iter().find(|(_, p)| p.name == name)
    }

    fn reach(&self, a: &str, b: &str) -> bool {
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        !self.cut.contains(&pair(a, b)) && !self.cut.contains(&pair(b, a))
    }

    /// Nodes of the same cluster that this one sees run, itself among them.
    pub fn sees(&self, uid: &str, disks: &Disks) -> BTreeSet<String> {
        let Some(own) = self.nodes.get(uid).filter(|p| p.app == App::Running) else {
            return BTreeSet::new();
        };
        let cluster = &data(disks, own).cluster;
        let is_seen = |p: &&Process| {
            // One that knows nobody of the cluster runs by itself.
            let is_of_it = cluster.contains(&p.name) && data(disks, p).cluster.contains(&own.name);
            p.app == App::Running && is_of_it && self.reach(&own.name, &p.name)
        };
        self.nodes.values().filter(is_seen).map(|p| p.name.clone()).collect()
    }

    /// Nodes that run.
    pub fn running(&self) -> Vec<&Process> {
        self.nodes.values().filter(|p| p.app == App::Running).collect()
    }

    /// Members that run: one that has not joined yet has tables of its own.
    fn serving(&self) -> impl Iterator<Item = &Process> {
        self.running().into_iter().filter(|p| p.open)
    }

    /// Start a node process on what its disk holds. An error is its last words.
    pub fn start(&mut self, uid: &str, process: Process, disks: &mut Disks) -> Result<(), String> {
        if let Some((_, twin)) = self.by_name(&process.name) {
            self.broken.push(format!("{} runs on {} and {}", twin.name, twin.disk, process.disk));
        }
        let disk = disks.get_mut(&process.disk).unwrap();
        if disk.content.data.is_none() {
            let own = [process.name.clone()];
            disk.content.data = Some(Data { cluster: own.into(), ..Data::default() });
            if self.discovery {
                self.discover(&process, disks);
            }
        }
        let known = &data(disks, &process).cluster;
        let disagrees = |p: &Process| {
            known.contains(&p.name) && !data(disks, p).cluster.contains(&process.name)
        };
        if let Some(other) = self.running().into_iter().find(|p| disagrees(p)) {
            return Err(format!("{} disagrees about the cluster", other.name));
        }
        self.nodes.insert(uid.to_string(), process);
        Ok(())
    }

    /// An empty node takes the cluster that it finds for its own: queues that name it get
    /// an empty replica that votes.
    fn discover(&mut self, process: &Process, disks: &mut Disks) {
        let Some(found) = self.running().first().map(|p| data(disks, p).clone()) else { return };
        let mut joined = found;
        joined.cluster.insert(process.name.clone());
        (joined.logs, joined.ran_on) = (BTreeMap::new(), BTreeSet::new());
        for queue in joined.queues.iter().filter(|(_, q)| q.replicas.contains(&process.name)) {
            joined.logs.insert(queue.0.clone(), BTreeSet::new());
        }
        let name = process.name.clone();
        self.in_tables(disks, |tables| {
            tables.cluster.insert(name.clone());
        });
        disks.get_mut(&process.disk).unwrap().content.data = Some(joined);
    }

    pub fn stop(&mut self, uid: &str, disks: &mut Disks) -> bool {
        let ran: BTreeSet<String> = self.sees(uid, disks);
        let Some(process) = self.nodes.remove(uid) else { return false };
        self.partitions.remove(&process.name);
        self.crashed.retain(|(_, node)| *node != process.name);
        if process.app == App::Running
            && let Some(data) = disks.get_mut(&process.disk).and_then(|d| d.content.data.as_mut())
        {
            data.ran_on = ran.into_iter().filter(|name| *name != process.name).collect();
        }
        true
    }

    /// One step of all nodes by themselves.
    pub fn step(&mut self, disks: &mut Disks) -> bool {
        let before: Vec<App> = self.nodes.values().map(|p| p.app).collect();
        self.boot(disks);
        self.pause(disks);
        self.note_partitions(disks);
        let moved = !self.slow && self.catch_up(disks);
        let after: Vec<App> = self.nodes.values().map(|p| p.app).collect();
        before != after || moved
    }

    /// Whoever waits goes on once those run, or wait as well, that may have newer tables.
    fn boot(&mut self, disks: &mut Disks) {
        for uid in self.nodes.keys().cloned().collect::<Vec<_>>() {
            let own = self.nodes[&uid].clone();
            if own.app != App::Waiting {
                continue;
            }
            let waits_for = data(disks, &own).ran_on.clone();
            let is_up = |name: &String| {
                let up = self.by_name(name).filter(|_| self.reach(&own.name, name));
                up.is_some_and(|(_, p)| matches!(p.app, App::Running | App::Waiting))
            };
            let peers = data(disks, &own).cluster.clone();
            let runs = |name: &&String| {
                let peer = self.by_name(name).filter(|_| self.reach(&own.name, name));
                peer.is_some_and(|(_, p)| p.app == App::Running && p.name != own.name)
            };
            let source = peers.iter().find(runs).cloned();
            if source.is_none() && !waits_for.iter().all(is_up) {
                continue;
            }
            if let Some((_, source)) = source.as_ref().and_then(|name| self.by_name(name)) {
                let newer = data(disks, source).clone();
                let tables = disks.get_mut(&own.disk).unwrap().content.data.as_mut().unwrap();
                (tables.cluster, tables.queues) = (newer.cluster, newer.queues);
            }
            self.recover(&own, disks);
            let tables = disks.get_mut(&own.disk).unwrap().content.data.as_mut().unwrap();
            (tables.is_noted, tables.has_run) = (true, true);
            // It notes anew who runs beside it; one that pauses has seen nobody last.
            tables.ran_on.clear();
            let process = self.nodes.get_mut(&uid).unwrap();
            process.app = App::Running;
            process.caught_up.clear();
        }
    }

    /// A replica that is not on disk starts empty, and votes.
    fn recover(&mut self, own: &Process, disks: &mut Disks) {
        let tables = disks.get_mut(&own.disk).unwrap().content.data.as_mut().unwrap();
        for (name, queue) in &tables.queues {
            if queue.replicas.contains(&own.name) {
                tables.logs.entry(name.clone()).or_default();
            }
        }
    }

    /// Nodes that see no majority pause, and go on when they see one again.
    fn pause(&mut self, disks: &Disks) {
        let counts = |own: &Process| {
            let cluster = &data(disks, own).cluster;
            // The virtual machine counts, whatever runs in it.
            let is_up =
                |name: &&String| self.by_name(name).is_some_and(|_| self.reach(&own.name, name));
            cluster.iter().filter(is_up).count() * 2 > cluster.len()
        };
        let verdicts: Vec<(String, bool)> =
            self.nodes.iter().map(|(uid, p)| (uid.clone(), counts(p))).collect();
        for (uid, is_majority) in verdicts {
            let process = self.nodes.get_mut(&uid).unwrap();
            match (process.app, is_majority) {
                (App::Running, false) => process.app = App::Paused,
                (App::Paused, true) => process.app = App::Running,
                (App::Running | App::Paused | App::Waiting | App::Stopped, _) => {}
            }
        }
    }

    fn note_partitions(&mut self, disks: &Disks) {
        let running: Vec<Process> = self.running().into_iter().cloned().collect();
        for own in &running {
            for other in &running {
                if data(disks, own).cluster.contains(&other.name)
                    && !self.reach(&own.name, &other.name)
                {
                    self.partitions.entry(own.name.clone()).or_default().insert(other.name.clone());
                }
            }
        }
        // Whoever pauses restarts its application when it is healed.
        let cut = self.cut.clone();
        if cut.is_empty() {
            self.partitions.clear();
        }
    }

    /// Change the tables of all nodes that run.
    fn in_tables(&mut self, disks: &mut Disks, change: impl Fn(&mut Data)) {
        for process in self.nodes.values().filter(|p| p.app == App::Running) {
            if let Some(data) = disks.get_mut(&process.disk).and_then(|d| d.content.data.as_mut()) {
                change(data);
            }
        }
    }

    /// The queues, by the tables of a node that runs.
    pub fn queues(&self, disks: &Disks) -> BTreeMap<String, Queue> {
        self.serving().next().map(|p| data(disks, p).queues.clone()).unwrap_or_default()
    }

    /// Nodes with a replica of a queue that run.
    pub fn online(&self, name: &str, queue: &Queue) -> Vec<&Process> {
        let is_online = |p: &&Process| {
            let crashed = self.crashed.contains(&(name.to_string(), p.name.clone()));
            queue.replicas.contains(&p.name) && !crashed
        };
        self.running().into_iter().filter(is_online).collect()
    }

    /// The replica that leads, where a majority of them runs: the one with most messages.
    pub fn leader(&self, name: &str, queue: &Queue, disks: &Disks) -> Option<&Process> {
        let online = self.online(name, queue);
        let is_majority = online.len() * 2 > queue.replicas.len();
        let log = |p: &&Process| data(disks, p).logs.get(name).map_or(0, BTreeSet::len);
        online.into_iter().filter(|_| is_majority).max_by_key(log)
    }

    /// A message is published to each queue, and confirmed where a majority has it.
    pub fn publish(&mut self, disks: &mut Disks) {
        let queues = self.queues(disks);
        if !self.running().iter().any(|p| p.open) {
            return;
        }
        for (name, queue) in queues {
            let Some(_) = self.leader(&name, &queue, disks) else { continue };
            self.next += 1;
            let message = self.next;
            let leader = self.leader(&name, &queue, disks).unwrap().disk.clone();
            let full = log(disks, &leader, &name);
            let mut taken = 0;
            for (node, disk) in self.pairs(&name, &queue) {
                // A replica that is behind takes nothing new before it has the rest.
                if disk == leader || log(disks, &disk, &name) == full {
                    let data = disks.get_mut(&disk).unwrap().content.data.as_mut().unwrap();
                    data.logs.entry(name.clone()).or_default().insert(message);
                    self.acknowledged.entry((name.clone(), node)).or_default().insert(message);
                    taken += 1;
                }
            }
            if taken * 2 > queue.replicas.len() {
                self.confirmed.entry(name).or_default().insert(message);
            }
        }
    }

    /// Replicas take over what their leader has; what it has not is gone from them.
    fn catch_up(&mut self, disks: &mut Disks) -> bool {
        let mut moved = false;
        for (name, queue) in self.queues(disks) {
            let Some(leader) = self.leader(&name, &queue, disks) else { continue };
            let full = log(disks, &leader.disk, &name);
            for (node, disk) in self.pairs(&name, &queue) {
                let data = disks.get_mut(&disk).unwrap().content.data.as_mut().unwrap();
                let own = data.logs.entry(name.clone()).or_default();
                own.retain(|message| full.contains(message));
                let missing: Vec<u32> = full.difference(own).copied().take(CATCH_UP).collect();
                moved |= !missing.is_empty();
                own.extend(missing);
                if *own == full {
                    let process = self.nodes.values_mut().find(|p| p.name == node).unwrap();
                    process.caught_up.insert(name.clone());
                }
            }
        }
        moved
    }

    fn pairs(&self, name: &str, queue: &Queue) -> Vec<(String, String)> {
        self.online(name, queue).iter().map(|p| (p.name.clone(), p.disk.clone())).collect()
    }

    /// A client declares a queue, with so many replicas.
    pub fn declare(
        &mut self,
        name: &str,
        kind: Kind,
        on: &[String],
        wanted: usize,
        disks: &mut Disks,
    ) {
        let replicas: BTreeSet<String> = on.iter().cloned().collect();
        let queue = Queue { kind, replicas: replicas.clone(), wanted };
        self.in_tables(disks, |tables| {
            tables.queues.insert(name.to_string(), queue.clone());
        });
        for process in self.nodes.values().filter(|p| replicas.contains(&p.name)) {
            let data = disks.get_mut(&process.disk).unwrap().content.data.as_mut().unwrap();
            data.logs.insert(name.to_string(), BTreeSet::new());
        }
    }

    /// `add_member`: refused without a majority.
    pub fn add_member(&mut self, queue: &str, node: &str, disks: &mut Disks) -> bool {
        let Some(known) = self.queues(disks).get(queue).cloned() else { return false };
        if self.leader(queue, &known, disks).is_none() || self.by_name(node).is_none() {
            return false;
        }
        self.in_tables(disks, |tables| {
            tables.queues.get_mut(queue).unwrap().replicas.insert(node.to_string());
        });
        let disk = self.by_name(node).unwrap().1.disk.clone();
        let data = disks.get_mut(&disk).unwrap().content.data.as_mut().unwrap();
        data.logs.entry(queue.to_string()).or_default();
        let process = self.nodes.values_mut().find(|p| p.name == node).unwrap();
        process.caught_up.remove(queue);
        true
    }

    /// `delete_member`: refused without a majority, and never the last one.
    pub fn delete_member(&mut self, queue: &str, node: &str, disks: &mut Disks) -> bool {
        let Some(known) = self.queues(disks).get(queue).cloned() else { return false };
        if self.leader(queue, &known, disks).is_none() || known.replicas.len() < 2 {
            return false;
        }
        self.in_tables(disks, |tables| {
            tables.queues.get_mut(queue).unwrap().replicas.remove(node);
        });
        self.acknowledged.remove(&(queue.to_string(), node.to_string()));
        if known.kind == Kind::Stream {
            self.elect_among_the_rest(queue, &known, node, disks);
        }
        if let Some((_, process)) = self.by_name(node) {
            let disk = process.disk.clone();
            if let Some(data) = disks.get_mut(&disk).and_then(|d| d.content.data.as_mut()) {
                data.logs.remove(queue);
            }
        }
        true
    }

    /// What a stream's coordinator does when a replica is deleted: as soon as a majority of the
    /// rest has stopped, the one with most of these leads, whatever the deleted one had. It is
    /// the majority that has least.
    fn elect_among_the_rest(&self, queue: &str, known: &Queue, gone: &str, disks: &mut Disks) {
        let rest: Vec<String> = self
            .pairs(queue, known)
            .into_iter()
            .filter(|(n, _)| n != gone)
            .map(|(_, d)| d)
            .collect();
        let mut logs: Vec<BTreeSet<u32>> = rest.iter().map(|d| log(disks, d, queue)).collect();
        logs.sort_by_key(BTreeSet::len);
        let Some(elected) = logs.get((known.replicas.len() - 1) / 2).cloned() else { return };
        for disk in rest {
            if let Some(data) = disks.get_mut(&disk).and_then(|d| d.content.data.as_mut()) {
                data.logs.entry(queue.to_string()).or_default().retain(|m| elected.contains(m));
            }
        }
    }

    /// The first half of `join_cluster` through a node that runs: the tables of all, after which
    /// the others name it. Its own file of the cluster comes last ([`Self::note_join`]). Whoever
    /// knows the name refuses it.
    pub fn join(
        &mut self,
        uid: &str,
        through: &[String],
        disks: &mut Disks,
    ) -> Result<(), Unjoined> {
        let own = self.nodes[uid].clone();
        let target = through.iter().filter_map(|name| self.by_name(name));
        let target = target.map(|(_, p)| p).find(|p| p.app == App::Running).cloned();
        let Some(target) = target else { return Err(Unjoined::NobodyRuns) };
        let tables = data(disks, &target).clone();
        if tables.cluster.contains(&own.name) {
            return Err(Unjoined::Named { by: target.name, node: own.name });
        }
        let naming = tables.queues.iter().filter(|(_, q)| q.replicas.contains(&own.name));
        if let Some((queue, _)) = naming.into_iter().next() {
            self.broken.push(format!("{} joins, and {queue} names it", own.name));
        }
        self.in_tables(disks, |tables| {
            tables.cluster.insert(own.name.clone());
        });
        let (cluster, queues) = (tables.cluster, tables.queues);
        let mut joined = Data { cluster, queues, is_noted: false, ..Data::default() };
        joined.cluster.insert(own.name.clone());
        disks.get_mut(&own.disk).unwrap().content.data = Some(joined);
        Ok(())
    }

    /// The other half: its own file names the others.
    pub fn note_join(&mut self, uid: &str, disks: &mut Disks) {
        let disk = self.nodes.get(uid).map(|process| process.disk.clone());
        let disk = disk.and_then(|disk| disks.get_mut(&disk));
        if let Some(data) = disk.and_then(|disk| disk.content.data.as_mut()) {
            data.is_noted = true;
        }
    }

    /// `forget_cluster_node`: what fails with its queues is ignored, and classic queues
    /// that are on it alone are deleted.
    pub fn forget(&mut self, node: &str, disks: &mut Disks) -> Result<(), String> {
        let is_in_it = |p: &Process| data(disks, p).cluster.len() > 1;
        if self.by_name(node).is_some_and(|(_, p)| p.app == App::Running && is_in_it(p)) {
            return Err(format!("{node} must be stopped"));
        }
        for (name, queue) in self.queues(disks) {
            if !queue.replicas.contains(node) {
                continue;
            }
            match queue.kind {
                Kind::Quorum | Kind::Stream => {
                    let _ = self.delete_member(&name, node, disks);
                }
                Kind::Classic => {
                    if !self.allowed_to_go.contains(&name) {
                        self.broken.push(format!("{name} is deleted with {node}"));
                    }
                    self.in_tables(disks, |tables| {
                        tables.queues.remove(&name);
                    });
                }
            }
        }
        // That of a node that runs by itself is another cluster.
        self.in_tables(disks, |tables| {
            if tables.cluster.len() > 1 {
                tables.cluster.remove(node);
            }
        });
        Ok(())
    }

    /// What would be lost, by whoever leads or holds it now.
    pub fn lost(&self, disks: &Disks) -> Option<String> {
        let queues = self.queues(disks);
        for (name, confirmed) in &self.confirmed {
            if self.allowed_to_go.contains(name) || self.serving().next().is_none() {
                continue;
            }
            let Some(queue) = queues.get(name) else {
                return Some(format!("{name} is gone, and had confirmed messages"));
            };
            if let Some(forgetful) = self.forgetful(name, queue, confirmed, disks) {
                return Some(forgetful);
            }
            let Some(leader) = self.leader(name, queue, disks) else { continue };
            let has = log(disks, &leader.disk, name);
            let missing: Vec<&u32> = confirmed.difference(&has).take(3).collect();
            if !missing.is_empty() {
                return Some(format!(
                    "{} leads {name} without confirmed messages {missing:?}",
                    leader.name
                ));
            }
        }
        None
    }
}

impl Rabbit {
    /// A replica that votes although it has not what it has acknowledged, whether or not the
    /// others have it. What was never confirmed may go.
    fn forgetful(
        &self,
        name: &str,
        queue: &Queue,
        confirmed: &BTreeSet<u32>,
        disks: &Disks,
    ) -> Option<String> {
        self.pairs(name, queue).into_iter().find_map(|(node, disk)| {
            let key = (name.to_string(), node.clone());
            let has = log(disks, &disk, name);
            let lacks = |message: &&u32| confirmed.contains(*message) && !has.contains(*message);
            let missing: Vec<&u32> =
                self.acknowledged.get(&key)?.iter().filter(lacks).take(3).collect();
            (!missing.is_empty()).then(|| {
                format!("{node} votes in {name} without confirmed messages {missing:?} that it has acknowledged")
            })
        })
    }
}

/// What a node has on disk.
pub fn data<'a>(disks: &'a Disks, process: &Process) -> &'a Data {
    static NOTHING: std::sync::LazyLock<Data> = std::sync::LazyLock::new(Data::default);
    disks.get(&process.disk).and_then(|d| d.content.data.as_ref()).unwrap_or(&NOTHING)
}

fn log(disks: &Disks, disk: &str, queue: &str) -> BTreeSet<u32> {
    let data = disks.get(disk).and_then(|d| d.content.data.as_ref());
    data.and_then(|d| d.logs.get(queue)).cloned().unwrap_or_default()
}
