//! Restores: what an agent makes of their orders, with the tables of the ring as far as they
//! matter: what was loaded since the last truncation, and how long deletions are kept.

use super::agent::{Agent, Reach};
use super::transfers::Outcome;
use super::world::World;
use palladion_agent_transfer::tell::{Done, Line};
use palladion_agent_transfer::words::stopped::{Cause, Stopped};
use palladion_api::backup::{
    CatalogWork, Cataloged, LoadSource, LoadWay, LoadWork, SchemaWork, SettleWork, TableFound,
    TableState, Transfer, TransferTask,
};
use palladion_api::ids::HostId;
use palladion_api::member::{Liveness, MemberState};
use palladion_api::restore::RestoreAuth;
use palladion_api::words::Names;
use palladion_cassandra::resources as kinds;
use std::collections::{BTreeMap, BTreeSet};

/// What a table keeps deletions for, in the stories.
pub const OWN_GRACE: u64 = 864_000;
/// Words of a restore that leaves deletions to be kept for longer.
const STAYS: &str = "has to stay at";
/// SSTables of each member of a backup.
const SSTABLES: u64 = 4;

/// A table of the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Does it have rows that no restore has brought?
    pub has_rows: bool,
    /// `gc_grace_seconds`.
    pub grace: u64,
    /// What was loaded since the last truncation: backup and host ID of its member.
    pub loaded: BTreeSet<(String, HostId)>,
    /// The members of backups whose commit logs were replayed into it, and up to when.
    pub replayed: BTreeMap<HostId, i64>,
    /// The restores that have loaded into it since then.
    pub by: BTreeSet<String>,
    /// The orders by which it was truncated, each as often as it did that.
    pub truncated: Vec<String>,
    /// What must never happen, and did.
    pub wrong: Option<String>,
    /// A user has set the grace since.
    pub is_set_by_a_user: bool,
    /// Its indexes are there.
    pub has_indexes: bool,
    /// A storage-attached index.
    pub index: Option<String>,
    /// It is another table than that of the backup.
    pub differs: Option<String>,
}

impl Table {
    pub fn new() -> Self {
        Self {
            has_rows: false,
            grace: OWN_GRACE,
            loaded: BTreeSet::new(),
            replayed: BTreeMap::new(),
            by: BTreeSet::new(),
            truncated: Vec::new(),
            wrong: None,
            is_set_by_a_user: false,
            has_indexes: false,
            index: None,
            differs: None,
        }
    }
}

/// The tables of the ring that restores touch.
pub type Tables = BTreeMap<String, Table>;

/// The table that every backup of a story has.
pub const TABLE: &str = "shop.orders";

fn stopped(cause: Cause, message: &str) -> Line {
    Line::Stopped { cause, message: message.into() }
}

impl Agent {
    /// What one order of a restore comes to.
    pub(super) fn restore(&mut self, order: &Transfer, reach: &mut Reach<'_>) -> Option<Line> {
        let serves = self.reading().is_some_and(palladion_agent::admin::Reading::serves);
        let task = order.work.task()?;
        let is_of_restore = matches!(
            task,
            TransferTask::Catalog(_)
                | TransferTask::Schema(_)
                | TransferTask::Load(_)
                | TransferTask::Settle(_)
        );
        if !is_of_restore {
            return None;
        }
        if !serves {
            return Some(stopped(Cause::ServerDown, "the server does not answer"));
        }
        Some(match task {
            TransferTask::Catalog(of) => catalog(order, of, reach),
            TransferTask::Schema(of) => schema(order, of, reach),
            TransferTask::Load(of) => self.load(order, of, reach),
            TransferTask::Settle(of) => settle(of, reach),
            _ => return None,
        })
    }

    fn load(&self, order: &Transfer, of: &LoadWork, reach: &mut Reach<'_>) -> Line {
        let pod = self.pod.uid.to_string();
        if of.way == LoadWay::Place && !self.has_place_of(&of.source, reach.ring) {
            return stopped(Cause::RestoreFailed, "the member has other tokens");
        }
        let ring = reach.ring.views.of(&pod);
        let unsettled = ring
            .iter()
            .find(|m| m.state != MemberState::Normal || m.liveness != Liveness::Up)
            .map(|m| m.host_id.to_string());
        if let Some(host) = unsettled {
            return stopped(Cause::RingUnsettled, &format!("member {host} is not up and normal"));
        }
        let Some(Outcome::Complete(hosts)) = reach.ring.store.outcomes.get(&order.backup) else {
            return stopped(Cause::RestoreFailed, "there is no complete backup");
        };
        let out = reach.ring.store.left_out.get(&order.backup);
        if out.is_some_and(|out| out.contains(&of.source)) && of.way == LoadWay::Roles {
            return Line::Done(Done::Loaded { sstables: 0, bytes: 0 });
        }
        if !hosts.contains(&of.source) {
            return stopped(Cause::RestoreFailed, "the backup has no such member");
        }
        if of.way == LoadWay::Roles {
            reach.ring.roles_of.insert(of.source.clone());
            return Line::Done(Done::Loaded { sstables: 1, bytes: 10 });
        }
        for to in targets(&of.tables) {
            let Some(table) = reach.ring.tables.get_mut(&to) else {
                return stopped(Cause::LoadFailed, "there is no such table");
            };
            if table.grace <= OWN_GRACE {
                table.wrong = Some(format!("{} loads while deletions are forgotten", order.id));
            }
            table.loaded.insert((order.backup.clone(), of.source.clone()));
            table.by.insert(restore_of(&order.id));
        }
        Line::Done(Done::Loaded { sstables: SSTABLES, bytes: 400 })
    }
}

