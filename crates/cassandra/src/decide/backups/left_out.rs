//! Members that a backup does without: they are down when the snapshots are taken, or lost before
//! they have sent theirs. Until the first snapshot is ordered nothing is final. From then on they are
//! on record as such before anything else is decided, and do not come back to it. Whether the others
//! suffice is looked at by who writes the schema, before anybody sends anything, and by who finishes.

use super::answers::{is_lost, member};
use super::course::write;
use super::orders::{UnderWay, give};
use super::read::{Backup, count, is_in};
use super::{give_up, lacking, lost};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::backups::{Failed, LeftOut, Phase};
use jiff::{SignedDuration, Timestamp};
use palladion_api::backup::{
    BackupMember, BackupMemberState as State, BackupPhase, CassandraBackupStatus, DiscardWork,
    LeftOutMember, QuorumWork, SentManifest, TransferCause, TransferStatus, TransferWork,
};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::ids::HostId;
use palladion_plan::hash;
use palladion_plan::words::Names;
use serde_json::json;
use std::collections::BTreeMap;

/// A member whose agent or server was started just before the backup is up by then.
const MINUTE: SignedDuration = SignedDuration::from_mins(1);
/// Who is restarted is up again by then, or it is not the restart that keeps it down.
const RESTART: SignedDuration = SignedDuration::from_mins(10);
/// After this time from the beginning of the backup no restart is waited for.
const LONGEST: SignedDuration = SignedDuration::from_hours(1);

/// What is to be done without a member.
pub enum Without {
    /// It is up, or the backup waits for it until it is.
    No,
    /// It will be left out then, unless it is up.
    From(Timestamp),
    /// It is left out for this.
    Now(LeftOut),
}

/// Before snapshots are taken: is the backup taken without this member?
pub fn before_snapshots(facts: &Facts<'_>, backup: &Backup<'_>, entry: &BackupMember) -> Without {
    if !backup.leaves_out() {
        return Without::No;
    }
    if is_lost(facts, entry) {
        return Without::Now(LeftOut::Lost);
    }
    if is_up(facts, entry) {
        return Without::No;
    }
    let has_turn = |turn: &&Turn| turn.member == entry.name && is_short(turn.step);
    let begun = backup.status.started_at.as_ref().map(|at| at.0);
    // A turn that comes to nothing begins anew.
    let turn = facts.turn().filter(has_turn).map(|turn| turn.since.0 + RESTART);
    let restart = turn.min(begun.map(|at| at + LONGEST));
    match begun.map(|at| at + MINUTE).max(restart) {
        Some(then) if then > facts.now() => Without::From(then),
        Some(_) | None => Without::Now(LeftOut::Down),
    }
}

/// Is whoever has this turn up again soon?
fn is_short(step: TurnStep) -> bool {
    match step {
        TurnStep::Restart | TurnStep::Readdress | TurnStep::Start => true,
        TurnStep::Initialize
        | TurnStep::Join
        | TurnStep::Replace
        | TurnStep::ResumeLeave
        | TurnStep::Leave
        | TurnStep::Remove
        | TurnStep::Stop => false,
    }
}

fn is_up(facts: &Facts<'_>, entry: &BackupMember) -> bool {
    member(facts, entry).is_some_and(|of| of.is_live(&facts.nodes))
}

/// The entry of a member that is left out.
pub fn missing(entry: &BackupMember, why: LeftOut) -> BackupMember {
    let message = Some(why.to_string());
    BackupMember { state: State::Missing, uploaded: None, message, ..entry.clone() }
}

/// Put on record who is left out from now on, or that the backup cannot do without; is there
/// anything to put?
pub fn note(facts: &Facts<'_>, backup: &Backup<'_>, draft: &mut Draft) -> bool {
    let said: fn(Names) -> Phase = match backup.status.phase {
        _ if !backup.leaves_out() => return false,
        Some(BackupPhase::Snapshotting) => |members| Phase::LeavingOut { members },
        Some(BackupPhase::Uploading | BackupPhase::Verifying) => {
            |members| Phase::LeavingOutLost { members }
        }
        None
        | Some(
            BackupPhase::Pending
            | BackupPhase::Preparing
            | BackupPhase::Complete
            | BackupPhase::Failed
            | BackupPhase::Aborted
            | BackupPhase::Expiring
            | BackupPhase::Expired,
        ) => return false,
    };
    let next = |entry: &BackupMember| match why(facts, backup, entry) {
        Some(why) => missing(entry, why),
        None => entry.clone(),
    };
    let members: Vec<BackupMember> = backup.status.members.iter().map(next).collect();
    let short = lacking::first(&members);
    if let Some((member, pending, without)) = short {
        give_up::because(
            facts,
            backup,
            &Failed::Lacking { member, pending, without }.into(),
            draft,
        );
        return true;
    }
    if members == backup.status.members {
        return false;
    }
    if count(&members) == 0 {
        give_up::because(facts, backup, &Failed::NobodyLeft.into(), draft);
        return true;
    }
    let said = said(Names::of(without(&members).map(|entry| &entry.name)));
    let status = CassandraBackupStatus { members, ..backup.status.clone() };
    write(facts, backup, status, said, draft);
    true
}

