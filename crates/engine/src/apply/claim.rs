//! Claims: how a turn is taken, changed and ended. The owner is read live, the
//! values that were decided from are compared, and the write holds only for
//! the version that was read. Of two leaders at most one gets through.

use crate::apply::fence::stands;
use crate::apply::{Applier, Effect, StepError};
use crate::words::NotDone;
use palladion_plan::{LockFence, Subresource};
use serde_json::{Value, json};

impl Applier<'_> {
    pub(super) async fn claim(
        &self,
        status: &Value,
        seen: &[(String, Value)],
        lock: Option<&LockFence>,
    ) -> Result<Effect, StepError> {
        let key = self.owner_key;
        let Some(live) = self.api.get(key).await? else {
            return Err(StepError::gone(key));
        };
        if live["metadata"]["uid"] != json!(self.owner.meta.uid) {
            let object = key.to_string();
            return Err(StepError::conflict(NotDone::Recreated { object }));
        }
        if let Some((pointer, _)) =
            seen.iter().find(|(pointer, value)| !stands(&live, pointer, value))
        {
            return Err(StepError::changed(key, pointer));
        }
        let version = live["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        let patch = json!({
            "metadata": {"uid": self.owner.meta.uid, "resourceVersion": version},
            "status": status,
        });
        self.lock_stands(lock).await?;
        self.may_write()?;
        let answer = self.api.merge(key, Subresource::Status, &patch).await;
        self.written(key, Some(version), answer)
    }
}
