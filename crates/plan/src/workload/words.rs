//! What is said of pods, claims and sets, whoever's they are.

palladion_api::sentences! {
    /// How a pod is.
    pub enum PodState {
        Terminating { pod: String } => "pod {pod} is terminating";
        Unschedulable { pod: String, message: String } => "pod {pod} cannot be scheduled: {message}";
        Failing { pod: String, reason: String, message: String } => "pod {pod}: {reason}: {message}";
        Ready { pod: String } => "pod {pod} is ready";
        NotReady { pod: String, phase: String } => "pod {pod} is {phase} and not ready";
    }

    /// How a claim template was changed in a way that is not carried out.
    pub enum TemplateChange {
        Removed { template: String } => "the volume claim template {template} was removed";
        Added { template: String } => "the volume claim template {template} was added";
        Smaller { template: String, requested: String, has: String } =>
            "the volume claim template {template} requests {requested}, less than the {has} of its claims";
        Other { template: String } =>
            "the volume claim template {template} was changed in more than its storage request";
    }

    /// Why an object is not written now.
    pub enum Blocked {
        BeingDeleted { what: String } => CreatingObjects,
            "{what} is being deleted and will be recreated";
    }

    /// Steps.
    pub enum Doing {
        Create { what: String } => "create {what}";
        Update { what: String } => "update {what}";
        GrowClaim { claim: String } => "grow PersistentVolumeClaim {claim}";
        ReleasePods { set: String } => "delete StatefulSet {set} and keep its pods";
    }
}
