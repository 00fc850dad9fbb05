//! Why a step of a clustered service may be taken where nobody needs to be asked.

use super::Names;
use super::members::Server;
use palladion_api::ids::{MemberName, PodUid, Uid};

palladion_api::sentences! {
    /// Why no server serves in a pod.
    pub enum Idle {
        Unschedulable { message: String } => "it cannot be scheduled: {message}";
        Failing { reason: String, message: String } => "it is failing: {reason}: {message}";
        Server { server: Server } => "{server}";
    }

    /// Why a step that could hurt may be taken.
    pub enum Proven {
        First =>
            "it is the first server of a new cluster; every other volume was reported empty, or a user allowed the new cluster";
        Named { volumes: Names } =>
            "a user allowed the others to go on without these volumes: {volumes}";
        GoesOn =>
            "its start on this volume was permitted before; it goes on with the data that it has";
        Idle { pod: PodUid, revision: String, why: Idle } =>
            "the pod with UID {pod} (revision {revision}) is not serving: {why}";
        NothingOnNode { member: MemberName, node: String } =>
            "the volume holds no data of the cluster: member {member} was never permitted to start, and its Node {node} is gone";
        HasLeft { said: String } => "the member is not in the cluster: {said}";
        Vacant { set: String, ordinal: i32 } =>
            "StatefulSet {set} has no member with ordinal {ordinal} or higher";
        ClusterDeleted { uid: Uid } =>
            "`deletionPolicy` is Delete, and the cluster with UID {uid} is being deleted";
    }
}
