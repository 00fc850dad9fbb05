//! What is under way for backups that expire, as the cluster's status has it, and what a member is
//! ordered for it.

use crate::decide::backups::known_repository;
use crate::decide::draft::Draft;
use crate::decide::transfers::{self, Answer, Said, Whose, identity, ordered};
use crate::decide::turn::lock::seen;
use crate::facts::{Facts, MemberFact};
use crate::validate::ValidBackup;
use crate::words::retention::{Doing, Stopped};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{Transfer, TransferRepository, TransferWork};
use palladion_api::cluster::{ClusterRetention, RetentionWork};
use palladion_plan::difference::difference;
use palladion_plan::{Event, Step};
use serde_json::{Value, json};

/// Agents of before this protocol do not know how to let backups expire.
const KNOWS_RETENTION: u32 = 10;
/// Where the record of it stands.
const RECORD: &str = "/status/retention";

/// What is under way.
pub struct Active {
    /// As the cluster's status has it.
    pub record: ClusterRetention,
    /// Its name.
    pub id: String,
    /// What it is.
    pub work: RetentionWork,
}

impl Active {
    /// As the cluster's status has it.
    pub fn read(facts: &Facts<'_>) -> Option<Self> {
        let record = facts.status.retention.clone()?;
        let (id, work) = (record.id.clone()?, record.work?);
        Some(Self { record, id, work })
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

/// The member that does it: the one that has the order already, unless its server is down; or
/// else the first that is up.
pub fn chosen<'a>(facts: &'a Facts<'_>, id: &str) -> Option<&'a MemberFact> {
    let can = |member: &&MemberFact| {
        let knows = member.status.agent.as_ref().is_some_and(|a| a.protocol >= KNOWS_RETENTION);
        knows && !member.is_gone() && member.is_live(&facts.nodes) && identity(member).is_some()
    };
    let has = |member: &&MemberFact| ordered(member).is_some_and(|order| order.id == id);
    let mut all = facts.members.values().filter(can);
    all.clone().find(has).or_else(|| all.next())
}

/// What it says of the order with this ID.
pub fn answer<'a>(member: &'a MemberFact, id: &str) -> Answer<'a> {
    transfers::answer(member, id, |cause, member, why| Stopped::of(cause, member, why).into())
}

/// Order this of a member, unless it is ordered already.
pub fn give(
    facts: &Facts<'_>,
    (active, own): (&Active, &ValidBackup),
    member: &MemberFact,
    (id, work): (String, TransferWork),
    draft: &mut Draft,
) {
    let (Some((host, volume)), Some(repository)) = (identity(member), known_repository(facts))
    else {
        return;
    };
    let order = Transfer {
        id,
        epoch: facts.snapshot.epoch,
        host_id: host.clone(),
        volume_id: volume.clone(),
        backup: active.id.clone(),
        repository: TransferRepository { id: repository, sealed: own.is_sealed },
        store: own.place.clone(),
        credentials_secret_name: own.credentials_secret.clone(),
        source_credentials: false,
        bytes_per_second: own.bytes_per_second,
        minimum_bytes_per_second: None,
        work,
    };
    let doing = Doing::Order { member: member.name.clone() };
    transfers::give(facts, (Whose::Retention, &[]), (member, &order), doing, draft);
}

/// On record before anybody is ordered anything.
pub fn take(
    facts: &Facts<'_>,
    record: &ClusterRetention,
    (doing, event): (Doing, Option<Event>),
    draft: &mut Draft,
) {
    let Some(change) = difference(facts.snapshot.owner.at(RECORD), &json!(record)) else {
        return;
    };
    let status = json!({ "retention": change, "epoch": facts.snapshot.epoch });
    // No backup and no restore was begun meanwhile.
    let pointers = [RECORD, "/status/backup", "/status/restore", "/status/epoch"];
    let seen = pointers.map(|pointer| seen(facts, pointer));
    let step = Step::compare_and_set(status, seen.into(), doing);
    draft.steps.push(step.announced(event));
}

/// What is on record when nothing is under way any more.
pub fn at_rest(active: &Active) -> ClusterRetention {
    ClusterRetention {
        id: None,
        work: None,
        backups: Vec::new(),
        keep: None,
        since: None,
        again_at: None,
        reason: None,
        message: None,
        ..active.record.clone()
    }
}

/// Nothing is under way any more: the next one, a backup or a restore may begin.
pub fn release(facts: &Facts<'_>, active: &Active, record: &ClusterRetention, draft: &mut Draft) {
    set(facts, active, record, Doing::Release, draft);
}

/// What keeps it from going on, while it is under way.
pub fn note(facts: &Facts<'_>, active: &Active, why: Option<&Said>, draft: &mut Draft) {
    set(facts, active, &saying(active.record.clone(), why), Doing::Note, draft);
}

/// A record with why it does not go on.
pub fn saying(record: ClusterRetention, why: Option<&Said>) -> ClusterRetention {
    let message = why.map(|Said(_, message)| transfers::short(message.to_string()));
    let reason = why.map(|Said(reason, _)| reason.as_str().to_string());
    ClusterRetention { reason, message, ..record }
}

fn set(
    facts: &Facts<'_>,
    active: &Active,
    record: &ClusterRetention,
    doing: Doing,
    draft: &mut Draft,
) {
    let Some(change) = difference(facts.snapshot.owner.at(RECORD), &json!(record)) else {
        return;
    };
    let whose = Whose::Retention.under_way().to_string();
    let seen = vec![(whose, Value::from(active.id.as_str()))];
    draft.steps.push(Step::compare_and_set(json!({ "retention": change }), seen, doing));
}

/// As of now.
pub fn now(facts: &Facts<'_>) -> Option<Time> {
    Some(Time(facts.now()))
}
