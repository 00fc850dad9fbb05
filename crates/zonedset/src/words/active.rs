//! Which pods are labelled active, and why none is.

use palladion_plan::words::Several;
use palladion_plan::workload::words::PodState;

palladion_plan::sentences! {
    /// Events.
    pub enum Happened {
        Active { pod: String } => ActivePod, "pod {pod} is active";
        Inactive { pod: String, why: Inactive } => ActivePod, "pod {pod} is no longer active: {why}";
    }

    /// What needs a person.
    pub enum Problem {
        Unanswered { pod: String, why: String } => ProbeUnanswered, "pod {pod}: {why}";
        NoPod => NoActivePod, "no pod is active: there is no pod that could be";
        NoneActive { pods: Several<PassedOver> } => NoActivePod, "no pod is active: {pods}";
    }

    /// Why a pod is not active, or not any more.
    pub enum Inactive {
        NoProbes => "there are no active probes in the spec any more";
        Other => "another pod is the active one";
        Terminating => "it is terminating";
        Ended { pod: PodState } => "{pod}";
        ProbeFails { container: String, message: String } =>
            "the probe of container {container} fails: {message}";
    }

    /// Why a pod is passed over.
    pub enum PassedOver {
        NotReady { pod: PodState } => "{pod}, though its probe passes";
        Fails { pod: String, why: Inactive } => "pod {pod}: {why}";
        NoAnswer { pod: String, why: String } => "pod {pod}: no answer: {why}";
        NotRunning { pod: PodState } => "{pod}";
    }

    /// Steps.
    pub enum Doing {
        NameActive { pod: String } => "name pod {pod} the active one";
        Label { pod: String } => "label pod {pod} active";
        Unlabel { pod: String } => "remove the active label from pod {pod}";
    }
}