fn why(facts: &Facts<'_>, backup: &Backup<'_>, entry: &BackupMember) -> Option<LeftOut> {
    // What was sent is there, whatever becomes of the member.
    let is_sent = entry.state == State::Done && entry.uploaded.is_some();
    if is_sent || !is_in(entry) {
        return None;
    }
    if is_lost(facts, entry) {
        return Some(LeftOut::Lost);
    }
    // One that has its snapshot is waited for: it goes on when it is up.
    let takes_snapshots =
        backup.status.phase == Some(BackupPhase::Snapshotting) && backup.status.view.is_none();
    let has_none = takes_snapshots && entry.state != State::Done;
    (has_none && !is_up(facts, entry)).then_some(LeftOut::Down)
}

/// Those that are left out.
fn without(members: &[BackupMember]) -> impl Iterator<Item = &BackupMember> {
    members.iter().filter(|entry| !is_in(entry))
}

/// How many they are.
pub fn number(members: &[BackupMember]) -> u32 {
    u32::try_from(without(members).count()).unwrap_or(u32::MAX)
}

/// Who has the place of this member by now, where that is another one.
fn successor<'a>(facts: &'a Facts<'_>, entry: &BackupMember) -> Option<&'a HostId> {
    let now = facts.members.get(&entry.name)?.recorded_host_id()?;
    (*now != entry.host_id).then_some(now)
}

/// What it is looked at by whether the others suffice; `None` where all have to be in it.
pub fn quorum(facts: &Facts<'_>, backup: &Backup<'_>) -> Option<QuorumWork> {
    if !backup.leaves_out() {
        return None;
    }
    let mut out: BTreeMap<&HostId, &str> = BTreeMap::new();
    for entry in without(&backup.status.members) {
        let Some(of) = facts.members.get(&entry.name) else { continue };
        // As long as its successor has not joined the ring has the one before.
        let hosts = [Some(&entry.host_id), successor(facts, entry)].into_iter().flatten();
        out.extend(hosts.map(|host| (host, of.rack.as_str())));
    }
    let left_out = out
        .into_iter()
        .map(|(host, rack)| LeftOutMember { host_id: host.clone(), rack: rack.to_string() });
    let covered = backup.status.covered.as_ref();
    let more = covered.filter(|found| found.left_out < number(&backup.status.members));
    let view = backup.status.view.as_ref().filter(|_| more.is_some());
    Some(QuorumWork {
        keyspaces: backup.spec.keyspaces.clone(),
        left_out: left_out.collect(),
        tokens_hash: covered.map(|found| found.tokens_hash.clone()),
        schema_version: view.map(|view| view.schema_version.clone()),
    })
}

/// What this member has sent, and who has its place by now.
pub fn sent(facts: &Facts<'_>, backup: &Backup<'_>, entry: &BackupMember) -> Option<SentManifest> {
    let uploaded = entry.uploaded.as_ref()?;
    Some(SentManifest {
        host_id: entry.host_id.clone(),
        replaced_by: successor(facts, entry).filter(|_| backup.leaves_out()).cloned(),
        checkpoint: uploaded.checkpoint,
        sha256: uploaded.sha256.clone(),
    })
}

/// The name of work that is done by what members are left out and replaced: it is done anew where
/// these are others.
pub fn named(facts: &Facts<'_>, backup: &Backup<'_>, work: &str) -> String {
    let changed = |entry: &BackupMember| {
        let successor = successor(facts, entry);
        (!is_in(entry) || successor.is_some()).then(|| (entry.name.to_string(), successor.cloned()))
    };
    let members = backup.status.members.iter().filter(|_| backup.leaves_out());
    let changes: Vec<_> = members.filter_map(changed).collect();
    match changes.is_empty() {
        true => work.to_string(),
        false => format!("{work}-without-{:.8}", hash::of(&json!(changes))),
    }
}

/// Has this one found another ring because a successor is not on record yet? Then it is asked again.
pub fn asks_again(facts: &Facts<'_>, backup: &Backup<'_>, told: Option<&TransferStatus>) -> bool {
    let has_changed = told.and_then(|told| told.cause) == Some(TransferCause::RingChanged);
    let is_unrecorded = |entry: &BackupMember| lost::is_being_replaced(facts, &entry.name);
    backup.leaves_out() && has_changed && backup.status.members.iter().any(is_unrecorded)
}

/// One that comes back takes no snapshot any more, and clears the one that it has.
pub fn discard(facts: &Facts<'_>, (backup, active, goes): UnderWay<'_, '_>, draft: &mut Draft) {
    let out = without(&backup.status.members);
    for (entry, of) in out.filter_map(|entry| Some((entry, member(facts, entry)?))) {
        let attempts = backup.attempt();
        let order = DiscardWork {
            tags: (1..=attempts).map(|attempt| active.tag(attempt)).collect(),
            uploads: (1..=attempts).map(|attempt| active.upload(attempt)).collect(),
            write_outcome: false,
        };
        let work = TransferWork { discard: Some(order), ..TransferWork::default() };
        // Another one than when all is discarded: a later attempt has another tag.
        let id = active.order(&format!("left-out-{attempts}"));
        give(facts, (active, goes), (entry, of), (id, work), draft);
    }
}
