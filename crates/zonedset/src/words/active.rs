//! Which pods are labelled active, and why none is.

use palladion_plan::words::Several;
use palladion_plan::workload::words::PodState;

palladion_plan::sentences! {
    /// Events.
    pub enum Happened {
        Active { pod: String } => ActivePod, "Pod {pod} is active";
        Inactive { pod: String, why: Inactive } => ActivePod, "Pod {pod} is no longer active: {why}";
    }

    /// What needs a person.
    pub enum Problem {
        Unanswered { pod: String, why: String } => ProbeUnanswered, "cannot probe pod {pod}: {why}";
        NoPod => NoActivePod, "no pod is active: no pods exist";
        NoneActive { pods: Several<PassedOver> } => NoActivePod, "no pod is active: {pods}";
    }

    /// Why a pod is not active, or not any more.
    pub enum Inactive {
        NoProbes => "the spec no longer has active probes";
        Other => "another pod is active now";
        Terminating => "it is terminating";
        Ended { pod: PodState } => "{pod}";
        ProbeFails { container: String, message: String } =>
            "the probe of container {container} fails: {message}";
    }

    /// Why a pod is passed over.
    pub enum PassedOver {
        NotReady { pod: String } => "pod {pod} passes its active probes but is not ready";
        Fails { pod: String, container: String, message: String } =>
            "the probe of container {container} in pod {pod} fails: {message}";
        NoAnswer { pod: String, why: String } => "cannot probe pod {pod}: {why}";
        NotRunning { pod: PodState } => "{pod}";
    }

    /// Steps.
    pub enum Doing {
        NameActive { pod: String } => "record pod {pod} as the active pod";
        Label { pod: String } => "label pod {pod} as active";
        Unlabel { pod: String } => "remove the active label from pod {pod}";
    }
}
