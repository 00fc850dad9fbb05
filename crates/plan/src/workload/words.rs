//! What is said of pods, claims and sets, whoever's they are.

use jiff::Timestamp;

palladion_api::sentences! {
    /// How a pod is.
    pub enum PodState {
        Terminating { pod: String } => "pod {pod} is terminating";
        Unschedulable { pod: String, message: String } => "pod {pod} cannot be scheduled: {message}";
        Failing { pod: String, reason: String, message: String } => "pod {pod} is failing: {reason}: {message}";
        Ready { pod: String } => "pod {pod} is ready";
        NotReady { pod: String, phase: String } => "pod {pod} is not ready (phase {phase})";
    }

    /// How far the pod of a member is, of which the sentence speaks.
    pub enum MemberPod {
        Missing => "its pod does not exist yet";
        Terminating => "its pod is terminating";
        Unschedulable { message: String } => "its pod cannot be scheduled: {message}";
        Failing { reason: String, message: String } => "its pod is failing: {reason}: {message}";
        Silent { phase: String } => "its pod is {phase} and its agent has not reported yet";
        NoVolume => "its pod is running, but its agent has not reported the state of the volume yet";
        Running => "its pod is running";
    }

    /// What a pod that has its Node waits for.
    pub enum Mounting {
        Waits { member: String, pod: String, node: String, since: Timestamp } => WaitingForVolumes,
            "the pod of member {member} does not start on Node {node}, where it has waited since {since} for a volume or for its network; `kubectl describe pod {pod}` shows which (`FailedMount`, `FailedAttachVolume`, `FailedCreatePodSandBox`)";
    }

    /// Why a container does not run, as far as it stays the same from one try to
    /// the next.
    pub enum ContainerState {
        Exits { pod: String, container: String, code: i64 } =>
            "container {container} exited with code {code} and will be restarted after a back-off (see `kubectl logs {pod} -c {container} --previous`)";
        Waiting { container: String, message: String } => "container {container}: {message}";
        /// The kubelet says no more than the reason.
        WaitingUnexplained { container: String } => "container {container} is not running";
        /// Its status has no message.
        PodFailed => "the pod has failed and will not run again";
    }

    /// How a claim template was changed in a way that is not carried out.
    pub enum TemplateChange {
        Removed { template: String } => "volume claim template {template} was removed";
        Added { template: String } => "volume claim template {template} was added";
        Smaller { template: String, requested: String, has: String } =>
            "the storage request of volume claim template {template} was lowered from {has} to {requested}";
        Other { template: String } =>
            "fields of volume claim template {template} other than its storage request were changed";
    }

    /// Why an object is not written now.
    pub enum Blocked {
        BeingDeleted { what: String } => CreatingObjects,
            "{what} is being deleted and will be recreated";
        FormerPod { what: String, pod: String } => CreatingObjects,
            "{what} will be created once pod {pod} is gone, which belongs to a deleted StatefulSet of that name";
    }

    /// Steps.
    pub enum Doing {
        Create { what: String } => "create {what}";
        Update { what: String } => "update {what}";
        GrowClaim { claim: String } => "expand PersistentVolumeClaim {claim}";
        ReleasePods { set: String } => "delete StatefulSet {set} without deleting its pods";
    }
}
