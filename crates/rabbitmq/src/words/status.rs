//! What of the nodes of a cluster is shown, and needs a person.

use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::rabbitmq::NodeName;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// Whether every node sees the others.
    pub enum Seen {
        All => UpToDate, "every node that serves sees every other one run";
        Nobody => FactUnknown, "no node reports the cluster";
        NotBy { member: MemberName, nodes: Names } => NodesUnseen,
            "the node of member {member} does not see {nodes} run";
    }

    /// Whether nodes are partitioned.
    pub enum Partition {
        None => UpToDate, "no node reports a partition";
        NoneButAutoheal => ChangesMayBeLost,
            "no node reports a partition; with `partitionHandling: Autoheal` the changes of one side are thrown away after one, confirmed messages in classic queues among them";
        From { member: MemberName, nodes: Names } => Partitioned,
            "the node of member {member} reports a partition from {nodes}";
    }

    /// What to do where a node runs short of something.
    pub enum MoreOf {
        Memory => "raise `resources.limits.memory`";
        Disk => "enlarge the volumes (`storage.volumeClaimTemplate`)";
        Unknown => "give the node more of it";
    }

    /// A node, or the cluster, is in trouble.
    pub enum Trouble {
        UnknownNodes { nodes: Names } => UnknownNode,
            "the cluster contains nodes that no member accounts for: {nodes}; if nobody needs them, stop them and run `rabbitmqctl forget_cluster_node`";
        NotOnRecord { member: MemberName, volume: VolumeId, namespace: String, annotation: &'static str } => VolumeForeign,
            "member {member} has on volume {volume} the data of a node that has joined before, and that is not on record, so it is not started; if nobody needs the data, run `kubectl annotate -n {namespace} servicemember {member} --overwrite {annotation}={volume}`: the data is removed, and the member joins as new";
        NotInCluster { member: MemberName, volume: VolumeId, namespace: String, annotation: &'static str } => NotInCluster,
            "the other nodes do not name the node of member {member} as one of the cluster, although the operator did not remove it; if it should serve again, run `kubectl annotate -n {namespace} servicemember {member} --overwrite {annotation}={volume}`: its data is removed, and it joins as new";
        Partitioned { member: MemberName, nodes: Names } => Partitioned,
            "the node of member {member} reports a partition from {nodes}; check the network between them: until no node reports a partition no member joins, leaves or is restarted";
        Alarm { node: NodeName, resource: String, step: MoreOf } => AlarmRaised,
            "node {node} holds up publishers, because {resource} runs short; have the queues consumed, or {step}";
        Khepri => KhepriUnsupported,
            "feature flag `khepri_db` is enabled: the nodes keep their membership in Khepri, so the operator changes nothing any more";
        CredentialsMissing { secret: String, member: MemberName, message: String } => CredentialsMissing,
            "Secret {secret} is missing or incomplete: create or restore it or, as long as no node has served, correct `secretName`; member {member}: {message}";
        DefinitionsMissing { secret: String, member: MemberName } => DefinitionsMissing,
            "member {member} finds no `definitions.json` in Secret {secret}; create the Secret with this key, or remove `definitionsSecretName`";
        DefinitionsRefused { secret: String, member: MemberName, message: String } => DefinitionsPending,
            "member {member} cannot import `definitions.json` of Secret {secret} into the new cluster, which waits for it, and tries again: {message}; correct the Secret, or remove `definitionsSecretName`";
        CookieDiffers { member: MemberName, message: String } => CookieDiffers,
            "member {member}: {message}";
        NameUnresolved { member: MemberName, message: String } => NameUnresolved,
            "member {member}: {message}; if it lasts, check the cluster's DNS or, as long as no node has served, correct `clusterDomain`";
        WaitingForTables { member: MemberName, message: String } => WaitingForTables,
            "member {member}: {message}";
    }
}
