//! What is proven, for records and logs: why pods may end.

palladion_plan::sentences! {
    /// Why a step that could hurt may be taken.
    pub enum Proven {
        OlderTemplate { set: String } =>
            "`spec.rollout` is `Recreate`, and StatefulSet {set} has an older template";
        Fewer { set: String, has: i32, replicas: i32, rewritten: Rewritten } =>
            "the spec reduces the replicas of StatefulSet {set} from {has} to {replicas}; {rewritten}";
        Rewritten { set: String, rewritten: Rewritten } => "StatefulSet {set}: {rewritten}";
    }

    /// Why pods of a set may get its newest template.
    pub enum Rewritten {
        NoPod { partition: i32 } => "no pod with ordinal {partition} or higher needs updating";
        NoneReady => "none of its pods are ready";
        OnTrial { ordinal: i32 } => "only the pod with ordinal {ordinal} is updated to the template in the spec";
        Available { ordinal: i32 } =>
            "all pods with ordinal {ordinal} or higher have the newest template and are available";
        Reached { partition: i32 } =>
            "its rollout has already reached the pods with ordinal {partition} or higher";
    }
}
