//! What is told of a transfer in the status of its member.

use super::{Child, Ended, Facts, Next, Noted, Record};
use crate::tell::{Damaged, Done, Progress};
use crate::words::refusal::Refusal;
use crate::words::stopped::Cause;
use palladion_api::backup::MOST_DAMAGED;
use palladion_api::backup::{
    BackupSchema, DamagedObject, Loaded, NotedTokens, Replayed, TransferCause, TransferState,
    TransferStatus, Uploaded,
};

/// Characters of a message: the schema takes no more.
const MESSAGE: usize = 2000;
/// Characters of an object's name, and of what is wrong with it.
const OBJECT: usize = 500;
/// Characters of why no ring can begin with a schema.
const UNFIT: usize = 500;
/// Tables that are named of a damaged object.
const TABLES: usize = 20;

/// What is told: of the transfer that is ordered, else of the last one that has ended.
pub fn status(facts: &Facts, next: &Next, progress: Option<Progress>) -> Option<TransferStatus> {
    let id = facts.order.as_ref().map(|order| order.id.as_str());
    if let (Next::Refuse(why), Some(id)) = (next, id) {
        let mut status = of(id, TransferState::Refused);
        status.cause = Some(why.cause());
        status.message = Some(cut(&why.to_string(), MESSAGE));
        return Some(status);
    }
    let record = match &facts.noted {
        Noted::Record(record) => Some(&**record),
        Noted::Nothing | Noted::Unread => None,
    };
    match (record, id) {
        (Some(record), Some(id)) if record.id != id => None,
        (Some(record), Some(_)) => Some(of_record(record, facts, progress)),
        // Withdrawn: how it ended is told, and that it has not: what a server has begun it ends.
        (Some(record), None) if runs(record, facts) => Some(of(&record.id, TransferState::Running)),
        (Some(record), None) => record.ended.as_ref().map(|_| of_record(record, facts, progress)),
        (None, _) => None,
    }
}

/// What cannot be noted is not begun: whoever waits is told so.
pub fn unwritten(id: &str, why: String) -> TransferStatus {
    let mut status = of(id, TransferState::Waiting);
    status.message = Some(cut(&why, MESSAGE));
    status
}

