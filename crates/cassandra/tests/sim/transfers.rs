//! Backups: what an agent makes of `spec.transfer`, by the real decider, and a store that
//! keeps names once written. Sizes and bytes are not simulated; who has sent what is.

use super::agent::{Agent, Reach};
use super::ring::{Phase, Ring};
use super::world::World;
use jiff::{SignedDuration, Timestamp};
use palladion_agent::admin::Reading;
use palladion_agent::decide::Source;
use palladion_agent::decide::rewind::Rewinding;
use palladion_agent_transfer::decide::{
    Child, Ended, Facts, Next, Noted, Order, Record, Repository, next,
};
use palladion_agent_transfer::tell::{Damaged, Done, Line};
use palladion_agent_transfer::words::stopped::Cause;
use palladion_api::backup::{
    BackupSchema, DamagedObject, Loaded, NotedTokens, QuorumWork, Replayed, RingView, Transfer,
    TransferCause, TransferState, TransferStatus, TransferTask, Uploaded,
};
use palladion_api::ids::HostId;
use palladion_api::member::{DebtKind, MemberState};
use palladion_backup::hash::Hash;
use palladion_backup::manifest::ring::OfMember;
use palladion_backup::names;
use palladion_plan::sim::Activity;
use std::collections::{BTreeMap, BTreeSet};

/// How long a snapshot and a look at the store take.
const SHORT: SignedDuration = SignedDuration::from_secs(2);
/// How long an upload takes, and a load.
const UPLOAD: SignedDuration = SignedDuration::from_secs(40);

/// How a backup ended in the store: written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With the data of these host IDs.
    Complete(BTreeSet<HostId>),
    Failed,
}

/// The store of the ring's backups.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// It does not answer.
    pub is_away: bool,
    /// What it answers to everything, if not what it should.
    pub fault: Option<Cause>,
    /// Whose it is.
    pub repository: Option<String>,
    /// What was sent: by backup and host ID.
    pub sent: BTreeSet<(String, HostId)>,
    /// Until when the commit logs of members are archived, where that does not reach every time.
    pub archived: BTreeMap<HostId, Timestamp>,
    /// The racks of members of backups, where that is not `a`.
    pub racks: BTreeMap<HostId, String>,
    /// The keyspaces of backups that are not of all.
    pub keyspaces: BTreeMap<String, Vec<String>>,
    /// The members of the ring that were left out of backups.
    pub left_out: BTreeMap<String, BTreeSet<HostId>>,
    /// The rings of which snapshots of backups were taken, and who had a repair or rebuild pending then.
    pub snapshotted: BTreeMap<String, BTreeSet<HostId>>,
    pub lacking: BTreeSet<(String, HostId)>,
    /// Why no ring can begin with the schema, if none can.
    pub unfit: Option<String>,
    /// How backups ended.
    pub outcomes: BTreeMap<String, Outcome>,
    /// When the first backup was taken.
    pub taken: Option<Timestamp>,
    /// Objects that were damaged after they were written.
    pub is_damaged: bool,
    /// Which backups are condemned, since when, and which of these were deleted, and when.
    pub condemned: BTreeMap<String, Timestamp>,
    pub swept: BTreeMap<String, Timestamp>,
    /// Who reads which backup.
    pub pins: BTreeMap<String, String>,
    /// How long it takes to delete what is condemned.
    pub sweep_takes: Option<SignedDuration>,
    /// It lets nobody delete anything.
    pub forbids_deletes: bool,
    /// The version of the schema; a change of it while snapshots are taken.
    pub schema: u32,
}

/// What is on a volume of backups.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The note of the order.
    pub record: Option<Record>,
    /// The repository of the ring.
    pub repository: Option<String>,
    /// The snapshots of ours.
    pub snapshots: BTreeSet<String>,
    /// What an order has found, beside its record.
    pub views: Option<(RingView, RingView)>,
    pub tokens: Option<String>,
}

/// What an agent holds of it while it runs.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// The order that is carried out, and when that ends.
    child: Option<(String, Timestamp)>,
    /// How it ended.
    ended: Option<(String, Option<Line>)>,
    /// What the last try said.
    last: Option<(String, Cause, String)>,
    /// The order by which clients are let in.
    opening: Option<String>,
    /// The start for a replay that it is about.
    pub(super) rewinding: Option<Rewinding>,
    /// What is told.
    pub told: Option<TransferStatus>,
}

