//! Conditions.

use palladion_plan::workload::words::PodState;

palladion_plan::sentences! {
    /// The spec was understood.
    pub enum Accepted {
        Valid => Valid, "the spec is valid";
    }

    /// How many pods serve.
    pub enum Available {
        Ready { ready: usize, wanted: usize } => UpToDate, "{ready} of {wanted} pods are ready";
        Without { ready: usize, wanted: usize } => PodsNotReady,
            "{ready} of {wanted} pods are ready";
        ZoneWithout { ready: usize, wanted: usize, zone: String } => PodsNotReady,
            "{ready} of {wanted} pods are ready; zone {zone} has no ready pods";
    }

    /// Nothing is being changed.
    pub enum Rest {
        AllReady => UpToDate, "all pods are ready";
        Limited { asked: i32, replicas: i32 } => UpToDate,
            "all pods are ready; `scaling` changes the requested number of replicas from {asked} to {replicas}";
    }

    /// Pods are on their way.
    pub enum Starting {
        Pod { pod: PodState } => PodsNotReady, "{pod}";
        NotApplied => PodsNotReady, "waiting for the StatefulSet controller to apply the newest spec";
    }

    /// Nothing needs a person.
    pub enum Fine {
        Nothing => UpToDate, "no action is needed";
        Limited { asked: i32, replicas: i32 } => ReplicasLimited,
            "`scaling` changes the requested number of replicas from {asked} to {replicas}";
    }

    /// A step failed.
    pub enum Failed {
        Foreign { doing: String, answer: String } => ForeignObject, "could not {doing}: {answer}";
        Create { doing: String, answer: String } => CreateStatefulSetError,
            "could not {doing}: {answer}";
        Update { doing: String, answer: String } => UpdateError, "could not {doing}: {answer}";
        Other { doing: String, answer: String } => ErrSyncFailed, "could not {doing}: {answer}";
    }

    /// A pod cannot run.
    pub enum Stuck {
        Unschedulable { pod: PodState } => Unschedulable, "{pod}";
        ImagePull { pod: PodState } => ImagePullFailed, "{pod}";
        Failing { pod: PodState } => PodFailing, "{pod}";
    }

    /// Paused, and where.
    pub enum Paused {
        Everywhere => Paused,
            "OperatorConfig default has `paused: true`; the operator updates only the status of objects";
        Here => Paused,
            "`spec.paused` is true; the operator updates only the status of this object";
    }

    /// Not paused.
    pub enum Running {
        NotPaused => UpToDate, "not paused";
    }
}