/// The restore of an order.
fn restore_of(order: &str) -> String {
    let parts: Vec<&str> = order.splitn(5, '-').collect();
    parts[..4.min(parts.len())].join("-")
}

fn targets(tables: &[palladion_api::restore::RestoreTable]) -> Vec<String> {
    if tables.is_empty() {
        return vec![TABLE.to_string()];
    }
    tables.iter().map(|table| table.to.clone().unwrap_or(table.from.clone())).collect()
}

/// What a backup of some keyspaces lacks of what is read, as its reader says it.
pub(super) fn lacks(order: &Transfer, of: &CatalogWork, reach: &Reach<'_>) -> Option<Line> {
    let has = reach.ring.store.keyspaces.get(&order.backup)?;
    let tables = targets_of(&of.tables);
    let mut wanted: BTreeSet<&str> = tables.iter().filter_map(|t| t.split('.').next()).collect();
    if of.auth == Some(RestoreAuth::Restore) {
        wanted.insert("system_auth");
    }
    wanted.retain(|keyspace| !has.iter().any(|has| has == keyspace));
    if wanted.is_empty() {
        return None;
    }
    let (keyspaces, has) = (Names::of(wanted), Names::of(has));
    let why = match of.whole_ring {
        true => Stopped::RingNotTaken { keyspaces, has },
        false => Stopped::NotTaken { keyspaces, has },
    };
    Some(stopped(why.cause(), &why.to_string()))
}

fn targets_of(tables: &[palladion_api::restore::RestoreTable]) -> Vec<String> {
    if tables.is_empty() {
        return vec![TABLE.to_string()];
    }
    tables.iter().map(|table| table.from.clone()).collect()
}

fn catalog(order: &Transfer, of: &CatalogWork, reach: &mut Reach<'_>) -> Line {
    if let Some(lacking) = lacks(order, of, reach) {
        return lacking;
    }
    if reach.ring.store.condemned.contains_key(&order.backup) {
        return stopped(Cause::RestoreFailed, "the backup is condemned");
    }
    let Some(Outcome::Complete(hosts)) = reach.ring.store.outcomes.get(&order.backup) else {
        return stopped(Cause::RestoreFailed, "there is no complete backup");
    };
    let hash = super::transfers::hash(hosts);
    if of.manifest_hash.as_ref().is_some_and(|wanted| *wanted != hash) {
        return stopped(Cause::RepositoryDamaged, "the manifest is another one");
    }
    let source =
        |host: &HostId| LoadSource { host_id: host.clone(), sstables: SSTABLES, bytes: 400 };
    let found = |to: String| {
        let there = reach.ring.tables.get(&to);
        let state = match there {
            None => TableState::Absent,
            Some(table) if table.has_rows || !table.loaded.is_empty() => TableState::HasRows,
            Some(_) => TableState::Empty,
        };
        let from = of.tables.iter().find(|table| table.to.as_ref() == Some(&to));
        TableFound {
            from: from.map_or(to.clone(), |table| table.from.clone()),
            to,
            state,
            gc_grace_seconds: there.map_or(OWN_GRACE, |table| table.grace),
            differs: there.and_then(|table| table.differs.clone()),
            index: there.and_then(|table| table.index.clone()),
        }
    };
    let from = reach.ring.store.taken.unwrap_or(reach.now);
    let time = k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(from);
    let cataloged = Cataloged {
        members: Vec::new(),
        journals: Vec::new(),
        from: time.clone(),
        to: time,
        sources: hosts.iter().map(source).collect(),
        tables: targets(&of.tables).into_iter().map(found).collect(),
    };
    Line::Done(Done::Cataloged { manifest_hash: hash, cataloged: Box::new(cataloged) })
}

fn schema(order: &Transfer, of: &SchemaWork, reach: &mut Reach<'_>) -> Line {
    if let Some(why) = &reach.ring.refuses_statements {
        return stopped(Cause::RestoreFailed, why);
    }
    for to in targets(&of.tables) {
        let table = reach.ring.tables.entry(to.clone()).or_insert_with(Table::new);
        if let Some(grace) = of.gc_grace_seconds {
            table.grace = grace;
        }
        if of.truncate.contains(&to) {
            if table.by.contains(&restore_of(&order.id)) {
                table.wrong = Some(format!("{} truncates what its restore has loaded", order.id));
            }
            table.truncated.push(order.id.clone());
            table.by.clear();
            table.has_rows = false;
            table.loaded.clear();
        }
    }
    Line::Done(Done::Created)
}

