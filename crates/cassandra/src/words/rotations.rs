//! Rotations of an authority: how they go, and how they end.

use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_plan::Reason;
use palladion_plan::words::{Count, Names};

palladion_plan::sentences! {
    /// Whose certificates an authority signs.
    pub enum Of {
        Client => "clients";
        Internode => "traffic between members";
    }

    /// Why a rotation has not begun.
    pub enum Waiting {
        NoAuthority { of: Of } => TaskWaiting,
            "waiting for the first certificate authority for {of}: the ring has none yet";
        Uncertified { of: Of, members: Names } => WaitingForCertificate,
            "waiting for {members} to have a certificate for {of}";
        SigningOff => SigningOff,
            "the operator signs no certificates, because the admission policies that protect the requests of members are switched off: set the chart values `policies.status` and `policies.members` to true";
        Former { of: Of } => CertificatesBehind,
            "waiting for members to drop a certificate authority for {of} that was lost: only one is replaced at a time";
        Ending { authority: String } => TaskWaiting,
            "waiting for the rotation to {authority}, whose task is gone, to end";
    }

    /// How a rotation goes.
    pub enum Running {
        Made { of: Of } => TaskRunning, "step 1 of 3: a new certificate authority for {of} is being created";
        Trust { authority: String, done: usize, members: Count, behind: Names } => CertificatesBehind,
            "step 1 of 3: {done} of {members} trust {authority}; servers read what changed within 11 minutes. Waiting for {behind}";
        Overlap { authority: String, until: Timestamp } => TaskRunning,
            "step 1 of 3: every member trusts {authority}; clients have until {until} to read it from the ConfigMap. To go on earlier, lower `spec.rotateAuthority.overlapSeconds`";
        Unpublished { authority: String } => TaskRunning,
            "step 1 of 3: every member trusts {authority}; waiting for the ConfigMap for clients to have it";
        Elsewhere { authority: String, fingerprint: String } => TaskRunning,
            "step 1 of 3: every member of this cluster trusts {authority}. Add its certificate to `tls.internode.additionalTrust` of the clusters of the other datacenters, wait until their members trust it, then set `spec.rotateAuthority.trustedElsewhere` of this task to {fingerprint}";
        Trusted { authority: String } => TaskRunning,
            "step 1 of 3: every member trusts {authority}, which signs next";
        Certificates { authority: String, done: usize, members: Count, behind: Names } => CertificatesBehind,
            "step 2 of 3: {done} of {members} present a certificate of {authority}; servers read what changed within 11 minutes. Waiting for {behind}";
        Certified { authority: String } => TaskRunning,
            "step 2 of 3: every member presents a certificate of {authority}; the former authority is removed next";
        Removal { authority: String, done: usize, members: Count, behind: Names } => CertificatesBehind,
            "step 3 of 3: {done} of {members} trust {authority} alone; servers read what changed within 11 minutes. Waiting for {behind}";
        Silent { progress: String, silent: Names } => CertificatesBehind,
            "{progress}. The agent does not report for {silent}: bring the member back, or replace it";
        OldAgent { progress: String, member: MemberName, agent: String } => AgentTooOld,
            "{progress}. The agent of member {member} (version {agent}) does not report which certificates the server uses; it is replaced when the member restarts";
        TakingBack { authority: String } => TaskRunning,
            "the task is being aborted: {authority} is removed again";
        TooLate { progress: String } => TaskRunning,
            "too late to abort: the new authority signs already, so the rotation goes on. {progress}";
    }

    /// It reached its end.
    pub enum Done {
        Rotated { authority: String, of: Of } => TaskDone,
            "{authority} signs the certificates for {of}; the keys of all former authorities were removed, and no member trusts them any more";
    }

    /// It was aborted in time.
    pub enum Aborted {
        InTime { of: Of } => TaskAborted,
            "the rotation was aborted in time: the authority for {of} signs as before";
    }

    /// It lost its purpose.
    pub enum Failed {
        NotSigned { of: Of } => TaskFailed,
            "the operator signs no certificates for {of} any more: `spec.tls` of the cluster was changed";
        Gone { authority: String } => TaskFailed,
            "{authority} is not in `status.authorities` of the cluster any more: somebody has removed it";
    }

    /// It cannot be done as it stands, and nothing was changed.
    pub enum Refused {
        NoAuthority { reason: Reason, of: Of } => TaskRefused,
            "{reason}: the operator does not sign the certificates for {of} of this ring";
        Changing { reason: Reason } => TaskRefused,
            "{reason}: TLS between members is being turned on or off; create the task again when `status.internodeTls` of the cluster is what the spec says";
        Already { reason: Reason, task: String, of: Of } => TaskRefused,
            "{reason}: CassandraTask {task} is rotating the authority for {of} already";
    }

    /// Steps.
    pub enum Doing {
        Make { authority: String } => "create certificate authority {authority} for a rotation";
        Publish { authority: String } => "record that clients can read certificate authority {authority}";
        Sign { authority: String } => "let certificate authority {authority} sign in place of the former one";
        Forget { authority: String } => "remove certificate authority {authority} and its key";
        End { authority: String } => "record that the rotation to {authority} is over";
    }

    /// Events.
    pub enum Happened {
        Made { authority: String, task: String } => TaskRunning,
            "Certificate authority {authority} of this ring was created for CassandraTask {task}";
        Signs { authority: String } => TaskRunning,
            "Certificate authority {authority} signs from now on, in place of the former one";
        Forgotten { authority: String } => TaskRunning,
            "Certificate authority {authority} and its key were removed by a rotation";
    }
}
