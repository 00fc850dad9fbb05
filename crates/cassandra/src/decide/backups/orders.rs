//! What members are ordered for a backup: each order is a function of what is stored, so that
//! it is the same at every decision, and is written where a member has another one.

use super::read::Backup;
use crate::decide::draft::Draft;
use crate::decide::transfers::{self, Whose};
use crate::facts::{Facts, MemberFact};
use crate::validate::{Valid, ValidBackup};
use crate::words::backups::Doing;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{
    BackupMember, Transfer, TransferPlace, TransferRepository, TransferWork,
};
use palladion_api::ids::Uid;
use palladion_plan::Step;
use serde_json::{Value, json};

/// The backup that is under way.
pub struct Active {
    /// The repository of the ring.
    pub repository: String,
    /// Its name in there.
    pub id: String,
    /// Name of the object.
    pub name: String,
    /// Uid of the object.
    pub uid: Uid,
}

impl Active {
    /// As the cluster's status has it.
    pub fn read(facts: &Facts<'_>) -> Option<Self> {
        let stored = facts.status.backup.as_ref()?;
        Some(Self {
            repository: stored.repository_id.clone(),
            id: stored.id.clone()?,
            name: stored.backup.clone()?,
            uid: stored.backup_uid.clone()?,
        })
    }

    /// The tag of an attempt at its snapshots.
    pub fn tag(&self, attempt: u32) -> String {
        format!("palladion-{}-{attempt}", self.id)
    }

    /// The ID of its upload after an attempt at its snapshots.
    pub fn upload(&self, attempt: u32) -> String {
        self.order(&format!("upload-{attempt}"))
    }

    /// The ID of an order.
    pub fn order(&self, work: &str) -> String {
        format!("{}-{work}", self.id)
    }

    /// Is this one of its orders?
    pub fn is_of(&self, order: &Transfer) -> bool {
        order.id.strip_prefix(self.id.as_str()).is_some_and(|rest| rest.starts_with('-'))
    }
}

/// Where a backup goes.
pub struct Goes {
    /// The place, as members are told it.
    pub place: TransferPlace,
    /// Are objects sealed?
    pub is_sealed: bool,
    /// The Secret with the credentials.
    pub credentials_secret: Option<String>,
    /// Bytes that one member sends in a second, at the most.
    pub bytes_per_second: Option<u64>,
    /// And at the least, whatever its clients feel.
    pub minimum_bytes_per_second: u64,
}

impl Goes {
    /// Where it went when it began; how fast, and with which credentials, as the spec says now.
    pub fn of(backup: &Backup<'_>, valid: &Valid) -> Option<Self> {
        let now = valid.backup.as_ref()?;
        let begun = backup.status.store.as_ref().zip(backup.status.sealed);
        let (place, is_sealed) = begun.unwrap_or((&now.place, now.is_sealed));
        Some(Self { place: place.clone(), is_sealed, ..Self::now(now) })
    }

    /// As the spec says now.
    pub fn now(now: &ValidBackup) -> Self {
        Self {
            place: now.place.clone(),
            is_sealed: now.is_sealed,
            credentials_secret: now.credentials_secret.clone(),
            bytes_per_second: now.bytes_per_second,
            minimum_bytes_per_second: now.minimum_bytes_per_second,
        }
    }
}

/// A backup that is under way, and where it goes.
pub type UnderWay<'a, 'b> = (&'a Backup<'b>, &'a Active, &'a Goes);

/// Order this of a member, unless it is ordered already.
pub fn give(
    facts: &Facts<'_>,
    (active, store): (&Active, &Goes),
    (entry, member): (&BackupMember, &MemberFact),
    (id, work): (String, TransferWork),
    draft: &mut Draft,
) {
    let order = Transfer {
        id,
        epoch: facts.snapshot.epoch,
        host_id: entry.host_id.clone(),
        volume_id: entry.volume_id.clone(),
        backup: active.id.clone(),
        repository: TransferRepository { id: active.repository.clone(), sealed: store.is_sealed },
        store: store.place.clone(),
        credentials_secret_name: store.credentials_secret.clone(),
        source_credentials: false,
        bytes_per_second: store.bytes_per_second,
        minimum_bytes_per_second: Some(least(facts, store, &work)),
        work,
    };
    let doing = Doing::Order { backup: active.name.clone(), member: member.name.clone() };
    transfers::give(facts, (Whose::Backup, &[]), (member, &order), doing, draft);
}

/// More than one member is kept busy with, however many there are.
const MOST_AT_ONCE: usize = 8;

/// How fast it goes at the least. Whoever finishes or verifies a backup reads, for all members,
/// what these have sent side by side.
fn least(facts: &Facts<'_>, store: &Goes, work: &TransferWork) -> u64 {
    let is_of_all = work.finish.is_some() || work.verify.is_some();
    let members = if is_of_all { facts.members.len().clamp(1, MOST_AT_ONCE) } else { 1 };
    let members = u64::try_from(members).unwrap_or(u64::MAX);
    store.minimum_bytes_per_second.saturating_mul(members)
}

/// The ring has no backup under way any more: the next one may begin.
pub fn release(active: &Active, draft: &mut Draft) {
    let status = json!({ "backup": {
        "id": null, "backup": null, "backupUID": null, "discardingSince": null,
    } });
    let doing = Doing::Release { backup: active.name.clone() };
    let seen = vec![(Whose::Backup.under_way().to_string(), Value::from(active.uid.as_str()))];
    draft.steps.push(Step::compare_and_set(status, seen, doing));
}

/// Since when what is left of a backup without an object is discarded.
pub fn note_discarding(facts: &Facts<'_>, active: &Active, draft: &mut Draft) {
    let status = json!({ "backup": { "discardingSince": Time(facts.now()) } });
    let doing = Doing::Discard { backup: active.name.clone() };
    let seen = vec![(Whose::Backup.under_way().to_string(), Value::from(active.uid.as_str()))];
    draft.steps.push(Step::compare_and_set(status, seen, doing));
}
