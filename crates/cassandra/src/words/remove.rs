//! Removals: a member that will never come back is removed by another one.

use super::evidence::Objection;
use jiff::Timestamp;
use palladion_api::ids::{HostId, MemberName};

palladion_plan::sentences! {
    /// What a removal waits for.
    pub enum Waiting {
        OthersBusy { member: MemberName } => MemberLeaving,
            "member {member} cannot be removed yet: every other member that is up has another operation in progress";
        CleansUp { member: MemberName, cleaner: MemberName } => MemberLeaving,
            "member {member} cannot be removed from the ring while member {cleaner} is being cleaned up: the cleanup could delete rows that the removal streams to {cleaner}. To end it before its time, run `nodetool stop CLEANUP` on {cleaner}";
        Removing { helper: MemberName, member: MemberName } => MemberLeaving,
            "member {helper} is removing member {member} from the ring";
        HelperShut { helper: MemberName, member: MemberName } => MemberLeaving,
            "member {helper} is to remove member {member} from the ring and cannot begin, because its native transport is off; run `nodetool enablebinary` on {helper}, or restart it";
    }

    /// What is wrong.
    pub enum Problem {
        Overdue { member: MemberName, helper: MemberName, since: Timestamp } => NoProgress,
            "the removal of member {member} from the ring, requested at {since}, has not completed. Check `nodetool removenode status` on member {helper} and `nodetool netstats` on all members that are up. If no data is being streamed, delete the pod of member {helper}; the operator then retries the removal";
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
            "ask member {helper} to remove member {member} (host ID {host_id}) from the ring: {proof}";
        Record { member: MemberName } => "record that member {member} is to be removed from the ring";
        Clear { member: MemberName } =>
            "clear the removal record of member {member}: the removal has not begun";
        TakeJobBack { helper: MemberName } =>
            "withdraw the request to member {helper} to remove another member from the ring";
        TakeUp { member: MemberName } =>
            "resume the removal of member {member}, which may already have begun";
        AskAgain { member: MemberName } => "check again whether member {member} can be removed";
    }
}
