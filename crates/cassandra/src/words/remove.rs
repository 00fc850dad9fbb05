//! Removals: a member that will never come back is removed by another one.

use super::evidence::Objection;
use jiff::Timestamp;
use palladion_api::ids::{HostId, MemberName};

palladion_plan::sentences! {
    /// What a removal waits for.
    pub enum Waiting {
        OthersBusy { member: MemberName } => MemberLeaving,
            "member {member} cannot be removed yet: all other members have an operation in progress";
        Removing { helper: MemberName, member: MemberName } => MemberLeaving,
            "member {helper} is removing member {member} from the ring";
    }

    /// What is wrong.
    pub enum Problem {
        Overdue { member: MemberName, since: Timestamp } => NoProgress,
            "the removal of member {member} from the ring, requested at {since}, has not completed; check `nodetool removenode status` and `nodetool netstats` on the other members. If nothing moves, delete the pod of the member that carries out the removal; the operator then requests it again";
        Blocked { member: MemberName, lost: MemberName, namespace: String, label: &'static str } => VolumeLost,
            "member {lost} has lost its data while member {member} is being removed from the ring; the removal waits for member {lost}, which cannot be replaced until the removal has completed. If the data of member {lost} cannot be recovered, run `kubectl label -n {namespace} cassandramember {lost} {label}=`: the removal then continues without it. Rows that only these two members held will be lost";
    }

    /// Why a removal ends.
    pub enum Ended {
        Removed => "it was removed from the ring";
        JoinsAsNew => "it will join the ring as a new member";
    }

    /// Why maintenance is needed.
    pub enum Cause {
        Removed { member: MemberName, at: Timestamp } => "member {member} was removed at {at}";
    }

    /// Events.
    pub enum Happened {
        Started { helper: MemberName, member: MemberName, host_id: HostId } => Synced,
            "Member {helper} is removing member {member} (host ID {host_id}) from the ring";
        Removed { member: MemberName } => Synced, "Member {member} was removed from the ring";
        Withdrawn { member: MemberName, why: Objection } => Synced,
            "The removal of member {member} from the ring was cancelled: {why}";
    }

    /// Steps.
    pub enum Doing {
        Remove { helper: MemberName, member: MemberName, host_id: HostId, proof: String } =>
            "ask member {helper} to remove host ID {host_id} of member {member}: {proof}";
        Record { member: MemberName } => "record that member {member} is to be removed from the ring";
        Clear { member: MemberName } =>
            "record that member {member} is no longer to be removed from the ring";
        TakeJobBack { helper: MemberName } =>
            "withdraw the request to member {helper} to remove another member from the ring";
        TakeUp { member: MemberName } =>
            "take up the removal of member {member}, which may have begun";
        AskAgain { member: MemberName } => "check again whether member {member} can be removed";
    }
}
