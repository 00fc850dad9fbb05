//! What is noted of a transfer on the volume, beside the journal of the files: it
//! is on the disk before the work begins, and what an agent tells that comes after.

use super::{Order, Snapshots};
use crate::settings::Tag;
use crate::tell::{Done, Line};
use crate::words::stopped::{Cause, Stopped};
use palladion_api::backup::RingView;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// The transfer.
    pub id: String,
    /// The highest epoch that has ordered it, or one before it.
    pub epoch: i64,
    /// Tries that have failed one after the other.
    pub failures: u32,
    /// When the last of them did, in seconds since 1970.
    pub failed_at: Option<i64>,
    /// Why it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// How it ended.
    pub ended: Option<Ended>,
    /// What the server said of its ring before the work and after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<Views>,
    /// An upload: the member's tokens, so that it goes on without the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<String>,
    /// The snapshot that must stay, also between two orders of its backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
}

/// How a transfer ended, for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ended {
    /// It is done.
    Done(Done),
    /// It never will be.
    Failed {
        /// By what the operator sorts it.
        cause: Cause,
        /// For people.
        message: String,
    },
}

/// Why a try has failed that is followed by another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Why {
    /// By what the operator sorts it; none where the child did not say it.
    pub cause: Option<Cause>,
    /// For people.
    pub message: String,
}

/// The ring before the work and after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Views {
    /// Before.
    pub before: RingView,
    /// After.
    pub after: RingView,
    /// Hash of all tokens, whoever owns them, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<String>,
}

/// A snapshot, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Kept {
    /// The backup.
    pub backup: String,
    /// The tag.
    pub tag: Tag,
    /// Which tables it had when it was taken: see [`crate::snapshot::fingerprint`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<String>,
    /// Which keyspaces it was taken of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyspaces: Option<BTreeSet<String>>,
    /// The member's tokens when it was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<String>,
}

impl Record {
    /// Of an order that was just read: the same transfer under a newer leader keeps what it
    /// has, and another one of the same backup keeps its snapshot.
    pub(super) fn of(order: &Order, before: Option<&Self>) -> Self {
        let same = before.filter(|record| record.id == order.id).cloned();
        let new = || Self {
            id: order.id.clone(),
            epoch: order.epoch,
            failures: 0,
            failed_at: None,
            why: None,
            ended: None,
            ring: None,
            tokens: Vec::new(),
            kept: kept(order, before),
        };
        Self { epoch: order.epoch, ..same.unwrap_or_else(new) }
    }

    /// After a try.
    pub(super) fn after(&self, last: Option<&Line>, now: i64) -> Self {
        let (ended, why) = match last {
            Some(Line::Done(done)) => (Some(Ended::Done(done.clone())), None),
            Some(Line::Stopped { cause, message }) if cause.is_final() => {
                let (cause, message) = (*cause, message.clone());
                (Some(Ended::Failed { cause, message }), None)
            }
            Some(Line::Stopped { cause, message }) => {
                (None, Some(Why { cause: Some(*cause), message: message.clone() }))
            }
            Some(Line::Progress(_)) | None => {
                let message = Stopped::Crashed.to_string();
                (None, Some(Why { cause: None, message }))
            }
        };
        let failures = self.failures.saturating_add(u32::from(ended.is_none()));
        Self { failures, failed_at: Some(now), why, ended, ..self.clone() }
    }
}

fn kept(order: &Order, before: Option<&Record>) -> Option<Kept> {
    let had = before.and_then(|record| record.kept.clone());
    match &order.snapshots {
        Snapshots::Stay => had,
        Snapshots::Take(tag) => {
            let same = had.filter(|kept| kept.tag == *tag && kept.backup == order.backup);
            let new = || Kept {
                backup: order.backup.clone(),
                tag: tag.clone(),
                tables: None,
                keyspaces: None,
                tokens: Vec::new(),
            };
            Some(same.unwrap_or_else(new))
        }
        Snapshots::Go => had.filter(|kept| kept.backup != order.backup),
    }
}

impl Cause {
    /// Is it the same at every try, or can it come right by itself?
    fn is_final(self) -> bool {
        match self {
            // A Secret that is filled, a store that is back, a server that is up, an
            // operator of the agent's version, a member that is up again.
            Self::StoreUnreachable
            | Self::EncryptionKeyMissing
            | Self::ServerDown
            | Self::LoadFailed
            | Self::RingUnsettled
            | Self::Refused => false,
            Self::StoreUnsuited
            | Self::RepositoryForeign
            | Self::RepositoryDamaged
            // The snapshot itself is what holds the space.
            | Self::NotEnoughSpace
            | Self::RingChanged
            | Self::RestoreFailed
            | Self::BackupFailed => true,
        }
    }
}
