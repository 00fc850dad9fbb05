//! Conditions.

use palladion_plan::workload::words::PodState;

palladion_plan::sentences! {
    /// The spec was understood.
    pub enum Accepted {
        Valid => Valid, "the spec is valid";
    }

    /// How many pods serve.
    pub enum Available {
        Ready { ready: u32, wanted: u32 } => UpToDate, "{ready} of {wanted} pods are ready";
        TooFew { ready: u32, wanted: u32, needed: u32 } => PodsNotReady,
            "{ready} of {wanted} pods are ready, at least {needed} must be";
        NoPods => UpToDate, "no pods are wanted";
    }

    /// Nothing is being changed.
    pub enum Rest {
        AllReady => UpToDate, "all pods are ready";
    }

    /// Pods are on their way.
    pub enum Starting {
        Pod { pod: PodState } => PodsNotReady, "{pod}";
        NotApplied => PodsNotReady, "waiting for the StatefulSet controller to apply the newest spec";
        NoPods => PodsNotReady, "waiting for the DaemonSet controller to apply the newest spec";
    }

    /// Nothing needs a person.
    pub enum Fine {
        Nothing => UpToDate, "no action is needed";
    }

    /// A step failed.
    pub enum Failed {
        Foreign { doing: String, answer: String } => ForeignObject, "could not {doing}: {answer}";
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
