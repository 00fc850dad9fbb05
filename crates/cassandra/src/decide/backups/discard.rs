//! A backup that is given up: what runs is stopped, the snapshots are cleared, and one member
//! writes into the repository that it has failed. What was sent stays, for the next one.

use super::answers::{Answer, answer, member};
use super::begin::KNOWS_TRANSFERS;
use super::course::{Said, write};
use super::orders::{Active, Goes, give};
use super::read::Backup;
use crate::decide::draft::Draft;
use crate::decide::transfers::recorded;
use crate::facts::{Facts, MemberFact};
use crate::words::backups::Phase;
use jiff::{SignedDuration, Timestamp};
use palladion_api::backup::{
    BackupMember, BackupPhase, CassandraBackupStatus, DiscardWork, GivenUp, TransferWork,
};
use palladion_api::reasons::Reason;
use palladion_api::words::Message;

/// Members that have not answered after this time are not waited for: their agents clear
/// snapshots of backups that have ended, and servers those whose time is over.
const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

/// Order it of all that answer, and end once they have done what they can.
pub fn discard(
    facts: &Facts<'_>,
    goes: Option<&Goes>,
    (backup, active, why): (&Backup<'_>, &Active, &GivenUp),
    draft: &mut Draft,
) {
    let entries = &backup.status.members;
    // What is complete in the repository stays so, whatever is found later.
    let writes_outcome = backup.status.manifest_hash.is_none();
    let all = (entries.as_slice(), backup.attempt(), writes_outcome);
    if is_done(facts, goes, (active, why.since.0), all, draft) {
        let reason = recorded(&why.reason, Reason::BackupFailed);
        let phase = match reason {
            Reason::BackupAborted => BackupPhase::Aborted,
            _ => BackupPhase::Failed,
        };
        let status = CassandraBackupStatus { phase: Some(phase), ..backup.status.clone() };
        let said = Said(reason, Message::quoted(&why.message));
        return write(facts, backup, status, said, draft);
    }
    let said = Phase::Discarding { why: why.message.clone() };
    write(facts, backup, backup.status.clone(), said, draft);
}

/// Order it of those that answer.
pub fn is_done(
    facts: &Facts<'_>,
    goes: Option<&Goes>,
    (active, since): (&Active, Timestamp),
    (entries, attempts, writes_outcome): (&[BackupMember], u32, bool),
    draft: &mut Draft,
) -> bool {
    // Without a store nobody can be told where the outcome belongs.
    let Some(goes) = goes else {
        return true;
    };
    let is_patient = facts.now() < since + PATIENCE;
    if is_patient {
        draft.wake_at(since + PATIENCE);
    }
    let there = |entry: &BackupMember| member(facts, entry).filter(|of| answers(facts, of));
    let mut is_done = true;
    let mut writer = writes_outcome;
    for entry in entries {
        let Some(of) = there(entry) else {
            continue;
        };
        let writes = std::mem::take(&mut writer);
        // Another order, so that whoever follows a writer that has ended does it, too.
        let id = active.order(if writes { "discard-outcome" } else { "discard" });
        is_done &= match answer(of, &id) {
            Answer::None | Answer::Going(None) => !is_patient,
            // It has cleared what is its own, and cannot reach the store: nobody is ordered to
            // finish this backup any more.
            Answer::Going(Some(_)) | Answer::Done(_) | Answer::Failed(_) => true,
        };
        let order = DiscardWork {
            tags: (1..=attempts).map(|attempt| active.tag(attempt)).collect(),
            uploads: (1..=attempts).map(|attempt| active.upload(attempt)).collect(),
            write_outcome: writes,
        };
        let work = TransferWork { discard: Some(order), ..TransferWork::default() };
        give(facts, (active, goes), (entry, of), (id, work), draft);
    }
    is_done
}

/// Does its agent speak, and does it know what a discard is?
fn answers(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let knows = member.status.agent.as_ref().is_some_and(|a| a.protocol >= KNOWS_TRANSFERS);
    knows && member.agent_answers(&facts.nodes)
}