/// A host ID of the simulation, as the repository has them.
fn uuid(host: &HostId) -> names::HostId {
    let number: u64 = host.as_str().trim_start_matches("host-").parse().unwrap_or(0);
    names::HostId::parse(&format!("00000000-0000-4000-8000-{number:012x}")).expect("a UUID")
}

impl Agent {
    /// Follow the order in the spec.
    pub(super) fn transfer(&mut self, reach: &mut Reach<'_>) -> Activity {
        let mut all = self.carry(reach);
        self.repository =
            reach.disks.get(&self.pod.disk).and_then(|d| d.content.backups.repository.clone());
        let order = match (&self.saved, self.source) {
            (Some(saved), Source::Live) => saved.spec.transfer.clone(),
            // What runs goes on, and nothing is begun.
            (_, Source::Saved) | (None, Source::Live) => return all,
        };
        // Withdrawn, and not at work any more: nothing is told.
        if order.is_none()
            && self.moves.child.is_none()
            && self.moves.told.as_ref().is_some_and(|told| told.state == TransferState::Running)
        {
            self.moves.told = None;
        }
        for _ in 0..4 {
            let before = self.moves.clone();
            match next(&self.transfer_facts(order.as_ref(), reach)) {
                Next::Rest => break,
                Next::Refuse(why) => {
                    let id = order.as_ref().map(|o| o.id.clone()).unwrap_or_default();
                    let cause = Some(TransferCause::NotForUs);
                    let told = told(id, TransferState::Refused, cause, Some(why.to_string()));
                    self.moves.told = Some(told);
                    break;
                }
                Next::End => {
                    self.moves.opening = None;
                    self.moves.rewinding = None;
                    self.moves.child = None;
                    self.moves.ended = None;
                }
                Next::Note(record) => {
                    let kept = kept(reach, &self.pod.disk);
                    if kept.record.as_ref().is_none_or(|before| before.id != record.id) {
                        (kept.views, kept.tokens) = (None, None);
                    }
                    kept.record = Some(*record);
                    self.moves.ended = None;
                    self.moves.opening = None;
                    self.moves.rewinding = None;
                    self.tell_running(order.as_ref(), reach);
                }
                Next::Start => {
                    let Some(order) = &order else { break };
                    self.moves.opening = None;
                    if let Some(TransferTask::Open(_)) = order.work.task() {
                        self.open_to_clients(reach);
                        self.moves.opening = Some(order.id.clone());
                        self.tell_running(Some(order), reach);
                        all = all.and(Activity::ACTED);
                        continue;
                    }
                    if self.rewinds_first(order) {
                        self.tell_running(Some(order), reach);
                        all = all.and(Activity::ACTED);
                        continue;
                    }
                    let time = match order.work.task() {
                        Some(
                            TransferTask::Upload(_)
                            | TransferTask::Load(_)
                            | TransferTask::Replay(_),
                        ) => UPLOAD,
                        Some(TransferTask::Sweep(_)) => {
                            reach.ring.store.sweep_takes.unwrap_or(SHORT)
                        }
                        _ => SHORT,
                    };
                    let end = reach.now + time;
                    self.moves.child = Some((order.id.clone(), end));
                    self.tell_running(Some(order), reach);
                    all = all.and(Activity::ACTED.at(end));
                }
                Next::Wait { until } => {
                    if let Some((id, cause, message)) = self.moves.last.clone() {
                        let cause = Some(as_told(cause));
                        self.moves.told =
                            Some(told(id, TransferState::Waiting, cause, Some(message)));
                    }
                    let at = Timestamp::from_second(until).expect("a time");
                    return all.at((at - self.clock).max(reach.now + SignedDuration::from_secs(1)));
                }
                Next::Answer(ended) => {
                    let id = order.as_ref().map(|o| o.id.clone()).unwrap_or_default();
                    self.moves.told = Some(self.result(id, &ended, reach));
                    break;
                }
            }
            if self.moves.child != before.child || self.moves.ended != before.ended {
                all = all.and(Activity::ACTED);
            }
        }
        all
    }

