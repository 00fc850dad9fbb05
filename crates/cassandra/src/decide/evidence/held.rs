//! Steps that wait for the ring: under a reason of its own where a member that
//! people have stopped holds them up, because only people end that.

use crate::decide::draft::Draft;
use crate::facts::MemberFact;
use crate::words::evidence::Objection;
use crate::words::turn::Work;
use crate::words::wanted::HeldUp;
use palladion_plan::words::Reasoned;

/// Wait for the ring before this work of a member; `otherwise` says it where
/// nobody is stopped.
pub fn wait_for_ring<W: Reasoned>(
    member: &MemberFact,
    work: Work,
    why: Objection,
    otherwise: impl FnOnce(Objection) -> W,
    draft: &mut Draft,
) {
    let wait = match why {
        Objection::Stopped { member: by } => {
            draft.wait_for(HeldUp::By { work, member: member.name.clone(), by })
        }
        Objection::Terminated { member: by } => {
            draft.wait_for(HeldUp::Terminated { work, member: member.name.clone(), by })
        }
        why => draft.wait_for(otherwise(why)),
    };
    wait.about(member.subject());
}
