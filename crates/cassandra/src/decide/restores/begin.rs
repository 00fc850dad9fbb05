//! The next restore: what must be so before it is taken up, and how it goes on record.

use super::answers::KNOWS_RESTORES;
use super::course::write;
use super::judge::{is_confirmed, question};
use super::orders::{self, UnderWay};
use super::read::{self, Restore};
use super::source::{self, Unusable};
use super::whole;
use crate::decide::draft::Draft;
use crate::decide::transfers::{Said, full_members, identity, moves};
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::restores::{Failed, Happened, Pending, Phase};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{ClusterRestore, WholeRing};
use palladion_api::restore::{
    CassandraRestoreStatus, RestoreExisting, RestoreMode, RestorePhase, RestoreSourced,
};
use palladion_plan::Event;

/// Nobody has begun one: take up the first that can be, and say of the others why not.
pub fn next(facts: &Facts<'_>, valid: &Valid, waiting: &[Restore<'_>], draft: &mut Draft) {
    let mut first: Option<String> = None;
    // A leave, a join or a rollout of this very decision goes first.
    let is_free = !draft.has_work();
    for restore in waiting {
        if ends_at_once(facts, restore, draft) || asks(facts, restore, draft) {
            continue;
        }
        if let Some(first) = first.clone() {
            say(facts, restore, Pending::InQueue { restore: first }, draft);
            continue;
        }
        // A ring that is made for it has nothing else to do.
        let is_free = is_free || restore.spec.mode == RestoreMode::WholeRing;
        match ready(facts, valid, restore) {
            Ok(_) if facts.expires_backups() => {
                say(facts, restore, Pending::Retention, draft);
            }
            Ok(_) if !is_free => say(facts, restore, Pending::RingFirst, draft),
            Ok(source) => {
                take(facts, restore, source, draft);
                first = Some(restore.name().to_string());
            }
            Err(Unusable::NotYet(why)) => say(facts, restore, why, draft),
            Err(Unusable::Never(why)) => {
                let status = ended(restore, RestorePhase::Failed);
                write(facts, restore, status, why, draft);
            }
        }
    }
}

/// One is under way: the others wait for it.
pub fn say_queued<'a, 'b: 'a>(
    facts: &Facts<'_>,
    others: impl Iterator<Item = &'a Restore<'b>>,
    first: &str,
    draft: &mut Draft,
) {
    for restore in others {
        if !ends_at_once(facts, restore, draft) && !asks(facts, restore, draft) {
            say(facts, restore, Pending::InQueue { restore: first.to_string() }, draft);
        }
    }
}

/// What has not begun is given up without anybody having to do anything.
pub fn ends_at_once(facts: &Facts<'_>, restore: &Restore<'_>, draft: &mut Draft) -> bool {
    if restore.spec.abort && is_before_any_table(restore) {
        let status = ended(restore, RestorePhase::Aborted);
        write(facts, restore, status, Failed::AbortedInTime, draft);
        return true;
    }
    // It was taken up, and the ring knows nothing of it: the cluster was created again, or its
    // status was edited.
    if !is_before_any_table(restore) {
        let status = ended(restore, RestorePhase::Failed);
        write(facts, restore, status, Failed::Forgotten, draft);
        return true;
    }
    false
}

/// Nobody was ordered to touch a table.
pub fn is_before_any_table(restore: &Restore<'_>) -> bool {
    match restore.status.phase {
        None
        | Some(
            RestorePhase::Pending
            | RestorePhase::Starting
            | RestorePhase::Comparing
            | RestorePhase::Confirming,
        ) => true,
        Some(
            RestorePhase::Creating
            | RestorePhase::Loading
            | RestorePhase::Replaying
            | RestorePhase::Finishing
            | RestorePhase::LoadingRoles
            | RestorePhase::Opening
            | RestorePhase::Repairing
            | RestorePhase::Complete
            | RestorePhase::Failed
            | RestorePhase::Aborted,
        ) => false,
    }
}

/// A person has not said yes: that is asked, and nobody waits behind it.
pub fn asks(facts: &Facts<'_>, restore: &Restore<'_>, draft: &mut Draft) -> bool {
    if restore.status.phase != Some(RestorePhase::Confirming) || is_confirmed(restore) {
        return false;
    }
    let ask = question(restore.spec.existing, &restore.status);
    write(facts, restore, restore.status.clone(), ask, draft);
    true
}

fn ended(restore: &Restore<'_>, phase: RestorePhase) -> CassandraRestoreStatus {
    CassandraRestoreStatus { phase: Some(phase), ..restore.status.clone() }
}