    fn tell_running(&mut self, order: Option<&Transfer>, reach: &Reach<'_>) {
        let record = reach.disks.get(&self.pod.disk).and_then(|d| d.content.backups.record.clone());
        let is_open = record.is_some_and(|record| record.ended.is_none());
        if let Some(order) = order.filter(|_| is_open) {
            self.moves.told = Some(told(order.id.clone(), TransferState::Running, None, None));
        }
    }

    fn transfer_facts(&self, order: Option<&Transfer>, reach: &Reach<'_>) -> Facts {
        let content = reach.disks.get(&self.pod.disk).map(|disk| &disk.content);
        let record = content.and_then(|content| content.backups.record.clone());
        let ledger = self.ledger();
        Facts {
            order: order.map(|order| Order {
                host: order.host_id.clone(),
                // Host IDs of the simulation are no UUIDs.
                unfit: None,
                ..Order::of(order)
            }),
            noted: record.map_or(Noted::Nothing, |record| Noted::Record(Box::new(record))),
            child: match (&self.moves.child, &self.moves.ended) {
                (Some((id, _)), _) => Child::Runs { id: id.clone() },
                (None, Some((id, last))) => Child::Ended { id: id.clone(), last: last.clone() },
                (None, None) => match &self.moves.opening {
                    Some(id) => self.opening(id),
                    None => self.rewinding().unwrap_or(Child::Absent),
                },
            },
            host: ledger.and_then(|ledger| ledger.host_id.clone()),
            volume: ledger.map(|l| l.volume_id.clone()).unwrap_or_default(),
            repository: match content.and_then(|content| content.backups.repository.clone()) {
                Some(noted) => Repository::Noted(noted),
                None => Repository::None,
            },
            now: self.clock_at(reach.now).as_second(),
        }
    }

    /// What runs ends when its time has come.
    fn carry(&mut self, reach: &mut Reach<'_>) -> Activity {
        let Some((id, end)) = self.moves.child.clone() else {
            return Activity::default();
        };
        if end > reach.now {
            return Activity::default().at(end);
        }
        self.moves.child = None;
        let order = self.saved.as_ref().and_then(|saved| saved.spec.transfer.clone());
        let Some(order) = order.filter(|order| order.id == id) else {
            self.moves.ended = Some((id, None));
            return Activity::ACTED;
        };
        let line = self.done(&order, reach);
        if let Line::Stopped { cause, message } = &line {
            self.moves.last = Some((id.clone(), *cause, message.clone()));
        }
        self.moves.ended = Some((id, Some(line)));
        Activity::ACTED
    }

