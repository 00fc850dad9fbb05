//! What a wish of people asks of the operator, as the member stands.

use crate::decide::evidence::marks;
use crate::facts::MemberFact;
use palladion_api::ids::VolumeId;
use palladion_api::member::{RunState, WantedRun};

/// What is to be done with a member because people want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Its server is to be stopped.
    Stop,
    /// Its server is to be stopped for good: this volume is given up.
    Terminate,
    /// Its server is to run again.
    Start,
}

/// What people want of a member and does not hold yet; the last wish counts.
pub fn of(member: &MemberFact) -> Option<Order> {
    let spec = member.spec.as_ref()?;
    // That is final for its volume, whatever people want now.
    if member.is_terminated() {
        return None;
    }
    let wanted = spec.wanted.as_ref()?;
    match (wanted.run?, spec.run) {
        (WantedRun::Stopped, RunState::Running) => Some(Order::Stop),
        (WantedRun::Running, RunState::Stopped) => Some(Order::Start),
        // About another volume it is void: the member was replaced since.
        (WantedRun::Terminated, RunState::Running | RunState::Stopped) => {
            let is_meant = wanted.volume_id.is_some() && wanted.volume_id == spec.volume_id;
            is_meant.then_some(Order::Terminate)
        }
        (
            WantedRun::Running | WantedRun::Stopped | WantedRun::Terminated | WantedRun::Unknown(_),
            RunState::Running | RunState::Stopped | RunState::Terminated | RunState::Unknown(_),
        ) => None,
    }
}

/// Is it on its way into the ring, out of it, or to another volume? Then that
/// comes to its end first, whatever people want.
pub fn is_on_its_way(member: &MemberFact) -> bool {
    let leaves = member.spec.as_ref().is_some_and(|s| s.intent.is_some());
    leaves || member.removal().is_some() || marks::of(member).is_some()
}

/// The volume that its turn names.
pub fn volume(member: &MemberFact) -> Option<VolumeId> {
    let recorded = member.spec.as_ref().and_then(|s| s.volume_id.clone());
    recorded.or_else(|| member.volume().map(|v| v.volume_id.clone()))
}