/// It waits for this.
pub fn say(facts: &Facts<'_>, restore: &Restore<'_>, why: impl Into<Said>, draft: &mut Draft) {
    let phase = match restore.status.phase {
        // What was asked stays asked.
        Some(RestorePhase::Confirming) => RestorePhase::Confirming,
        _ => RestorePhase::Pending,
    };
    write(facts, restore, ended(restore, phase), why, draft);
}

/// Could one of these begin, but for what is done about backups that expire?
pub fn is_ready(facts: &Facts<'_>, valid: &Valid) -> bool {
    let begins = |of: &&Restore<'_>| {
        let asks = of.status.phase == Some(RestorePhase::Confirming) && !is_confirmed(of);
        is_before_any_table(of) && !of.spec.abort && !asks
    };
    read::open(facts).iter().filter(begins).any(|restore| ready(facts, valid, restore).is_ok())
}

/// The backup, if a restore can begin.
fn ready(
    facts: &Facts<'_>,
    valid: &Valid,
    restore: &Restore<'_>,
) -> Result<RestoreSourced, Unusable> {
    let not_yet = |why: Pending| Unusable::NotYet(why.into());
    let Some(own) = &valid.backup else {
        return Err(not_yet(Pending::NoStore { cluster: valid.name.clone() }));
    };
    let unknown = |field: &str, word: String| Pending::UnknownWord { field: field.into(), word };
    if let RestoreExisting::Unknown(word) = restore.spec.existing {
        return Err(not_yet(unknown("existing", word.to_string())));
    }
    let source = source::find(facts, valid, own, restore)?;
    match restore.spec.mode {
        RestoreMode::Unknown(word) => return Err(not_yet(unknown("mode", word.to_string()))),
        RestoreMode::WholeRing => {
            return whole::begin::ready(facts, valid, restore).map(|()| source);
        }
        RestoreMode::Tables => {}
    }
    if !facts.ring_exists() {
        return Err(not_yet(Pending::NoRing));
    }
    let backup = facts.status.backup.as_ref().and_then(|backup| backup.backup.clone());
    if let Some(backup) = backup {
        return Err(not_yet(Pending::Backup { backup }));
    }
    if let Some(turn) = facts.turn().filter(|turn| moves(turn.step)) {
        let (member, work) = (turn.member.clone(), turn.step.into());
        return Err(not_yet(Pending::Turn { member, work }));
    }
    for member in full_members(facts) {
        let name = || member.name.clone();
        if !member.is_live(&facts.nodes) || identity(member).is_none() {
            return Err(not_yet(Pending::MemberDown { member: name() }));
        }
        let agent = member.status.agent.as_ref().filter(|a| a.protocol < KNOWS_RESTORES);
        if let Some(agent) = agent {
            let (member, agent) = (name(), agent.version.clone());
            return Err(not_yet(Pending::AgentTooOld { member, agent }));
        }
    }
    Ok(source)
}

fn take(facts: &Facts<'_>, restore: &Restore<'_>, source: RestoreSourced, draft: &mut Draft) {
    let name = restore.name().to_string();
    let record = ClusterRestore {
        id: format!("restore-{}", Restore::new_id(facts)),
        restore: name.clone(),
        restore_uid: restore.uid().clone(),
        source,
        gc_grace_seconds: None,
        own: Vec::new(),
        tables_made: false,
        ending_since: None,
        whole_ring: (restore.spec.mode == RestoreMode::WholeRing).then(WholeRing::default),
    };
    let event = Event::normal(Happened::Begun { restore: name });
    let event = event.also_about(crate::resources::RESTORE, &restore.object.meta);
    orders::take(facts, &record, event, draft);
}

/// It has been taken up.
pub fn record(facts: &Facts<'_>, under_way: &UnderWay<'_, '_>, draft: &mut Draft) {
    let UnderWay { restore, active, .. } = under_way;
    // The first comparison pins what the one after a confirmation has to find.
    let pinned = restore.status.source.as_ref().and_then(|source| source.manifest_hash.clone());
    let mut source = active.record.source.clone();
    source.manifest_hash = pinned.or(source.manifest_hash);
    let (phase, said) = match whole::of(active) {
        Some(_) => (RestorePhase::Starting, Phase::Reading),
        None => (RestorePhase::Comparing, Phase::Comparing),
    };
    let status = CassandraRestoreStatus {
        phase: Some(phase),
        id: Some(active.record.id.clone()),
        source: Some(source),
        started_at: Some(Time(facts.now())),
        ..restore.status.clone()
    };
    write(facts, restore, status, said, draft);
}