    fn done(&mut self, order: &Transfer, reach: &mut Reach<'_>) -> Line {
        let stopped = |cause, message: &str| Line::Stopped { cause, message: message.into() };
        if reach.ring.store.is_away && !matches!(order.work.task(), Some(TransferTask::Snapshot(_)))
        {
            return stopped(Cause::StoreUnreachable, "the store does not answer");
        }
        if let Some(cause) = reach.ring.store.fault {
            return stopped(cause, "a fault of the store");
        }
        let (now, pod) = (reach.now, self.pod.uid.to_string());
        if let Some(line) = self.before_the_start(order, reach) {
            return line;
        }
        let Some(host) = self.ledger().and_then(|ledger| ledger.host_id.clone()) else {
            return stopped(Cause::Refused, "it has not joined");
        };
        let serves = self.reading().is_some_and(Reading::serves);
        let needs_server = |line: Line| match serves {
            true => line,
            false => stopped(Cause::ServerDown, "the server does not answer"),
        };
        match order.work.task() {
            None => stopped(Cause::Refused, "not known"),
            Some(TransferTask::Prepare(_)) => self.prepare_store(order, reach),
            Some(TransferTask::Snapshot(of)) => {
                let view = reach.ring.view(&pod, now);
                let is_used = kept(reach, &self.pod.disk).snapshots.contains(&of.tag);
                match view.filter(|_| serves) {
                    None => needs_server(stopped(Cause::ServerDown, "the server does not answer")),
                    Some(_) if is_used => stopped(Cause::BackupFailed, "the tag was used"),
                    Some(view) => {
                        if !of.keyspaces.is_empty() {
                            let keyspaces = &mut reach.ring.store.keyspaces;
                            keyspaces.insert(order.backup.clone(), of.keyspaces.clone());
                        }
                        let there = reach.ring.hosts_of(&pod);
                        let store = &mut reach.ring.store;
                        store.snapshotted.insert(order.backup.clone(), there);
                        let id = (order.backup.clone(), host.clone());
                        match self.lacks() {
                            true => store.lacking.insert(id),
                            false => store.lacking.remove(&id),
                        };
                        let kept = kept(reach, &self.pod.disk);
                        kept.snapshots.insert(of.tag.clone());
                        kept.views = Some((view.clone(), view));
                        // The kind of the answer does not matter here; views go beside it.
                        Line::Done(Done::Prepared)
                    }
                }
            }
            Some(TransferTask::Describe(of)) => {
                let there = reach.ring.hosts_of(&pod);
                if let Some(quorum) = of.quorum.as_ref().filter(|_| serves) {
                    let counts = &there - &left_out(quorum);
                    if counts != of.members.iter().cloned().collect() {
                        return stopped(Cause::RingChanged, "the ring has other members");
                    }
                    if !suffices(&there, &counts) {
                        return stopped(Cause::BackupFailed, "no majority of a range is left");
                    }
                }
                let tokens = of.quorum.as_ref().map(|_| reach.ring.tokens_hash(&there));
                match reach.ring.view(&pod, now).filter(|_| serves) {
                    None => needs_server(stopped(Cause::ServerDown, "the server does not answer")),
                    Some(view) => {
                        let kept = kept(reach, &self.pod.disk);
                        kept.views = Some((view.clone(), view));
                        kept.tokens = tokens;
                        Line::Done(Done::Prepared)
                    }
                }
            }
            Some(TransferTask::Upload(of)) => {
                let failed = reach.ring.store.outcomes.get(&order.backup) == Some(&Outcome::Failed);
                if failed {
                    return stopped(Cause::BackupFailed, "it has failed");
                }
                if !kept(reach, &self.pod.disk).snapshots.remove(&of.tag) {
                    return stopped(Cause::BackupFailed, "there is no such snapshot");
                }
                reach.ring.store.sent.insert((order.backup.clone(), host.clone()));
                let member = OfMember {
                    host: uuid(&host),
                    datacenter: "dc1".into(),
                    rack: "a".into(),
                    manifest: format!("{host}~1"),
                    sha256: Hash::of(host.as_str().as_bytes()),
                    files: 3,
                    bytes: 300,
                    stored_bytes: 300,
                };
                Line::Done(Done::Uploaded {
                    checkpoint: 1,
                    member,
                    sent_bytes: 300,
                    reused_bytes: 0,
                    peak_bytes: 0,
                })
            }
            Some(TransferTask::Finish(of)) => {
                let hosts: BTreeSet<HostId> =
                    of.members.iter().map(|m| m.host_id.clone()).collect();
                let mut there = reach.ring.hosts_of(&pod);
                if !serves || there.is_empty() {
                    return stopped(Cause::ServerDown, "the server does not answer");
                }
                let tokens = reach.ring.tokens_hash(&there);
                for sent in &of.members {
                    if sent.replaced_by.as_ref().is_some_and(|by| there.remove(by)) {
                        there.insert(sent.host_id.clone());
                    }
                }
                let out = of.quorum.as_ref().map(left_out).unwrap_or_default();
                if &there - &out != hosts {
                    return stopped(Cause::RingChanged, "the ring has other members");
                }
                let told = of.quorum.as_ref().and_then(|quorum| quorum.tokens_hash.clone());
                if of.quorum.is_some() && told != Some(tokens) {
                    return stopped(Cause::RingChanged, "the ring has other tokens");
                }
                let schema = of.quorum.as_ref().and_then(|quorum| quorum.schema_version.clone());
                if schema.is_some_and(|then| then != reach.ring.store.schema.to_string()) {
                    return stopped(Cause::RingChanged, "the ring has another schema");
                }
                if of.quorum.is_some() && !suffices(&there, &hosts) {
                    return stopped(Cause::BackupFailed, "no majority of a range is left");
                }
                reach.ring.store.left_out.insert(order.backup.clone(), &there & &out);
                reach.ring.store.taken.get_or_insert(now);
                reach.ring.store.finish(&order.backup, hosts)
            }
            Some(TransferTask::Verify(_)) => {
                let store = &reach.ring.store;
                let Some(Outcome::Complete(hosts)) = store.outcomes.get(&order.backup) else {
                    return stopped(Cause::BackupFailed, "there is no complete backup");
                };
                let one =
                    || Damaged { object: "o".into(), wrong: "cut".into(), tables: Vec::new() };
                let damaged = store.is_damaged.then(one).into_iter().collect();
                Line::Done(Done::Verified {
                    manifest_hash: hash(hosts),
                    objects: 3,
                    read: 1,
                    damaged,
                })
            }
            Some(
                TransferTask::Catalog(_)
                | TransferTask::Schema(_)
                | TransferTask::Load(_)
                | TransferTask::Settle(_),
            ) => self.restore(order, reach).expect("an order of a restore"),
            Some(TransferTask::Replay(of)) => self.replay(order, of, reach),
            Some(TransferTask::Tokens(_) | TransferTask::Open(_)) => {
                unreachable!("it needs no child")
            }
            Some(TransferTask::Expire(of)) => reach.ring.store.expire(of, now),
            Some(TransferTask::Sweep(of)) => reach.ring.store.sweep(of, now),
            Some(TransferTask::Discard(of)) => {
                let kept = kept(reach, &self.pod.disk);
                kept.snapshots.retain(|tag| !of.tags.contains(tag));
                let outcomes = &mut reach.ring.store.outcomes;
                if of.write_outcome {
                    let found = outcomes.entry(order.backup.clone()).or_insert(Outcome::Failed);
                    if *found != Outcome::Failed {
                        return stopped(Cause::BackupFailed, "it is complete");
                    }
                }
                Line::Done(Done::Discarded { files: 0 })
            }
        }
    }

