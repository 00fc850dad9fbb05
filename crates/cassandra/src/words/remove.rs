//! Removals: a member that will never come back is removed by another one.

use super::evidence::Objection;
use jiff::Timestamp;
use palladion_api::ids::{HostId, MemberName};

palladion_plan::sentences! {
    /// What a removal waits for.
    pub enum Waiting {
        OthersBusy { member: MemberName } => MemberLeaving,
            "member {member} waits to be removed: all other members have an operation under way";
        Removing { helper: MemberName, member: MemberName } => MemberLeaving,
            "member {helper} removes {member} from the ring";
    }

    /// Why a removal ends.
    pub enum Ended {
        Removed => "it was removed from the ring";
        JoinsAsNew => "it joins the ring as a new member";
    }

    /// Why maintenance is needed.
    pub enum Cause {
        Removed { member: MemberName, at: Timestamp } => "member {member} was removed at {at}";
    }

    /// Events.
    pub enum Happened {
        Started { helper: MemberName, member: MemberName, host_id: HostId } => Synced,
            "Member {helper} removes {member} (host ID {host_id}) from the ring";
        Removed { member: MemberName } => Synced, "Member {member} was removed from the ring";
        Withdrawn { member: MemberName, why: Objection } => Synced,
            "Member {member} is not removed from the ring: {why}";
    }

    /// Steps.
    pub enum Doing {
        Remove { helper: MemberName, member: MemberName, host_id: HostId, proof: String } =>
            "let member {helper} remove host ID {host_id} of member {member}: {proof}";
        Record { member: MemberName } => "record that member {member} is to be removed from the ring";
        Clear { member: MemberName } =>
            "record that member {member} is no longer to be removed from the ring";
        TakeJobBack { helper: MemberName } =>
            "let member {helper} no longer remove another member from the ring";
        AskAgain { member: MemberName } => "ask again whether member {member} may be removed";
    }
}
