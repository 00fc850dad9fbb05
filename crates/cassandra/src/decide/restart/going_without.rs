//! An upgrade that a member which is gone for good holds up: the upgrade waits
//! for the member, and its replacement for the upgrade. Only a person can say
//! that the upgrade goes on without it, since each restart then takes a second
//! replica of some data away for its time.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, marks};
use crate::decide::restart::versions;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::evidence::Objection;
use crate::words::restart::Problem;
use palladion_api::ids::HostId;
use palladion_api::labels;

/// Members that the upgrade goes on without: marked for replacement, and a
/// person has said so of each that is marked. Empty while all run one line.
pub fn of<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Vec<&'a MemberFact> {
    let gone = gone_for_good(facts);
    if versions::mixed(facts, valid).is_none() || !gone.iter().all(|m| is_said(m)) {
        return Vec::new();
    }
    gone
}

/// Host IDs whose absence does not keep the others from being restarted.
pub fn host_ids<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Vec<&'a HostId> {
    let without = of(facts, valid).into_iter();
    without.filter_map(|m| Some(&marks::of(m)?.host_id)).collect()
}

/// The cheap look before a restart.
pub fn ring_is_quiet(facts: &Facts<'_>, valid: &Valid) -> Result<(), Objection> {
    if let Some(member) = of(facts, valid).first()
        && let Some(record) = marks::of(member)
    {
        return evidence::rest_is_quiet(facts, &member.name, &record.host_id);
    }
    evidence::ring_is_quiet(facts)
}

/// Say what a person can do for an upgrade that cannot go on.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let unsaid = gone_for_good(facts).into_iter().find(|m| !is_said(m));
    if let Some(member) = unsaid
        && versions::mixed(facts, valid).is_some()
    {
        let (member, annotation) = (member.name.clone(), labels::UPGRADE_WITHOUT);
        let namespace = valid.namespace.clone();
        draft.report(Problem::HeldUp { namespace, member, annotation });
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
