//! The one turn of the ensemble: what is said of it, whatever it is for.

use super::members::Server;
use palladion_api::ids::MemberName;
use palladion_api::service::ServiceStep;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// What a turn is for.
    pub enum Work {
        Initialize => "initialization";
        Join => "join";
        Leave => "leave";
        Replace => "replacement";
        Restart => "restart";
        Rescue => "rescue";
        Remove => "removal";
    }

    /// Why a turn ends before its work is done.
    pub enum Ended {
        MemberGone => "the member does not exist";
        PodGone => "its pod is gone";
        OtherVolume => "it has another volume";
        AgentRefused { why: String } => "its agent refused: {why}";
        ReplacementFirst => "the volume of a member is lost, and its replacement comes first";
        NotWanted => "the spec does not ask for it any more";
        NoServerId => "all server IDs have been used";
        Failed { server: Server } => "the start failed: {server}";
        InConfiguration => "the server votes already and does not serve";
    }

    /// Waiting within a turn.
    pub enum Waiting {
        ForOperation { executor: MemberName } => WaitingForEnsemble,
            "waiting for member {executor} to change the configuration of the ensemble";
        UnknownPermit { member: MemberName } => FactUnknown,
            "member {member} has a permit of a newer operator, which this one does not understand: upgrade the operator";
    }

    /// Steps.
    pub enum Doing {
        RaiseEpoch => "take over as the new leader";
        End { member: MemberName, work: Work, why: Ended } => "end the {work} of member {member}: {why}";
        Finish { member: MemberName, work: Work } => "record that the {work} of member {member} is complete";
        Resume { member: MemberName, work: Work } => "resume the {work} of member {member}";
        Permit { member: MemberName, work: Work } => "permit the {work} of member {member}";
        Withdraw { member: MemberName } => "withdraw the permit of member {member}";
        WithdrawOrder { executor: MemberName } => "withdraw the order to member {executor} to change the configuration, which no turn asks for any more";
        Reconfigure { executor: MemberName, add: Names, remove: Names } =>
            "have member {executor} change the configuration: add servers {add}, remove servers {remove}";
    }
}

impl From<ServiceStep> for Work {
    fn from(step: ServiceStep) -> Self {
        match step {
            ServiceStep::Initialize => Work::Initialize,
            ServiceStep::Join => Work::Join,
            ServiceStep::Leave => Work::Leave,
            ServiceStep::Replace => Work::Replace,
            ServiceStep::Restart => Work::Restart,
            ServiceStep::Rescue => Work::Rescue,
            ServiceStep::Remove => Work::Remove,
        }
    }
}
