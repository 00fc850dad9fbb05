//! Answers of the API server that the operator and the agents read alike.

use kube_core::response::Status;

/// Kubernetes' word for a resourceVersion that is not reached yet.
const TOO_LARGE: &str = "ResourceVersionTooLarge";

/// Has the server not reached the resourceVersion yet that was asked for? It lags behind another
/// one, or its store was restored from a backup.
pub fn is_of_the_future(status: &Status) -> bool {
    let causes = status.details.as_ref().map(|details| details.causes.as_slice());
    causes.unwrap_or_default().iter().any(|cause| cause.reason == TOO_LARGE)
        || status.reason == TOO_LARGE
        || status.message.contains("Too large resource version")
}
