//! Who is not restarted for some minutes because queues need its node.

use crate::decide::draft::Draft;
use crate::decide::turn::postponed;
use crate::facts::{Facts, MemberFact};
use crate::words::restart::Waiting;
use jiff::Timestamp;
use palladion_api::service_member::QueueNames;

/// The queues that need its node by what it has answered last, and until when its restart is
/// postponed for them. One that does not serve keeps everybody from changing anything: it is asked
/// for all the time.
pub(super) fn lately<'a>(
    facts: &Facts<'_>,
    member: &'a MemberFact,
) -> Option<(&'a QueueNames, Timestamp)> {
    let again = postponed::until(facts, &member.name).filter(|_| member.serves)?;
    let queues = &member.status.evidence.as_ref()?.queues.as_ref()?.critical;
    (!queues.is_empty()).then_some((queues, again))
}

/// Say what this one waits for.
pub(super) fn wait(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) {
    if let Some((queues, again)) = lately(facts, member) {
        let waiting = Waiting::ForQueues { member: member.name.clone(), queues: queues.into() };
        draft.wait_for(waiting).about(member.subject()).until(again);
    }
}