fn of(id: &str, state: TransferState) -> TransferStatus {
    TransferStatus {
        id: id.to_string(),
        state,
        cause: None,
        message: None,
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

fn runs(record: &Record, facts: &Facts) -> bool {
    matches!(&facts.child, Child::Runs { id } if *id == record.id)
}

fn of_record(record: &Record, facts: &Facts, progress: Option<Progress>) -> TransferStatus {
    let runs = runs(record, facts);
    let gets_on = progress.is_some_and(|progress| progress != Progress::default());
    match &record.ended {
        Some(Ended::Done(done)) => of_done(record, done),
        Some(Ended::Failed { cause, message }) => {
            let mut status = of(&record.id, TransferState::Failed);
            status.cause = Some(cause.told());
            status.message = Some(cut(message, MESSAGE));
            status
        }
        // A try after one that failed is told when it gets on.
        None if record.failures == 0 || (runs && gets_on) => {
            let mut status = of(&record.id, TransferState::Running);
            status.progress = progress.and_then(percent);
            status
        }
        None => {
            let mut status = of(&record.id, TransferState::Waiting);
            status.cause = record.why.as_ref().and_then(|why| why.cause).map(Cause::told);
            status.message = record.why.as_ref().map(|why| cut(&why.message, MESSAGE));
            status
        }
    }
}

fn of_done(record: &Record, done: &Done) -> TransferStatus {
    let mut status = of(&record.id, TransferState::Done);
    status.before = record.ring.as_ref().map(|views| views.before.clone());
    status.after = record.ring.as_ref().map(|views| views.after.clone());
    status.tokens_hash = record.ring.as_ref().and_then(|views| views.tokens.clone());
    match done {
        Done::Described { schema, unfit } => {
            let (object, sha256) = (schema.object.clone(), schema.sha256.as_str().to_string());
            let unfit = unfit.as_ref().map(|why| cut(why, UNFIT));
            status.schema = Some(BackupSchema { object, sha256, bytes: schema.bytes, unfit });
        }
        Done::Uploaded { checkpoint, member, sent_bytes, reused_bytes, .. } => {
            status.uploaded = Some(Uploaded {
                checkpoint: *checkpoint,
                sha256: member.sha256.as_str().to_string(),
                files: member.files,
                bytes: member.bytes,
                sent_bytes: *sent_bytes,
                reused_bytes: *reused_bytes,
            });
        }
        Done::Finished { manifest_hash } => status.manifest_hash = Some(manifest_hash.clone()),
        Done::Verified { manifest_hash, damaged, .. } => {
            status.manifest_hash = Some(manifest_hash.clone());
            status.damaged = damaged.iter().take(MOST_DAMAGED).map(told).collect();
        }
        Done::Cataloged { manifest_hash, cataloged } => {
            status.manifest_hash = Some(manifest_hash.clone());
            status.cataloged = Some((**cataloged).clone());
        }
        Done::Loaded { sstables, bytes } => {
            status.loaded = Some(Loaded { sstables: *sstables, bytes: *bytes });
        }
        Done::Replayed { segments, bytes } => {
            status.replayed = Some(Replayed { segments: *segments, bytes: *bytes });
        }
        Done::Noted { source, tokens_hash } => {
            let (source, tokens_hash) = (source.clone(), tokens_hash.clone());
            status.noted_tokens = Some(NotedTokens { source, tokens_hash });
        }
        Done::Expired { expired } => status.expired = Some((**expired).clone()),
        Done::Swept { swept } => status.swept = Some((**swept).clone()),
        Done::Prepared
        | Done::Snapshotted
        | Done::Discarded { .. }
        | Done::Fetched { .. }
        | Done::Read { .. }
        | Done::Segments { .. }
        | Done::Brought { .. }
        | Done::Tokens { .. }
        | Done::Opened
        | Done::Created
        | Done::Settled
        | Done::Archived { .. } => {}
    }
    status
}

fn told(damaged: &Damaged) -> DamagedObject {
    DamagedObject {
        object: cut(&damaged.object, OBJECT),
        wrong: cut(&damaged.wrong, OBJECT),
        tables: damaged.tables.iter().take(TABLES).cloned().collect(),
    }
}

fn percent(progress: Progress) -> Option<u8> {
    let percent = progress.files.saturating_mul(100).checked_div(progress.of)?;
    u8::try_from(percent.min(100)).ok()
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

impl Cause {
    /// As the API has it.
    pub fn told(self) -> TransferCause {
        match self {
            Self::StoreUnreachable => TransferCause::StoreUnreachable,
            Self::StoreUnsuited => TransferCause::StoreUnsuited,
            Self::RepositoryForeign => TransferCause::RepositoryForeign,
            Self::RepositoryDamaged => TransferCause::RepositoryDamaged,
            Self::EncryptionKeyMissing => TransferCause::EncryptionKeyMissing,
            Self::NotEnoughSpace => TransferCause::NotEnoughSpace,
            Self::ServerDown => TransferCause::ServerDown,
            Self::RingChanged => TransferCause::RingChanged,
            Self::BackupFailed => TransferCause::BackupFailed,
            Self::LoadFailed => TransferCause::LoadFailed,
            Self::RingUnsettled => TransferCause::RingUnsettled,
            Self::RestoreFailed => TransferCause::RestoreFailed,
            Self::Refused => TransferCause::NotSupported,
        }
    }
}

impl Refusal {
    /// By what the operator sorts it.
    pub fn cause(&self) -> TransferCause {
        match self {
            Self::OtherMember { .. }
            | Self::OtherVolume { .. }
            | Self::OlderEpoch { .. }
            | Self::NeverStarted
            | Self::HasStarted { .. }
            | Self::RecordUnread
            | Self::RepositoryUnread => TransferCause::NotForUs,
            Self::OtherRepository { .. } => TransferCause::RepositoryForeign,
            Self::Work { .. } | Self::Word { .. } => TransferCause::NotSupported,
        }
    }
}
