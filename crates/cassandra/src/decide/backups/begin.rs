//! The next backup: what must be so before it is taken up, and how it goes on record.

use super::answers::{identity, waiting};
use super::course::{Said, write};
use super::orders::UnderWay;
use super::read::{self, Backup};
use super::{lacking, lost};
use crate::decide::draft::Draft;
use crate::decide::transfers::{full_members, moves};
use crate::decide::turn::lock::seen;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::backups::{Doing, Failed, Happened, Pending, Phase};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{
    BackupCoverage, BackupMember, BackupPhase, BackupVerify, CassandraBackupStatus,
};
use palladion_api::cluster::ClusterBackup;
use palladion_api::ids::MemberName;
use palladion_plan::words::Names;
use palladion_plan::{Event, Step};
use serde_json::json;

/// Agents of before this protocol do not know `spec.transfer`.
pub const KNOWS_TRANSFERS: u32 = 9;
/// And those of before this one no backup that leaves members out.
const KNOWS_QUORUM: u32 = 17;

/// Nobody has begun one: take up the first that can be, and say of the others why not.
pub fn next(facts: &Facts<'_>, valid: &Valid, waiting: &[Backup<'_>], draft: &mut Draft) {
    let mut first: Option<String> = None;
    // A leave, a join or a rollout of this very decision goes first.
    let is_free = !draft.has_work();
    for backup in waiting {
        if ends_at_once(facts, backup, draft) {
            continue;
        }
        if let Some(first) = first.clone() {
            say(facts, backup, Pending::InQueue { backup: first }, draft);
            continue;
        }
        match ready(facts, valid, backup) {
            Ok(_) if facts.expires_backups() => {
                say(facts, backup, Pending::Retention, draft);
            }
            Ok(_) if !is_free => say(facts, backup, Pending::RingFirst, draft),
            Ok(repository) => {
                take(facts, backup, repository, draft);
                first = Some(backup.name().to_string());
            }
            Err(why) => say(facts, backup, why, draft),
        }
    }
}

/// One is under way: the others wait for it.
pub fn say_queued<'a, 'b: 'a>(
    facts: &Facts<'_>,
    others: impl Iterator<Item = &'a Backup<'b>>,
    first: &str,
    draft: &mut Draft,
) {
    for backup in others {
        if !ends_at_once(facts, backup, draft) {
            say(facts, backup, Pending::InQueue { backup: first.to_string() }, draft);
        }
    }
}

/// What has not begun is given up without anybody having to do anything.
pub fn ends_at_once(facts: &Facts<'_>, backup: &Backup<'_>, draft: &mut Draft) -> bool {
    // It was taken up, and the ring knows nothing of it: the cluster was created again, or its
    // status was edited. What it has taken is of then; nobody goes on with it.
    if backup.status.started_at.is_some() {
        write(facts, backup, ended(backup, BackupPhase::Failed), Failed::Forgotten, draft);
        return true;
    }
    if backup.spec.abort {
        let status = ended(backup, BackupPhase::Aborted);
        write(facts, backup, status, Failed::AbortedInTime, draft);
        return true;
    }
    let Some(deadline) = backup.deadline() else {
        return false;
    };
    if facts.now() < deadline {
        draft.wake_at(deadline);
        return false;
    }
    let seconds = backup.spec.deadline_seconds;
    write(facts, backup, ended(backup, BackupPhase::Failed), Failed::Deadline { seconds }, draft);
    true
}

fn ended(backup: &Backup<'_>, phase: BackupPhase) -> CassandraBackupStatus {
    CassandraBackupStatus { phase: Some(phase), ..backup.status.clone() }
}

/// It waits for this.
pub fn say(facts: &Facts<'_>, backup: &Backup<'_>, why: impl Into<Said>, draft: &mut Draft) {
    let phase = Some(BackupPhase::Pending);
    let status = CassandraBackupStatus { phase, ..backup.status.clone() };
    write(facts, backup, status, why, draft);
}

/// Could one of these begin, but for what is done about backups that expire?
pub fn is_ready(facts: &Facts<'_>, valid: &Valid) -> bool {
    let is_new = |backup: &&Backup<'_>| backup.status.started_at.is_none() && !backup.spec.abort;
    read::open(facts).iter().filter(is_new).any(|backup| ready(facts, valid, backup).is_ok())
}

/// The repository of the ring, if a backup can begin.
fn ready(facts: &Facts<'_>, valid: &Valid, backup: &Backup<'_>) -> Result<String, Said> {
    if valid.backup.is_none() {
        let cluster = valid.name.clone();
        return Err(Pending::NoStore { cluster }.into());
    }
    if let BackupVerify::Unknown(word) = backup.spec.verify {
        return Err(Pending::UnknownVerify { word: word.to_string() }.into());
    }
    if let BackupCoverage::Unknown(word) = backup.spec.coverage {
        return Err(Pending::UnknownCoverage { word: word.to_string() }.into());
    }
    if !facts.ring_exists() {
        return Err(Pending::NoRing.into());
    }
    if let Some(restore) = &facts.status.restore {
        return Err(Pending::Restore { restore: restore.restore.clone() }.into());
    }
    let others = facts.members_elsewhere();
    // Who finishes would find members that are not of it, after all was sent.
    if !others.is_empty() {
        let datacenters = Names::of(others.keys());
        return Err(Pending::OtherDatacenters { datacenters }.into());
    }
    let lost = lost::without_successor(facts, backup);
    if let Some(turn) =
        facts.turn().filter(|turn| moves(turn.step) && !is_lost(&lost, &turn.member))
    {
        let (member, work) = (turn.member.clone(), turn.step.into());
        return Err(Pending::Turn { member, work }.into());
    }
    are_up(facts, backup, &lost)?;
    repository(facts)
}