    /// May it lack what others have?
    fn lacks(&self) -> bool {
        let pending = self.saved.as_ref().map(|saved| &saved.spec.pending_maintenance);
        pending.into_iter().flatten().any(|debt| {
            matches!(debt.kind, DebtKind::Repair | DebtKind::Rebuild | DebtKind::Unknown(_))
        })
    }

    fn prepare_store(&mut self, order: &Transfer, reach: &mut Reach<'_>) -> Line {
        let ours = order.repository.id.clone();
        let kept = kept(reach, &self.pod.disk);
        let noted = kept.repository.get_or_insert_with(|| ours.clone()).clone();
        let found = reach.ring.store.repository.get_or_insert_with(|| ours.clone()).clone();
        let foreign = || Line::Stopped {
            cause: Cause::RepositoryForeign,
            message: format!("the repository is {found}"),
        };
        match found == ours && noted == ours {
            true => Line::Done(Done::Prepared),
            false => foreign(),
        }
    }

    fn result(&self, id: String, ended: &Ended, reach: &Reach<'_>) -> TransferStatus {
        let kept = reach.disks.get(&self.pod.disk).map(|disk| &disk.content.backups);
        let views = kept.and_then(|kept| kept.views.clone());
        let order = self.saved.as_ref().and_then(|saved| saved.spec.transfer.as_ref());
        let mut told = told(id, TransferState::Done, None, None);
        match ended {
            Ended::Failed { cause, message } => {
                told.state = TransferState::Failed;
                told.cause = Some(as_told(*cause));
                told.message = Some(message.clone());
            }
            Ended::Done(Done::Uploaded { checkpoint, member, .. }) => {
                told.uploaded = Some(Uploaded {
                    checkpoint: *checkpoint,
                    sha256: member.sha256.to_string(),
                    files: member.files,
                    bytes: member.bytes,
                    sent_bytes: member.bytes,
                    reused_bytes: 0,
                });
            }
            Ended::Done(Done::Finished { manifest_hash }) => {
                told.manifest_hash = Some(manifest_hash.clone());
            }
            Ended::Done(Done::Verified { manifest_hash, damaged, .. }) => {
                told.manifest_hash = Some(manifest_hash.clone());
                told.damaged = damaged
                    .iter()
                    .map(|one| DamagedObject {
                        object: one.object.clone(),
                        wrong: one.wrong.clone(),
                        tables: Vec::new(),
                    })
                    .collect();
            }
            Ended::Done(Done::Cataloged { manifest_hash, cataloged }) => {
                told.manifest_hash = Some(manifest_hash.clone());
                told.cataloged = Some((**cataloged).clone());
            }
            Ended::Done(Done::Loaded { sstables, bytes }) => {
                told.loaded = Some(Loaded { sstables: *sstables, bytes: *bytes });
            }
            Ended::Done(Done::Replayed { segments, bytes }) => {
                told.replayed = Some(Replayed { segments: *segments, bytes: *bytes });
            }
            Ended::Done(Done::Noted { source, tokens_hash }) => {
                let (source, tokens_hash) = (source.clone(), tokens_hash.clone());
                told.noted_tokens = Some(NotedTokens { source, tokens_hash });
            }
            Ended::Done(Done::Expired { expired }) => told.expired = Some((**expired).clone()),
            Ended::Done(Done::Swept { swept }) => told.swept = Some((**swept).clone()),
            Ended::Done(_) => {
                told.tokens_hash = kept.and_then(|kept| kept.tokens.clone());
                if let Some((before, after)) = views {
                    (told.before, told.after) = (Some(before), Some(after));
                }
                let of_schema = |order: &&Transfer| {
                    matches!(order.work.task(), Some(TransferTask::Describe(_)))
                };
                told.schema = order.filter(of_schema).map(|_| BackupSchema {
                    object: "schema/1".into(),
                    sha256: Hash::of(b"schema").to_string(),
                    bytes: 6,
                    unfit: reach.ring.store.unfit.clone(),
                });
            }
        }
        told
    }
}

