//! What members are ordered for a restore.

use super::read::Restore;
use crate::decide::draft::Draft;
use crate::decide::transfers::{self, Whose};
use crate::decide::turn::lock::seen;
use crate::facts::{Facts, MemberFact};
use crate::validate::ValidBackup;
use crate::words::restores::Doing;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{Transfer, TransferRepository, TransferWork};
use palladion_api::cluster::{ClusterRestore, RestoredPlace};
use palladion_api::ids::{HostId, Uid, VolumeId};
use palladion_plan::{Event, Step};
use serde_json::{Value, json};

/// Where it stands that no table is created or truncated any more.
const TABLES_MADE: &str = "/status/restore/tablesMade";

/// The restore that is under way.
pub struct Active {
    /// As the cluster's status has it.
    pub record: ClusterRestore,
    /// What else of the cluster was seen, and must be so when what is written of it is written:
    /// its leader, and whether its ring was begun.
    seen: Vec<(String, Value)>,
}

/// A restore that is under way, and where the ring's own backups go.
pub struct UnderWay<'a, 'b> {
    /// Its object.
    pub restore: &'a Restore<'b>,
    /// What the cluster has of it.
    pub active: &'a Active,
    /// Where the ring's own backups go.
    pub own: &'a ValidBackup,
}

impl Active {
    /// As the cluster's status has it.
    pub fn read(facts: &Facts<'_>) -> Option<Self> {
        let pointers = ["/status/epoch", "/status/initialization", "/status/restore/wholeRing"];
        let seen = pointers.map(|pointer| seen(facts, pointer)).into();
        Some(Self { record: facts.status.restore.clone()?, seen })
    }

    /// Uid of its object.
    pub fn uid(&self) -> &Uid {
        &self.record.restore_uid
    }

    /// The ID of an order.
    pub fn order(&self, work: &str) -> String {
        format!("{}-{work}", self.record.id)
    }

    /// Is this one of its orders?
    pub fn is_of(&self, order: &Transfer) -> bool {
        self.is_order(&order.id)
    }

    /// Is this the ID of one?
    pub fn is_order(&self, id: &str) -> bool {
        id.strip_prefix(self.record.id.as_str()).is_some_and(|rest| rest.starts_with('-'))
    }
}

/// Order this of a member, unless it is ordered already.
pub fn give(
    facts: &Facts<'_>,
    (active, own): (&Active, Option<&ValidBackup>),
    (member, host, volume): (&MemberFact, &HostId, &VolumeId),
    (id, work): (String, TransferWork),
    draft: &mut Draft,
) {
    let source = &active.record.source;
    let order = Transfer {
        id,
        epoch: facts.snapshot.epoch,
        host_id: host.clone(),
        volume_id: volume.clone(),
        backup: source.backup_id.clone(),
        repository: TransferRepository { id: source.repository_id.clone(), sealed: source.sealed },
        store: source.store.clone(),
        credentials_secret_name: own.and_then(|own| own.credentials_secret.clone()),
        source_credentials: own.is_none_or(|own| own.place != source.store),
        bytes_per_second: own.and_then(|own| own.bytes_per_second),
        // Somebody waits for it.
        minimum_bytes_per_second: None,
        work,
    };
    let (restore, name) = (active.record.restore.clone(), member.name.clone());
    let doing = Doing::Order { restore, member: name };
    // Whoever follows a leader may read this restore as it was before it: the cluster itself
    // says whether tables may still be touched.
    let seen: &[&str] = if order.work.schema.is_some() { &[TABLES_MADE] } else { &[] };
    transfers::give(facts, (Whose::Restore, seen), (member, &order), doing, draft);
}

/// On record before anybody is ordered anything.
pub fn take(facts: &Facts<'_>, record: &ClusterRestore, event: Event, draft: &mut Draft) {
    let status = json!({ "restore": record, "epoch": facts.snapshot.epoch });
    // Nobody has begun to leave or to join meanwhile, no backup was begun, and none expires.
    let pointers =
        ["/status/restore", "/status/backup", "/status/retention", "/status/epoch", "/status/turn"];
    let seen = pointers.map(|p| seen(facts, p));
    let doing = Doing::Take { restore: record.restore.clone() };
    draft.steps.push(Step::compare_and_set(status, seen.into(), doing).announced(event));
}

/// The ring has no restore under way any more: the next one, or a backup, may begin.
pub fn release(active: &Active, draft: &mut Draft) {
    let doing = Doing::Release { restore: active.record.restore.clone() };
    set(active, &Value::Null, doing, None, draft);
}

/// What the tables have of their own, before anybody is ordered to change it.
pub fn record_grace(active: &Active, want: &ClusterRestore, draft: &mut Draft) {
    let change = json!({ "gcGraceSeconds": want.gc_grace_seconds, "own": want.own });
    let doing = Doing::RecordGrace { restore: active.record.restore.clone() };
    set(active, &change, doing, None, draft);
}

/// Whose place each member takes, before anybody starts.
pub fn record_places(active: &Active, places: &[RestoredPlace], draft: &mut Draft) {
    let change = json!({ "wholeRing": { "places": places } });
    let doing = Doing::RecordPlaces { restore: active.record.restore.clone() };
    set(active, &change, doing, None, draft);
}

/// All its members let clients in.
pub fn note_open(active: &Active, draft: &mut Draft) {
    let doing = Doing::RecordOpen { restore: active.record.restore.clone() };
    set(active, &json!({ "wholeRing": { "open": true } }), doing, None, draft);
}

/// All its members have on record that they need a repair.
pub fn note_repair(active: &Active, draft: &mut Draft) {
    let doing = Doing::RecordRepair { restore: active.record.restore.clone() };
    set(active, &json!({ "wholeRing": { "repairRecorded": true } }), doing, None, draft);
}

/// No table is created or truncated from now on.
pub fn note_made(active: &Active, draft: &mut Draft) {
    let doing = Doing::RecordMade { restore: active.record.restore.clone() };
    set(active, &json!({ "tablesMade": true }), doing, None, draft);
}

/// Since when it is being ended.
pub fn note_ending(facts: &Facts<'_>, active: &Active, draft: &mut Draft) {
    let change = json!({ "endingSince": Time(facts.now()) });
    let doing = Doing::End { restore: active.record.restore.clone() };
    set(active, &change, doing, None, draft);
}

/// It has ended without an object, and this is left.
pub fn release_telling(active: &Active, event: Event, draft: &mut Draft) {
    let doing = Doing::Release { restore: active.record.restore.clone() };
    set(active, &Value::Null, doing, Some(event), draft);
}

fn set(active: &Active, change: &Value, doing: Doing, event: Option<Event>, draft: &mut Draft) {
    let mut seen = active.seen.clone();
    seen.push((Whose::Restore.under_way().to_string(), json!(active.uid())));
    let step = Step::compare_and_set(json!({ "restore": change }), seen, doing);
    draft.steps.push(step.announced(event));
}
