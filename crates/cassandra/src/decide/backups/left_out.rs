//! Members that a backup does without: they are down before they have a snapshot, or lost before
//! they have sent it. They are on record as such before anything else is decided, and do not come
//! back to it. Whether the others suffice is looked at by who writes the schema, before anybody
//! sends anything, and by who finishes.

use super::answers::{is_lost, member};
use super::course::write;
use super::give_up;
use super::orders::{UnderWay, give};
use super::read::{Backup, count, is_in};
use crate::decide::draft::Draft;
use crate::decide::transfers::full_members;
use crate::facts::Facts;
use crate::words::backups::{Failed, LeftOut, Phase};
use palladion_api::backup::{
    BackupMember, BackupMemberState as State, BackupPhase, CassandraBackupStatus, DiscardWork,
    LeftOutMember, QuorumWork, TransferWork,
};
use palladion_api::ids::HostId;
use palladion_api::words::Message;
use std::collections::{BTreeMap, BTreeSet};

/// The entry of a member that is left out.
pub fn missing(entry: &BackupMember, why: Message) -> BackupMember {
    let message = Some(why.to_string());
    BackupMember { state: State::Missing, uploaded: None, message, ..entry.clone() }
}

/// Put on record who is left out from now on; is there anybody?
pub fn note(facts: &Facts<'_>, backup: &Backup<'_>, draft: &mut Draft) -> bool {
    if !backup.leaves_out() {
        return false;
    }
    let phase = backup.status.phase;
    let next = |entry: &BackupMember| match why(facts, phase, entry) {
        Some(why) => missing(entry, why.into()),
        None => entry.clone(),
    };
    let members: Vec<BackupMember> = backup.status.members.iter().map(next).collect();
    if members == backup.status.members {
        return false;
    }
    if count(&members) == 0 {
        give_up::because(facts, backup, &Failed::NobodyLeft.into(), draft);
        return true;
    }
    let names = members.iter().filter(|entry| !is_in(entry)).map(|entry| &entry.name);
    let said = Phase::LeavingOut { members: palladion_plan::words::Names::of(names) };
    let status = CassandraBackupStatus { members, ..backup.status.clone() };
    write(facts, backup, status, said, draft);
    true
}

fn why(facts: &Facts<'_>, phase: Option<BackupPhase>, entry: &BackupMember) -> Option<LeftOut> {
    // What was sent is there, whatever becomes of the member.
    let is_sent = entry.state == State::Done && entry.uploaded.is_some();
    if is_sent || !is_in(entry) {
        return None;
    }
    if is_lost(facts, entry) {
        return Some(LeftOut::Lost);
    }
    let waits_for_it = match phase {
        // It has its snapshot, and goes on when it is up.
        Some(BackupPhase::Uploading | BackupPhase::Verifying) => true,
        Some(BackupPhase::Snapshotting) => entry.state == State::Done,
        _ => false,
    };
    let is_up = member(facts, entry).is_some_and(|of| of.is_live(&facts.nodes));
    (!is_up && !waits_for_it).then_some(LeftOut::Down)
}

/// What it is looked at by whether the others suffice; `None` where all have to be in it.
pub fn quorum(facts: &Facts<'_>, backup: &Backup<'_>) -> Option<QuorumWork> {
    if !backup.leaves_out() {
        return None;
    }
    let is_in_it: BTreeSet<&HostId> =
        backup.status.members.iter().filter(|entry| is_in(entry)).map(|e| &e.host_id).collect();
    // Those that are in the ring now, as the one that has taken the place of a lost one.
    let now = full_members(facts).filter_map(|of| Some((of.recorded_host_id()?, of.rack.as_str())));
    let then = backup.status.members.iter().filter(|entry| !is_in(entry)).filter_map(|entry| {
        let of = facts.members.get(&entry.name)?;
        Some((&entry.host_id, of.rack.as_str()))
    });
    let out: BTreeMap<&HostId, &str> =
        now.chain(then).filter(|(host, _)| !is_in_it.contains(host)).collect();
    let left_out = out
        .into_iter()
        .map(|(host, rack)| LeftOutMember { host_id: host.clone(), rack: rack.to_string() });
    Some(QuorumWork { keyspaces: backup.spec.keyspaces.clone(), left_out: left_out.collect() })
}

/// One that comes back takes no snapshot any more, and clears the one that it has.
pub fn discard(facts: &Facts<'_>, (backup, active, goes): UnderWay<'_, '_>, draft: &mut Draft) {
    let out = backup.status.members.iter().filter(|entry| !is_in(entry));
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