fn left_out(of: &QuorumWork) -> BTreeSet<HostId> {
    of.left_out.iter().map(|out| out.host_id.clone()).collect()
}

/// Is a majority of the replicas of each range among these? Each range has three: a member and the
/// two that follow it.
fn suffices(ring: &BTreeSet<HostId>, there: &BTreeSet<HostId>) -> bool {
    let all: Vec<&HostId> = ring.iter().collect();
    let replicas = |at: usize| -> BTreeSet<HostId> {
        (at..at + 3).map(|n| all[n % all.len()].clone()).collect()
    };
    (0..all.len()).map(replicas).all(|of| of.intersection(there).count() > of.len() / 2)
}

fn kept<'a>(reach: &'a mut Reach<'_>, disk: &str) -> &'a mut Kept {
    &mut reach.disks.get_mut(disk).expect("an agent has a disk").content.backups
}

fn told(
    id: String,
    state: TransferState,
    cause: Option<TransferCause>,
    message: Option<String>,
) -> TransferStatus {
    TransferStatus {
        id,
        state,
        cause,
        message,
        progress: None,
        before: None,
        after: None,
        schema: None,
        tokens_hash: None,
        uploaded: None,
        manifest_hash: None,
        cataloged: None,
        loaded: None,
        replayed: None,
        noted_tokens: None,
        expired: None,
        swept: None,
        damaged: Vec::new(),
    }
}

fn as_told(cause: Cause) -> TransferCause {
    match cause {
        Cause::StoreUnreachable => TransferCause::StoreUnreachable,
        Cause::StoreUnsuited => TransferCause::StoreUnsuited,
        Cause::RepositoryForeign => TransferCause::RepositoryForeign,
        Cause::RepositoryDamaged => TransferCause::RepositoryDamaged,
        Cause::EncryptionKeyMissing => TransferCause::EncryptionKeyMissing,
        Cause::NotEnoughSpace => TransferCause::NotEnoughSpace,
        Cause::BackupFailed => TransferCause::BackupFailed,
        Cause::ServerDown => TransferCause::ServerDown,
        Cause::RingChanged => TransferCause::RingChanged,
        Cause::LoadFailed => TransferCause::LoadFailed,
        Cause::RingUnsettled => TransferCause::RingUnsettled,
        Cause::RestoreFailed => TransferCause::RestoreFailed,
        Cause::Refused => TransferCause::NotSupported,
    }
}

/// What vouches for a backup of these.
pub fn hash(hosts: &BTreeSet<HostId>) -> String {
    let all: Vec<&str> = hosts.iter().map(HostId::as_str).collect();
    Hash::of(all.join(" ").as_bytes()).to_string()
}

impl Outcome {
    /// Whose data it has.
    pub fn hosts(&self) -> impl Iterator<Item = &HostId> {
        let hosts = match self {
            Self::Complete(hosts) => Some(hosts),
            Self::Failed => None,
        };
        hosts.into_iter().flatten()
    }
}