fn settle(of: &SettleWork, reach: &mut Reach<'_>) -> Line {
    for name in of.indexes.iter().flat_map(|indexes| &indexes.created) {
        if let Some(table) = reach.ring.tables.get_mut(name) {
            table.has_indexes = true;
        }
    }
    for own in &of.own {
        let Some(table) = reach.ring.tables.get_mut(&own.table) else { continue };
        if Some(table.grace) == of.gc_grace_seconds {
            table.grace = own.gc_grace_seconds;
        }
        table.has_indexes |= of.indexes.is_some();
    }
    Line::Done(Done::Settled)
}

impl World {
    /// Complete means that every table has all that the backup had, and keeps deletions for as
    /// long as before; nothing is truncated that nobody has confirmed.
    pub(super) fn complete_restores_are_whole(&self) -> Result<(), String> {
        for (key, restore) in self.store.list(kinds::RESTORE) {
            let status = &restore["status"];
            let is_confirmed =
                status["nonce"].is_string() && restore["spec"]["confirm"] == status["nonce"];
            let tables = status["tables"].as_array().into_iter().flatten();
            let to: Vec<&str> = tables.filter_map(|table| table["to"].as_str()).collect();
            let all = to.iter().filter_map(|to| self.ring.tables.get(*to));
            if let Some(wrong) = self.ring.tables.values().find_map(|table| table.wrong.clone()) {
                return Err(wrong);
            }
            let id = format!("{}-", status["id"].as_str().unwrap_or("none"));
            let mut by = all.clone().flat_map(|table| &table.truncated);
            if !is_confirmed && by.any(|order| order.starts_with(&id)) {
                return Err(format!("restore {} has truncated without a yes", key.name));
            }
            if status["phase"] != "Complete" || restore["metadata"]["name"] != self.newest_restore()
            {
                continue;
            }
            let backup = status["source"]["backupID"].as_str().unwrap_or_default();
            let Some(Outcome::Complete(hosts)) = self.ring.store.outcomes.get(backup) else {
                return Err(format!("restore {} is complete without a backup", key.name));
            };
            if to.is_empty() || all.clone().count() != to.len() {
                return Err(format!("restore {} is complete without its tables", key.name));
            }
            let to = restore["spec"]["pointInTime"].as_str();
            let to = to.map(|to| to.parse::<jiff::Timestamp>().expect("a time").as_second());
            for table in all {
                let is_there = |host: &HostId| table.replayed.get(host).copied() == to;
                if !hosts.iter().all(is_there) {
                    return Err(format!("restore {} is not of {to:?}: {table:?}", key.name));
                }
                let has =
                    |host: &HostId| table.loaded.contains(&(backup.to_string(), host.clone()));
                if !hosts.iter().all(has) || !table.has_indexes {
                    return Err(format!("restore {} is complete, and is not: {table:?}", key.name));
                }
                // Without a repair it has to stay, and that is said.
                let is_repaired = restore["spec"]["repair"] != "None";
                let is_told = status["conditions"].to_string().contains(STAYS);
                let is_right = match table.grace == OWN_GRACE {
                    true => is_repaired,
                    false => !is_repaired && is_told,
                };
                if !is_right && !table.is_set_by_a_user {
                    return Err(format!("restore {} and the grace: {table:?}", key.name));
                }
            }
        }
        self.what_is_raised_is_on_record()
    }

    /// Whoever comes next knows what each table had before.
    fn what_is_raised_is_on_record(&self) -> Result<(), String> {
        let Some(cluster) = self.store.get(&super::world::cluster_key()) else {
            return Ok(());
        };
        let own = cluster["status"]["restore"]["own"].as_array().cloned().unwrap_or_default();
        let is_told = |name: &String| {
            let ended = self.store.list(kinds::RESTORE).any(|(_, restore)| {
                let said = restore["status"]["conditions"].to_string();
                said.contains("is still") || said.contains(STAYS)
            });
            ended
                || own
                    .iter()
                    .any(|one| one["table"] == name.as_str() && one["gcGraceSeconds"] == OWN_GRACE)
        };
        let raised = |table: &Table| table.grace > OWN_GRACE && !table.is_set_by_a_user;
        let mut lost =
            self.ring.tables.iter().filter(|(name, table)| raised(table) && !is_told(name));
        match lost.next() {
            None => Ok(()),
            Some((name, table)) => Err(format!("nobody knows what {name} had: {table:?}")),
        }
    }

    /// What an earlier one has loaded a later one may have truncated.
    fn newest_restore(&self) -> String {
        let all = self.store.list(kinds::RESTORE);
        let newest = all.max_by_key(|(key, restore)| {
            (restore["metadata"]["creationTimestamp"].to_string(), key.name.clone())
        });
        newest.map(|(key, _)| key.name.clone()).unwrap_or_default()
    }
}
