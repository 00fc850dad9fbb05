//! A decommission that failed halfway while its server runs on: all others see
//! the member leaving, and nothing else can happen in the ring until it has
//! left. Cassandra does what is left to do when it is called again, which the
//! agent does for a new intent (safety rule 6.5).

use super::next::{is_held_up, refusal};
use crate::decide::departure;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Elsewhere, marks};
use crate::decide::turn::lock;
use crate::facts::Facts;
use crate::facts::leaver::{self, failed_halfway};
use crate::validate::Valid;
use crate::words::evidence::{Forbidden, Objection};
use crate::words::leave::{Doing, Waiting};
use palladion_api::cluster::TurnStep;
use palladion_plan::Flow;

/// The first such member gets the turn to leave again, once all that a leave
/// needs is so of all others. Pending maintenance is not waited for: a cleanup
/// is refused while a member leaves, and the first try has waited for the rest.
/// The same with one that the spec wants again: it leaves, and joins anew.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let stands = |m: &&_| failed_halfway(m).is_some() && marks::of(m).is_none();
    let Some(member) = facts.members.values().find(stands) else {
        return Flow::Free;
    };
    let (Some(host_id), Some(volume)) = (member.recorded_host_id(), member.volume()) else {
        return Flow::Free;
    };
    // Whoever looks at the views says what to do.
    if leaver::has_another_address(member) {
        let waiting = Waiting::ForAddress { member: member.name.clone() };
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    let quiet = match evidence::rest_is_quiet(facts, &member.name, host_id, Elsewhere::AllNormal) {
        // The last one of a datacenter that leaves has nobody here: it sees the others itself.
        Err(Objection::OnlyMember) if departure::takes_along(facts, member) => {
            evidence::elsewhere_is_quiet(facts, &[member], Elsewhere::AllNormal)
        }
        quiet => quiet,
    };
    if let Some(refused) = refusal(facts, member, &quiet) {
        draft.report(refused.clone());
        draft.wait_for(refused).about(member.subject());
        return Flow::Busy;
    }
    if let Err(why) = quiet {
        let member_name = member.name.clone();
        draft.wait_for(Forbidden::Leave { member: member_name, why }).about(member.subject());
        return Flow::Busy;
    }
    if is_held_up(facts, valid, member, draft).is_busy() {
        return Flow::Busy;
    }
    let turn = lock::new(facts, &member.name, &volume.volume_id, TurnStep::Leave, 1);
    let doing = Doing::StartAgain { member: member.name.clone() };
    draft.steps.push(lock::take(facts, &turn, doing, None));
    Flow::Busy
}
