//! That a repair of all ranges is owed to a member stays on record until it is made up for
//! (safety rule 7.8): by such a repair, by all ranges of the ring having been repaired since as
//! they were due, or by other data.

use super::{CLOCKS, debts};
use crate::decide::draft::Draft;
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::maintenance::Doing;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::labels;
use palladion_plan::Step;
use serde_json::{Value, json};

/// Take the record off members whose ranges were all repaired since.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let owing = facts.joined().filter_map(|m| Some((m, since(m)?)));
    let mut owing = owing.filter(|(m, _)| !has_pending(m)).peekable();
    if owing.peek().is_none() {
        return;
    }
    // Ranges of which a member elsewhere has the first copy are repaired there, and nobody here
    // knows when.
    if facts.others_may_have_run() {
        return;
    }
    let Some(oldest) = oldest(facts) else {
        return;
    };
    for (member, since) in owing {
        // What began so much later began after the absence, whatever the clocks say.
        if oldest.duration_since(since) > CLOCKS {
            draft.steps.extend(made_up(member, oldest));
        }
    }
}

/// What is owed to the member with this data, as its claim says. A time that nobody can read
/// may be any.
pub fn on_claim(claim: &ClaimFact) -> Option<Time> {
    let written = claim.object.meta.annotations.get(labels::REPAIR_OWED_UNTIL);
    let text = written.filter(|_| claim.host_id.is_some())?;
    Some(Time(text.parse().unwrap_or(Timestamp::UNIX_EPOCH)))
}

fn since(member: &MemberFact) -> Option<Timestamp> {
    Some(member.spec.as_ref()?.repair_owed_until.as_ref()?.0)
}

/// It goes with that repair.
fn has_pending(member: &MemberFact) -> bool {
    member.spec.iter().flat_map(|s| &s.pending_maintenance).any(debts::may_lack)
}

/// When the oldest of the last repairs of all ranges of all tables began; none where a range
/// was never repaired, or is not known to have been.
fn oldest(facts: &Facts<'_>) -> Option<Timestamp> {
    let oldest: Option<Vec<Timestamp>> = facts.joined().map(oldest_of).collect();
    oldest?.into_iter().min()
}

fn oldest_of(member: &MemberFact) -> Option<Timestamp> {
    let cover = member.spec.as_ref()?.repair.as_ref()?;
    let all = cover.keyspaces.is_empty() && cover.exclude_tables.is_empty();
    let status = member.status.repair.as_ref().filter(|_| all && member.is_normal())?;
    let is_known = status.message.is_none() && status.never_ranges == 0 && status.ranges > 0;
    status.oldest_at.as_ref().filter(|_| is_known).map(|t| t.0)
}

fn made_up(member: &MemberFact, at: Timestamp) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "repairOwedUntil": Value::Null } });
    let doing = Doing::RecordMadeUp { member: member.name.clone(), at };
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing))
}
