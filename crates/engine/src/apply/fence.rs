//! Fences: a write that belongs to a turn first looks, live, whether the turn
//! is still ours. The cache is not asked, because a former leader's cache
//! agrees with a former leader.

use crate::apply::{Applier, StepError};
use crate::leader::evaluate::RENEW_DEADLINE;
use crate::words::NotDone;
use palladion_plan::{Fence, LockFence, Precondition, Proof};
use serde_json::Value;

/// What a step must pass right before its write, beside its precondition.
#[derive(Clone, Copy)]
pub(super) struct Guard<'a> {
    pub fences: &'a [Fence],
    pub proof: Option<&'a Proof>,
}

impl Applier<'_> {
    /// May the step be written now? A thread that hung goes on from where it was:
    /// what was proven before it hung proves nothing any more, although another
    /// thread has renewed the Lease all the while.
    pub(super) async fn pass(&self, guard: Guard<'_>) -> Result<(), StepError> {
        for fence in guard.fences {
            self.fence_stands(fence).await?;
        }
        self.may_write()?;
        if guard.proof.is_some() && self.gathered.elapsed() >= RENEW_DEADLINE {
            return Err(StepError::conflict(NotDone::ProvenTooLongAgo));
        }
        Ok(())
    }

    async fn fence_stands(&self, fence: &Fence) -> Result<(), StepError> {
        let object = self.api.get(&fence.object).await?;
        let Some(object) = object else {
            if fence.pointer.is_empty() && fence.expected.is_null() {
                return Ok(());
            }
            return Err(StepError::gone(&fence.object));
        };
        match stands(&object, &fence.pointer, &fence.expected) {
            true => self.lock_stands(fence.lock.as_ref()).await,
            false => Err(StepError::changed(&fence.object, &fence.pointer)),
        }
    }

    /// Is the region lock still ours, as its store says it now?
    pub(super) async fn lock_stands(&self, fence: Option<&LockFence>) -> Result<(), StepError> {
        let Some(fence) = fence else { return Ok(()) };
        self.locks.check(self.key, fence).await.map_err(StepError::conflict)?;
        self.faults.before_locked_write();
        Ok(())
    }
}

/// Is the value at the pointer the expected one? What is missing is `null`.
pub(crate) fn stands(object: &Value, pointer: &str, expected: &Value) -> bool {
    object.pointer(pointer).unwrap_or(&Value::Null) == expected
}

/// Does an object with this uid and version meet the precondition?
pub(super) fn meets(
    precondition: &Precondition,
    uid: &str,
    version: &str,
) -> Result<(), StepError> {
    let met = match precondition {
        Precondition::Absent => true,
        Precondition::Uid(wanted) => wanted.as_str() == uid,
        Precondition::Version { uid: wanted, resource_version } => {
            wanted.as_str() == uid && resource_version == version
        }
    };
    match met {
        true => Ok(()),
        false => Err(StepError::conflict(NotDone::Changed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_missing_value_is_null_and_nothing_else() {
        let object = json!({"status": {"turn": {"nonce": "a"}}});
        assert!(stands(&object, "/status/turn/nonce", &json!("a")));
        assert!(!stands(&object, "/status/turn/nonce", &json!("b")));
        assert!(stands(&object, "/status/turn/member", &Value::Null));
        assert!(!stands(&object, "/status/turn", &Value::Null));
    }

    #[test]
    fn a_precondition_names_uid_and_version() {
        let version = Precondition::Version { uid: "u".into(), resource_version: "1".to_string() };
        assert!(meets(&version, "u", "1").is_ok());
        assert!(meets(&version, "u", "2").is_err());
        assert!(meets(&Precondition::Uid("u".into()), "u", "2").is_ok());
        assert!(meets(&Precondition::Uid("u".into()), "v", "2").is_err());
    }
}
