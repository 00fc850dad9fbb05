//! The one turn of the ensemble: what is said of it, whatever it is for.

use palladion_api::ids::MemberName;
use palladion_plan::words::Names;
use palladion_plan::words::members::Server;

palladion_plan::sentences! {
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
    }

    /// Steps.
    pub enum Doing {
        WithdrawOrder { executor: MemberName } => "withdraw the order to member {executor} to change the configuration, which no turn asks for any more";
        Reconfigure { executor: MemberName, add: Names, remove: Names } =>
            "have member {executor} change the configuration: add servers {add}, remove servers {remove}";
    }
}
