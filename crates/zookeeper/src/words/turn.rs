//! The one turn of the ensemble: what is said of it, whatever it is for.

use palladion_api::ids::MemberName;
use palladion_plan::words::Names;
use palladion_plan::words::members::Server;
use palladion_plan::words::turn::Work;
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// Why a turn ends before its work is done.
    pub enum Ended {
        MemberGone => "the member does not exist";
        PodGone => "its pod is gone";
        OtherVolume => "it has another volume";
        VolumesFirst => "all volumes are looked at again first";
        AgentRefused { why: String } => "its agent refused: {why}";
        MajorityFirst => "so many volumes are lost that the other servers are no majority";
        NotLost => "its volume does not count as lost any more";
        LostToo => "the volume that came in the place of the lost one is lost, too";
        ReplacementFirst => "the volume of a member is lost, and its replacement comes first";
        RestartFirst => "a member that does not serve is restarted first";
        JoinFirst => "another server votes, has no permit to run, and goes on with its join first";
        OthersFirst => "the new server does not come up, and others go on meanwhile";
        NotTheNewest => "another member has newer data on its volume, or does not report what it has";
        NotWanted => "the spec does not ask for it any more";
        NoServerId => "all server IDs have been used";
        Failed { server: Server } => "the start failed: {server}";
        InConfiguration => "the server votes already and does not serve";
    }

    /// Waiting within a turn.
    pub enum Waiting {
        ForOperation { executor: MemberName } => WaitingForEnsemble,
            "waiting for member {executor} to change the configuration of the ensemble";
        Again { executor: MemberName, why: String } => WaitingForEnsemble,
            "member {executor} could not change the configuration of the ensemble, and will try again: {why}";
        ForClaim { member: MemberName, pod: MemberPod } => WaitingForPod,
            "member {member} waits to start until its record, its pod and its PersistentVolumeClaim are there: {pod}";
    }

    /// Why a change was refused, where its agent says no more.
    pub enum Refused {
        NoQuorum => "too few of the servers that would vote are in touch with the leader";
        InProgress => "another change is under way";
        Unsaid => "its agent does not say why";
    }

    /// What needs a person.
    pub enum Problem {
        ChangeFails { member: MemberName, work: Work, times: u32, executor: MemberName, why: String, namespace: String } => OperationFailed,
            "the {work} of member {member} does not go on after {times} tries: member {executor} could not change the configuration of the ensemble: {why}; correct the cause (`kubectl logs -n {namespace} {executor} -c zookeeper`)";
    }

    /// Steps.
    pub enum Doing {
        WithdrawOrder { executor: MemberName } => "withdraw the order to member {executor} to change the configuration, which no turn asks for any more";
        Reconfigure { executor: MemberName, add: Names, remove: Names } =>
            "have member {executor} change the configuration: add servers {add}, remove servers {remove}";
    }
}