fn is_lost(lost: &[BackupMember], member: &MemberName) -> bool {
    lost.iter().any(|entry| entry.name == *member)
}

/// Are the members up, or as many as it takes to begin, and do their agents know what to do?
fn are_up(facts: &Facts<'_>, backup: &Backup<'_>, lost: &[BackupMember]) -> Result<(), Said> {
    let (mut up, mut without) = (Vec::new(), Vec::new());
    without.extend(lost.iter().map(|entry| entry.name.clone()));
    for member in full_members(facts).filter(|member| !is_lost(lost, &member.name)) {
        let name = || member.name.clone();
        let is_up = member.is_live(&facts.nodes);
        if !(is_up || backup.leaves_out()) {
            return Err(Pending::MemberDown { member: name() }.into());
        }
        if identity(member).is_none() {
            return Err(Pending::NotRecorded { member: name() }.into());
        }
        if !is_up {
            without.push(name());
            continue;
        }
        up.push(member);
        if let Some(agent) = older(member, KNOWS_TRANSFERS) {
            return Err(Pending::AgentTooOld { member: name(), agent }.into());
        }
        if let Some(pending) = leaves_nobody_out(member).filter(|_| backup.leaves_out()) {
            return Err(pending.into());
        }
    }
    if up.is_empty() {
        return Err(Pending::AllDown.into());
    }
    let lacks = |member: &MemberFact| Some((member.name.clone(), lacking::pending(member)?));
    match up.into_iter().find_map(lacks).filter(|_| !without.is_empty()) {
        None => Ok(()),
        Some((member, pending)) => {
            Err(Pending::Lacking { member, pending, without: Names::of(without) }.into())
        }
    }
}

/// The version of its agent, if that has a protocol of before this one.
fn older(member: &MemberFact, protocol: u32) -> Option<String> {
    let agent = member.status.agent.as_ref().filter(|agent| agent.protocol < protocol)?;
    Some(agent.version.clone())
}

/// Is its agent one that takes backups of all members only?
pub fn leaves_nobody_out(member: &MemberFact) -> Option<Pending> {
    let agent = older(member, KNOWS_QUORUM)?;
    Some(Pending::AgentLeavesNobodyOut { member: member.name.clone(), agent })
}

/// As it is on record, or else as it is noted on the volumes: a cluster object that was created
/// again around its volumes goes on with the repository that it had.
fn repository(facts: &Facts<'_>) -> Result<String, Said> {
    let all = facts.repositories();
    let mut each = all.iter();
    match (each.next(), each.next()) {
        // Random, and of this decision alone.
        (None, _) => Ok(facts.snapshot.nonce.as_str().to_string()),
        (Some(one), None) => Ok((*one).to_string()),
        (Some(_), Some(_)) => {
            let repositories = Names::of(all.iter());
            Err(Pending::TwoRepositories { repositories }.into())
        }
    }
}

/// The repository that the ring has, if that is known and all volumes agree.
pub fn known_repository(facts: &Facts<'_>) -> Option<String> {
    facts.repository()
}

/// On record before anybody is ordered anything.
fn take(facts: &Facts<'_>, backup: &Backup<'_>, repository_id: String, draft: &mut Draft) {
    let name = backup.name().to_string();
    let record = ClusterBackup {
        repository_id,
        id: Some(Backup::new_id(facts)),
        discarding_since: None,
        backup: Some(name.clone()),
        backup_uid: Some(backup.uid().clone()),
    };
    let status = json!({ "backup": record, "epoch": facts.snapshot.epoch });
    // Nobody has begun to leave or to join meanwhile.
    let pointers =
        ["/status/backup", "/status/restore", "/status/retention", "/status/epoch", "/status/turn"];
    let seen = pointers.map(|p| seen(facts, p));
    let event = Event::normal(Happened::Begun { backup: name.clone() });
    let event = event.also_about(crate::resources::BACKUP, &backup.object.meta);
    let step = Step::compare_and_set(status, seen.into(), Doing::Take { backup: name });
    draft.steps.push(step.announced(event));
}

/// It has been taken up: its members go on record, so that whoever comes later is not of it.
pub fn record(facts: &Facts<'_>, (backup, active, goes): UnderWay<'_, '_>, draft: &mut Draft) {
    let lost = lost::without_successor(facts, backup);
    let entry = |member: &MemberFact| Some(waiting(member, identity(member)?));
    let there = full_members(facts).filter(|member| !is_lost(&lost, &member.name)).map(entry);
    let entries: Option<Vec<BackupMember>> = there.chain(lost.iter().cloned().map(Some)).collect();
    let Some(entries) = entries.filter(|entries| !entries.is_empty()) else {
        return;
    };
    let status = CassandraBackupStatus {
        phase: Some(BackupPhase::Preparing),
        id: Some(active.id.clone()),
        repository_id: Some(active.repository.clone()),
        store: Some(goes.place.clone()),
        sealed: Some(goes.is_sealed),
        started_at: Some(Time(facts.now())),
        members: entries,
        ..backup.status.clone()
    };
    let members = status.members.len();
    write(facts, backup, status, Phase::Preparing { done: 0, members }, draft);
}
