//! What is proven, for records and logs: why pods may end.

use palladion_plan::workload::words::PodState;

palladion_plan::sentences! {
    /// Why a step that could hurt may be taken.
    pub enum Proven {
        NotReady { pod: PodState } => "{pod}, and its template or configuration has changed";
        OthersAvailable { pod: String } =>
            "the template or configuration of pod {pod} has changed, all pods are available, and all dependencies are ready";
        Fewer { set: String, has: i32, replicas: i32 } =>
            "the spec reduces the replicas of StatefulSet {set} from {has} to {replicas}";
        Recreated { set: String } =>
            "`reload.policy` is `Recreate`, the template or configuration of StatefulSet {set} has changed, and all dependencies are ready";
    }
}
