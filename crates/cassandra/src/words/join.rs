//! Joins: what a joiner waits for, and what comes of an attempt.

use super::members::{Pod, Server};
use super::turn::FailedStart;
use jiff::Timestamp;
use palladion_api::ids::MemberName;

palladion_plan::sentences! {
    /// What a join waits for.
    pub enum Waiting {
        ForPod { member: MemberName, pod: Pod } => WaitingForPod,
            "member {member} waits to join: {pod}";
        ForGrace { member: MemberName, until: Timestamp } => WaitingForGrace,
            "member {member} waits to join until {until}";
        HasTurn { member: MemberName, pod: Pod } => WaitingForPod,
            "member {member} has the turn: {pod}";
        Initializing { member: MemberName, server: Server } => Initializing,
            "member {member} initializes the ring: {server}";
        Joining { member: MemberName, server: Server } => Joining,
            "member {member} joins the ring: {server}";
        Recording { member: MemberName } => Joining,
            "member {member} is a full member; its host ID is being recorded";
        Retry { member: MemberName, at: Timestamp } => Joining, "member {member} tries again at {at}";
    }

    /// What needs a person.
    pub enum Problem {
        Failed { failed: FailedStart } => JoinFailed, "{failed}";
    }

    /// Why a join or a first start ends before its work is done.
    pub enum Ended {
        AgentRefused { why: String } => "its agent refused to start the server: {why}";
        OtherVolume => "it has another volume now";
        InitializedElsewhere => "the ring is initialized on another volume";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "give member {member} the turn to join";
        StartUnrecorded { member: MemberName } =>
            "start member {member} with its data: it joined, and that was not recorded";
        PassTurn { from: MemberName, to: MemberName } =>
            "pass the turn from member {from} to member {to}";
        Retry { member: MemberName } => "retry the start of member {member}";
    }
}