impl Store {
    fn finish(&mut self, backup: &str, hosts: BTreeSet<HostId>) -> Line {
        let stopped = |message: &str| Line::Stopped {
            cause: Cause::BackupFailed,
            message: message.to_string(),
        };
        if !hosts.iter().all(|host| self.sent.contains(&(backup.to_string(), host.clone()))) {
            return stopped("a member has not sent all");
        }
        let found =
            self.outcomes.entry(backup.to_string()).or_insert(Outcome::Complete(hosts.clone()));
        match *found == Outcome::Complete(hosts.clone()) {
            true => Line::Done(Done::Finished { manifest_hash: hash(&hosts) }),
            false => stopped("it has ended otherwise"),
        }
    }
}

impl Ring {
    /// The full members, as the server in this pod sees them.
    fn hosts_of(&self, pod: &str) -> BTreeSet<HostId> {
        let all = self.views.of(pod).into_iter();
        all.filter(|m| m.state == MemberState::Normal).map(|m| m.host_id).collect()
    }

    /// Of all tokens of these, whoever has them.
    fn tokens_hash(&self, hosts: &BTreeSet<HostId>) -> String {
        let tokens = hosts.iter().filter_map(|host| Some(self.seats.get(host)?.tokens));
        let tokens: BTreeSet<u64> = tokens.collect();
        Hash::of(format!("{tokens:?}").as_bytes()).to_string()
    }

    /// What the server in this pod says of its ring.
    fn view(&self, pod: &str, now: Timestamp) -> Option<RingView> {
        let server = self.servers.get(pod).filter(|server| server.phase == Phase::Normal)?;
        let _ = (server, now);
        let members: Vec<String> =
            self.views.of(pod).iter().map(|m| format!("{} {:?}", m.host_id, m.state)).collect();
        Some(RingView {
            tokens_hash: Hash::of(members.join(",").as_bytes()).to_string(),
            schema_version: self.store.schema.to_string(),
        })
    }
}

impl World {
    /// Complete means that all that the backup names is in the store, and its outcome says so.
    pub(super) fn complete_backups_are_whole(&self) -> Result<(), String> {
        let backups = self.store.list(palladion_cassandra::resources::BACKUP);
        for (_, backup) in backups.filter(|(_, b)| b["status"]["phase"] == "Complete") {
            let id = backup["status"]["id"].as_str().unwrap_or_default();
            let store = &self.ring.store;
            let Some(Outcome::Complete(hosts)) = store.outcomes.get(id) else {
                return Err(format!(
                    "backup {id} is called complete, and the store has no outcome"
                ));
            };
            let told = backup["status"]["manifestHash"].as_str().unwrap_or_default();
            let sent = |host: &HostId| store.sent.contains(&(id.to_string(), host.clone()));
            let members = backup["status"]["members"].as_array().cloned().unwrap_or_default();
            let is_in = |member: &&serde_json::Value| member["state"] != "Missing";
            let named = members.iter().filter(is_in).count();
            let is_quorum = backup["spec"]["coverage"] == "QuorumOfEachRange";
            if named < members.len() && !is_quorum {
                return Err(format!("backup {id} leaves members out that it was to have"));
            }
            let out = store.left_out.get(id).cloned().unwrap_or_default();
            // Of the ring in which the snapshots were taken, whatever came later.
            let then = store.snapshotted.get(id).cloned().unwrap_or_default();
            if is_quorum && !suffices(&then, hosts) {
                return Err(format!("backup {id} has no majority of a range: {hosts:?}"));
            }
            let lacks = hosts
                .iter()
                .find(|host| store.lacking.contains(&(id.to_string(), (*host).clone())));
            if let Some(host) = lacks.filter(|_| !then.is_subset(hosts)) {
                return Err(format!(
                    "{host} was to be repaired before backup {id} does without others"
                ));
            }
            if is_quorum && out.is_empty() != then.is_subset(hosts) {
                return Err(format!("backup {id} does not name who is left out: {hosts:?}"));
            }
            if hash(hosts) != told || !hosts.iter().all(sent) || named != hosts.len() {
                return Err(format!("backup {id} is called complete, and is not: {hosts:?}"));
            }
        }
        Ok(())
    }
}
