//! Changes on their way to running pods.

use super::gates::Where;
use palladion_plan::workload::words::PodState;

palladion_plan::sentences! {
    /// What a change waits for.
    pub enum Waiting {
        Pod { pod: PodState } => RollingOut, "the next pod is restarted once this one is available: {pod}";
        Settling { pod: String } => RollingOut,
            "the next pod is restarted once pod {pod} has been ready for `minReadySeconds`";
        Ground => RollingOut,
            "pods with an older template or configuration keep running until all dependencies are ready";
        Restarting { pod: String } => RollingOut, "pod {pod} is being restarted";
        Signalled { pods: usize } => RollingOut,
            "{pods} more pods will be signalled to reload their configuration";
        Stays { pod: Where } => RollingOut,
            "all pods are recreated once {pod} has stopped, or runs on a node that is ready; if that node is gone for good, release the pod with `kubectl delete pod --force`";
        Stopping { left: usize, pod: Where } => RollingOut,
            "all pods are being recreated: {left} are still stopping, {pod} among them; if the node of one is gone for good, release the pod with `kubectl delete pod --force`";
        Starting => RollingOut, "all pods are being recreated";
        Claim { pod: String, claim: String } => ClaimTerminating,
            "pod {pod} keeps running as it is: its claim {claim} is being deleted, and Kubernetes deletes the data as soon as the pod ends";
        ClaimUnread { pod: String, claim: String, why: String } => FactUnknown,
            "pod {pod} keeps running as it is: cannot read its claim {claim}: {why}";
    }

    /// Events.
    pub enum Happened {
        Restarted { pod: String } => Synced,
            "pod {pod} restarted: its template or configuration has changed";
        Signalled { pod: String } => Synced, "pod {pod} signalled to reload its configuration";
        Recreated => Synced, "all pods are being recreated: their template or configuration has changed";
    }

    /// What needs a person.
    pub enum Problem {
        ClaimTerminating { pod: String, claim: String } => ClaimTerminating,
            "claim {claim} of pod {pod} is being deleted; Kubernetes deletes the data as soon as the pod ends, which the operator does not cause; copy the data, then delete the pod: `kubectl delete pod {pod}`";
        NoProcess { pod: String, container: String } => ReloadUnconfirmed,
            "container {container} of pod {pod} does not find the process that it is to signal; correct `reload.process`: `kubectl logs {pod} -c {container}` shows what it looks for";
        Unconfirmed { pod: String, container: String } => ReloadUnconfirmed,
            "pod {pod} has not reloaded its configuration within 180 s; look at its container {container}: `kubectl logs {pod} -c {container}`";
    }

    /// Steps.
    pub enum Doing {
        Restart { pod: String } => "restart pod {pod}";
        Signal { pod: String } => "signal pod {pod} to reload its configuration";
        Note { pod: String } => "record on pod {pod} that its configuration is current";
    }
}
