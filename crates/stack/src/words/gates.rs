//! The gates of pods.

use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// Why gates are closed, besides dependencies.
    pub enum Closed {
        Pods { there: usize, wanted: i32, set: String } => WaitingForPods,
            "waiting for the pods: {there} of {wanted} exist; if this lasts, `kubectl describe statefulset {set}` shows why Kubernetes does not create them";
        Ending { there: usize, wanted: i32, pod: String, node: String } => WaitingForPods,
            "waiting for the pods: {there} of {wanted} exist; {pod} on node {node} is being deleted and will be recreated once it has stopped; if that node is gone for good, release the pod: `kubectl delete pod {pod} --force`";
        Address { pod: String } => WaitingForAddresses, "waiting for the address of {pod}";
        Texts => WaitingForPods, "waiting for the configuration of all pods to be written";
        Stopping { left: usize, pod: Where } => RollingOut,
            "all pods are being recreated: waiting for {left} to stop, {pod} among them; if the node of one is gone for good, release the pod with `kubectl delete pod --force`";
        Recreated => RollingOut, "all pods are being recreated";
    }

    /// A pod, and where it is.
    pub enum Where {
        OnNode { pod: String, node: String } => "{pod} on node {node}";
        Nowhere { pod: String } => "{pod}";
    }

    /// Why one pod has not passed its gate.
    pub enum OfPod {
        NotStarted { pod: String } => WaitingForPods,
            "waiting for the init container of pod {pod} to start";
        LeftOver { pod: String } => WaitingForPods,
            "the ticket of an earlier start is being removed from pod {pod}";
        Kept { pod: String } => WaitingForPods,
            "pod {pod} waits for its configuration, or to be restarted with the newest template";
        Volumes { pod: String, secrets: Names } => WaitingForVolumes,
            "waiting for the volumes of {pod}, which needs the Secrets {secrets}; the operator reads no Secrets: if this lasts, create the one that `kubectl describe pod {pod}` names, or correct `template`";
        Unused { pod: String } => WaitingForPods,
            "waiting for pod {pod} to see its ticket and its configuration";
    }

    /// A gate that may be passed by.
    pub enum Misplaced {
        Behind { pod: String, first: String } => GateNotFirst,
            "in pod {pod} the init container {first} comes before the gate, so that Kubernetes may skip the gate when the pod's sandbox is recreated; exempt the pods of this Component from whatever adds {first}";
    }

    /// All gates.
    pub enum Passed {
        All => UpToDate, "all pods have passed their gates";
        NoPods => UpToDate, "no pods are wanted";
        Waiting { passed: usize, wanted: i32 } => WaitingForPods,
            "{passed} of {wanted} pods have passed their gates";
    }

    /// Steps.
    pub enum Doing {
        Open { pod: String } => "open the gate of pod {pod}";
        Withdraw { pod: String } => "take back the ticket of pod {pod}, which has not started yet";
        Close { pod: String } => "close the gate of pod {pod}, which starts again";
    }
}
