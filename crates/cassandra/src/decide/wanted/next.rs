//! Who is stopped or started next because people want it. What cannot be done
//! yet holds up nothing else (safety rule 7.6).

use super::order::{self, Order};
use super::{drain, start, stop, terminated};
use crate::decide::draft::Draft;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::wanted::Doing;
use palladion_api::cluster::TurnStep;
use palladion_plan::Flow;

/// Starts first: whoever runs again is missed by nobody.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    for wanted in [Order::Start, Order::Stop, Order::Terminate] {
        let members = facts.members.values().filter(|m| order::of(m) == Some(wanted));
        for member in members.filter(|m| !order::is_on_its_way(m)) {
            if begin(facts, valid, member, wanted, draft).is_busy() {
                return Flow::Busy;
            }
        }
    }
    if drain::next(facts, draft).is_busy() {
        return Flow::Busy;
    }
    match terminated::forget(facts) {
        Some(step) => {
            draft.steps.push(step);
            Flow::Busy
        }
        None => Flow::Free,
    }
}

fn begin(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    wanted: Order,
    draft: &mut Draft,
) -> Flow {
    let name = member.name.clone();
    let (may, step, doing) = match wanted {
        Order::Start => {
            let may = start::may_begin(facts, valid, member, draft);
            (may, TurnStep::Start, Doing::BeginStart { member: name })
        }
        Order::Stop | Order::Terminate => {
            let may = stop::may_begin(facts, member, draft);
            (may, TurnStep::Stop, Doing::BeginStop { member: name })
        }
    };
    let Some(volume) = order::volume(member).filter(|_| may) else {
        return Flow::Free;
    };
    let turn = lock::new(facts, &member.name, &volume, step, 1);
    draft.steps.push(lock::take(facts, &turn, doing, None));
    Flow::Busy
}
