//! Timed probes: questions that the engine asks of pods again and again, for
//! minds that decide from the answers. The engine knows what to ask and how
//! often; what an answer means is the mind's.

use crate::object::ObjectKey;
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::PodUid;

/// Which question: the same pod may be asked several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProbeKey {
    /// Uid of the pod, so that an answer is never taken for that of a namesake.
    pub pod_uid: PodUid,
    /// Name of the question.
    pub name: String,
}

/// A question to be asked for as long as the mind requests it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeRequest {
    /// Which question.
    pub key: ProbeKey,
    /// The pod.
    pub pod: ObjectKey,
    /// What to ask.
    pub action: ProbeAction,
    /// Time between two questions.
    pub period: SignedDuration,
    /// An answer that takes longer is a failure.
    pub timeout: SignedDuration,
    /// Failures in a row that turn passing into failing.
    pub failure_threshold: u32,
    /// Passes in a row that turn failing into passing.
    pub success_threshold: u32,
}

/// What to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeAction {
    /// Run a command in a container; exit code 0 passes.
    Exec {
        /// The container.
        container: String,
        /// The command, without a shell.
        command: Vec<String>,
    },
    /// HTTP GET; a status from 200 to 399 passes.
    Http {
        /// Address of the pod.
        address: String,
        /// Port.
        port: u16,
        /// Path with query.
        path: String,
        /// Headers.
        headers: Vec<(String, String)>,
    },
    /// A TCP connection that opens passes.
    Tcp {
        /// Address of the pod.
        address: String,
        /// Port.
        port: u16,
    },
    /// The gRPC health protocol; SERVING passes.
    Grpc {
        /// Address of the pod.
        address: String,
        /// Port.
        port: u16,
        /// The service asked about; empty for the whole server.
        service: String,
    },
}

/// What the answers amount to, by the thresholds of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// Passing or failing.
    pub verdict: Verdict,
    /// Since when.
    pub since: Timestamp,
    /// The last answer that counts for the verdict, for people.
    pub message: String,
}

/// Passing or failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The last answers were good.
    Passing,
    /// The last answers were bad, or none came.
    Failing,
}

/// Counts answers against the thresholds. The first answer of all decides at
/// once when it is good; a bad one needs the threshold, so that a pod that was
/// active before the process started keeps its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    verdict: Option<Verdict>,
    passes: u32,
    failures: u32,
}

impl Tally {
    /// Count one answer; says the verdict, once there is one.
    pub fn count(&mut self, answer: Verdict, request: &ProbeRequest) -> Option<Verdict> {
        match answer {
            Verdict::Passing => (self.passes, self.failures) = (self.passes + 1, 0),
            Verdict::Failing => (self.passes, self.failures) = (0, self.failures + 1),
        }
        if self.failures >= request.failure_threshold.max(1) {
            self.verdict = Some(Verdict::Failing);
        } else if self.passes >= request.success_threshold.max(1) {
            self.verdict = Some(Verdict::Passing);
        }
        self.verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Resource;

    #[test]
    fn thresholds_turn_the_verdict_and_nothing_else_does() {
        let request = ProbeRequest {
            key: ProbeKey { pod_uid: "u".into(), name: "p".into() },
            pod: ObjectKey::new(Resource::namespaced("", "v1", "Pod", "pods"), "n", "p"),
            action: ProbeAction::Tcp { address: "10.0.0.1".into(), port: 1 },
            period: SignedDuration::from_secs(1),
            timeout: SignedDuration::from_secs(1),
            failure_threshold: 2,
            success_threshold: 2,
        };
        let mut tally = Tally::default();
        let (good, bad) = (Verdict::Passing, Verdict::Failing);
        let seen: Vec<_> = [good, good, bad, good, bad, bad, good, good]
            .map(|a| tally.count(a, &request))
            .to_vec();
        let (p, f) = (Some(good), Some(bad));
        assert_eq!(seen, [None, p, p, p, p, f, f, p]);
    }
}
