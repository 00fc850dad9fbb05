//! Rescues, when a majority is lost.

use palladion_api::ids::{MemberName, Nonce, VolumeId};
use palladion_plan::words::members::{Server, Volume};
use palladion_plan::words::{Names, Several};
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// Why a rescue does not go on.
    pub enum Waiting {
        ForReport { member: MemberName } => WaitingForEvidence,
            "waiting for member {member} to report the last transaction on its volume";
        NothingLeft => MajorityLost, "no volume of the ensemble is left";
        ForEnd { member: MemberName, others: Names } => WaitingForEvidence,
            "member {member} goes on alone once no server of {others} runs any more";
        Leading { member: MemberName, server: Server } => Initializing,
            "member {member} goes on alone: {server}";
    }

    /// Whose votes are missing.
    pub enum Gone {
        Volumes { members: Names, volumes: Names } => "the volumes of {members} ({volumes}) are lost";
        Strangers { servers: Names } => "no member accounts for servers {servers} of the configuration";
    }

    /// Why nobody knows what is the last transaction of a server that votes.
    pub enum Why {
        Away { node: String } => "Node {node} is not ready";
        Silent { pod: MemberPod } => "{pod}";
        OnVolume { found: Volume } => "its volume {found}";
        NotRead => "its agent could not read its volume";
    }

    /// Whose report is missing, and how a person goes on without it.
    pub enum Unreported {
        Named { member: MemberName, why: Why, namespace: String, annotation: &'static str, volume: VolumeId } =>
            "member {member} has not reported its last transaction, because {why}; bring it back, or, if its volume is lost for good, run `kubectl delete pod -n {namespace} {member} --force --grace-period=0`, which says that its server does not run, and then `kubectl annotate -n {namespace} servicemember {member} --overwrite {annotation}={volume}`, after which what only that volume has is gone";
        Unnamed { member: MemberName, why: Why } =>
            "member {member} has not reported its last transaction, because {why}; bring it back";
    }

    /// Who may still run, and how a person ends that.
    pub enum Running {
        OnMachine { member: MemberName, node: String, namespace: String } =>
            "nobody knows whether the server of member {member} has stopped: bring Node {node} back or, if that machine is off for good, run `kubectl delete pod -n {namespace} {member} --force --grace-period=0`";
        LeftOut { member: MemberName, node: String, namespace: String, annotation: &'static str, volume: VolumeId } =>
            "nobody knows whether the server of member {member} has stopped: bring Node {node} back or, if its volume is lost for good as well, run `kubectl delete pod -n {namespace} {member} --force --grace-period=0` and `kubectl annotate -n {namespace} servicemember {member} --overwrite {annotation}={volume}`";
        Silent { member: MemberName, namespace: String } =>
            "the agent of member {member} does not report whether its server has stopped: run `kubectl delete pod -n {namespace} {member}`";
    }

    /// What needs a person.
    pub enum Problem {
        Unreported { gone: Several<Gone>, unreported: Several<Unreported> } => MajorityLost,
            "{gone}, and the other servers are no majority, so they accept no change; who may go on alone is known once all others have reported, as one of them may hold the only copy of acknowledged writes: {unreported}";
        NothingLeft { gone: Several<Gone>, annotation: &'static str } => MajorityLost,
            "{gone}, and no other server votes; bring back the machines that hold these volumes, and remove the annotation {annotation} from members whose volumes are not lost after all; otherwise the data is gone, and the ensemble has to be created again";
        StillRuns { member: MemberName, running: Several<Running> } => MajorityLost,
            "member {member} goes on alone once no other server runs any more; {running}";
        Ask {
            gone: Several<Gone>,
            best: MemberName,
            rest: Names,
            namespace: String,
            cluster: String,
            annotation: &'static str,
            nonce: Nonce,
        } => MajorityLost,
            "{gone}, and the other servers are no majority, so they accept no change; what only those had is gone unless their machines are only away and you bring these back; to let member {best}, which has the newest data of the voting servers that are left, go on alone, with new volumes for all others (left: {rest}), make sure that none of those runs, and run `kubectl annotate -n {namespace} zookeepercluster {cluster} --overwrite {annotation}={nonce}`";
    }

    /// Events.
    pub enum Happened {
        Rescued { member: MemberName } => MajorityLost,
            "member {member} goes on alone, as a user allowed; the other members join it on new volumes";
    }

    /// Steps.
    pub enum Doing {
        Start { member: MemberName } => "begin to let member {member} go on alone";
        Again { member: MemberName } => "let member {member} try again to go on alone";
    }
}
