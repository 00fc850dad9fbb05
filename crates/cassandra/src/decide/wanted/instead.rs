//! What a member is not restarted for any more: a person wants it stopped, for a while or for
//! good, and it has not come back. What is on its volume may be what it does not come back for,
//! and whatever else a person could do waits for the turn of its restart.

use super::order::{self, Order};
use super::stop;
use crate::decide::draft::Draft;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::words::wanted::Doing;
use palladion_api::cluster::{Turn, TurnStep};

/// The turn to stop it, in place of its restart, once it may be stopped. Says why not.
pub fn of_restart(
    facts: &Facts<'_>,
    member: &MemberFact,
    draft: &mut Draft,
) -> Option<(Turn, Doing)> {
    let is_wanted = matches!(order::of(member), Some(Order::Stop | Order::Terminate));
    if !is_wanted || member.is_normal() || order::is_on_its_way(member) {
        return None;
    }
    if !stop::may_begin(facts, member, draft) {
        return None;
    }
    let volume = order::volume(member)?;
    let turn = lock::new(facts, &member.name, &volume, TurnStep::Stop, 1);
    Some((turn, Doing::StopInstead { member: member.name.clone() }))
}
