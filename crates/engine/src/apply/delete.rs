//! Deletions and evictions. Each names the uid of what goes, and the server compares.

use crate::apply::fence::Guard;
use crate::apply::{Applier, Effect, StepError};
use crate::memory::Memory;
use crate::words::NotDone;
use palladion_api::ids::Uid;
use palladion_plan::{FailureClass, Loss, ObjectKey, Precondition, Propagation};
use serde_json::{Value, json};

impl Applier<'_> {
    pub(super) async fn delete(
        &self,
        key: &ObjectKey,
        precondition: &Precondition,
        (loss, propagation): (&Loss, Propagation),
        guard: Guard<'_>,
        memory: &mut Memory,
    ) -> Result<Effect, StepError> {
        let (uid, preconditions) = named(precondition)?;
        let stored = self.watches.world().stored(key);
        if let Some((record, _)) = &stored
            && *record.uid == *uid.as_str()
            && record.object().meta.is_terminating()
            && !matches!(loss, Loss::Remains)
        {
            return Ok(Effect::Nothing);
        }
        self.pass(guard).await?;
        let mut options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": preconditions,
            "propagationPolicy": match propagation {
                Propagation::Background => "Background",
                Propagation::Orphan => "Orphan",
            },
        });
        if matches!(loss, Loss::Remains) {
            options["gracePeriodSeconds"] = json!(0);
        }
        let answer = match loss {
            Loss::Serving => self.api.evict(key, &options).await,
            Loss::Nothing | Loss::Process | Loss::Remains | Loss::Data => {
                self.api.delete(key, &options).await
            }
        };
        self.faults.after_write();
        match answer {
            Ok(_) => {}
            // Gone already: that is what was wanted.
            Err(error) if error.is_not_found() => {}
            Err(error) if matches!(loss, Loss::Serving) && error.code == Some(429) => {
                return Err(StepError { class: FailureClass::Held, ..error.into() });
            }
            Err(error) => return Err(error.into()),
        }
        memory.applied.remove(key);
        memory.insisted.remove(key);
        let expectations = self.watches.world().expect_gone(key, uid.as_str());
        Ok(Effect::Changed { expectations, version: None })
    }
}

fn named(precondition: &Precondition) -> Result<(&Uid, Value), StepError> {
    match precondition {
        Precondition::Uid(uid) => Ok((uid, json!({"uid": uid}))),
        Precondition::Version { uid, resource_version } => {
            Ok((uid, json!({"uid": uid, "resourceVersion": resource_version})))
        }
        // The plan linter refuses such a plan; this is the second lock.
        Precondition::Absent => {
            Err(StepError::new(FailureClass::Refused, NotDone::DeletionWithoutUid))
        }
    }
}
