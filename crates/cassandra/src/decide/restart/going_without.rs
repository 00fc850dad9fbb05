//! A rollout that a member which is gone for good holds up: an upgrade waits for the
//! member, and its replacement for the upgrade; any rollout waits for a replacement
//! that cannot begin. Only a person can say that it goes on without the member, since
//! each restart then takes a second replica of some data away for its time.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Elsewhere, marks};
use crate::decide::restart::{next, versions};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::evidence::Objection;
use crate::words::restart::Problem;
use palladion_api::ids::HostId;
use palladion_api::labels;
use palladion_plan::Flow;

/// Members that a rollout goes on without: marked for replacement, and a person has
/// said so of each that is marked.
pub fn of<'a>(facts: &'a Facts<'_>) -> Vec<&'a MemberFact> {
    let gone = gone_for_good(facts);
    if !gone.iter().all(|m| is_said(m)) {
        return Vec::new();
    }
    gone
}

/// Host IDs whose absence does not keep the others from being restarted.
pub fn host_ids<'a>(facts: &'a Facts<'_>) -> Vec<&'a HostId> {
    let without = of(facts).into_iter();
    without.filter_map(|m| Some(&marks::of(m)?.host_id)).collect()
}

/// The cheap look before a restart.
pub fn ring_is_quiet(facts: &Facts<'_>) -> Result<(), Objection> {
    if let Some(member) = of(facts).first()
        && let Some(record) = marks::of(member)
    {
        return evidence::rest_is_quiet(facts, &member.name, &record.host_id, Elsewhere::OneDown);
    }
    evidence::ring_is_quiet_but(facts, Elsewhere::OneDown)
}

/// Say what a person can do for an upgrade that cannot go on.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if let Some((_, problem)) = held_up(facts, valid) {
        draft.report(problem);
    }
}

/// The member that an upgrade waits for, and what a person can do.
pub fn held_up<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Option<(&'a MemberFact, Problem)> {
    let lost = gone_for_good(facts).into_iter().find(|m| !is_said(m))?;
    versions::mixed(facts, valid)?;
    let (member, annotation) = (lost.name.clone(), labels::UPGRADE_WITHOUT);
    let namespace = valid.namespace.clone();
    Some((lost, Problem::HeldUp { namespace, member, annotation }))
}

/// A replacement that cannot begin, while members are to be restarted: they are, if a
/// person has said so; otherwise it is told what a person can do.
pub fn beside_replacement(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if !of(facts).is_empty() {
        // The replacement holds up all that comes after it, whatever comes of this.
        let (Flow::Busy | Flow::Free) = next::next(facts, valid, draft);
        return;
    }
    let unsaid = gone_for_good(facts).into_iter().find(|m| !is_said(m));
    let waiting = next::due(facts, valid).into_iter().find(|m| marks::of(m).is_none());
    if let (Some(lost), Some(waiting)) = (unsaid, waiting) {
        draft.report(Problem::Waits {
            namespace: valid.namespace.clone(),
            lost: lost.name.clone(),
            waiting: waiting.name.clone(),
            annotation: labels::UPGRADE_WITHOUT,
        });
    }
}

fn gone_for_good<'a>(facts: &'a Facts<'_>) -> Vec<&'a MemberFact> {
    let members = facts.members.values();
    members.filter(|m| marks::of(m).is_some()).collect()
}

fn is_said(member: &MemberFact) -> bool {
    let object = member.object.as_ref();
    object.is_some_and(|o| o.meta.annotations.contains_key(labels::UPGRADE_WITHOUT))
}
