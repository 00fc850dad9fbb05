//! A joiner that does not get into its cluster.

use jiff::Timestamp;
use palladion_api::ids::MemberName;

palladion_api::sentences! {
    /// Why its turn ends.
    pub enum Ended {
        NotInTime { minutes: i64 } => "it was permitted to join and has not within {minutes} minutes";
    }

    /// What needs a person.
    pub enum Problem {
        NotInTime { member: MemberName, minutes: i64, why: String, at: Timestamp } => JoinFailed,
            "member {member} was permitted to join and had not after {minutes} minutes: {why}; check that its machine and its pod are well, that the pod reaches the other members by their names and ports, and with RabbitMQ that it has their Erlang cookie; its join is tried again at {at}, or as soon as its pod is deleted";
        TriedAgain { member: MemberName, minutes: i64, why: String } => JoinFailed,
            "member {member} was permitted to join and had not after {minutes} minutes: {why}; its join is being tried again";
    }

    /// Steps.
    pub enum Doing {
        Postpone { member: MemberName } => "withdraw the permit of member {member}, which has not joined, and record when its join is tried again";
        Forget { member: MemberName } => "record that member {member} has joined after all";
    }
}
