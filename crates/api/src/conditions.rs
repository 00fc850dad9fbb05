//! Condition types, and how a condition changes without losing its time.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// The spec was understood; False = refused, with the reason.
pub const ACCEPTED: &str = "Accepted";
/// Enough members serve (a quorum of the wanted members is ready).
pub const AVAILABLE: &str = "Available";
/// Something is being changed; False with reason `AsWanted` when all is as the spec says.
pub const PROGRESSING: &str = "Progressing";
/// Something needs a person or is not as it should be.
pub const DEGRADED: &str = "Degraded";
/// Nothing but status is written.
pub const PAUSED: &str = "Paused";

/// Of a task: it was done; False says what is under way, or why it ended.
pub const COMPLETE: &str = "Complete";

/// Put `new` among `conditions`, keeping the transition time where the status did not change.
pub fn set(conditions: &mut Vec<Condition>, mut new: Condition) {
    match conditions.iter_mut().find(|c| c.type_ == new.type_) {
        Some(old) => {
            if old.status == new.status {
                new.last_transition_time = old.last_transition_time.clone();
            }
            *old = new;
        }
        None => conditions.push(new),
    }
}

/// A condition as of `now`.
pub fn condition(
    type_: &str,
    status: bool,
    reason: &str,
    message: &str,
    generation: Option<i64>,
    now: jiff::Timestamp,
) -> Condition {
    Condition {
        type_: type_.to_string(),
        status: if status { "True" } else { "False" }.to_string(),
        reason: reason.to_string(),
        message: message.to_string(),
        observed_generation: generation,
        last_transition_time: Time(now),
    }
}
