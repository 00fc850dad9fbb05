//! Fences of writes that belong to the ring's turn or to its job: they fail once
//! somebody else has it.

use super::Facts;
use palladion_api::cluster::Turn;
use palladion_plan::{Fence, LockFence, ObjectKey};
use serde_json::Value;

/// Where the nonce of the ring's job stands.
pub const JOB_NONCE: &str = "/status/job/nonce";

impl Facts<'_> {
    /// The fence of every write that belongs to the turn; in a ring that regions share, also on
    /// the lock that the turn is held under.
    pub fn fence(&self, turn: &Turn) -> Fence {
        let token = turn.lock_token.clone().filter(|_| self.is_locked());
        Fence { lock: token.map(LockFence::of), ..self.held_as(Some(turn)) }
    }

    /// The fence of a write that belongs to no turn and needs the lock between regions all the
    /// same.
    pub fn fence_under_lock(&self) -> Fence {
        Fence { lock: self.lock_fence(), ..self.fence_as_seen() }
    }

    /// The fence of a write that belongs to no turn, and during which nobody else
    /// may take it: the turn is held as it was seen, or by nobody.
    pub fn fence_as_seen(&self) -> Fence {
        self.held_as(self.turn())
    }

    /// The fence of every write that belongs to the job, or to the end of one: the
    /// job is held as it was seen, or by nobody.
    pub fn job_fence(&self) -> Fence {
        let owner = &self.snapshot.owner.meta;
        let held = self.status.job.as_ref();
        Fence {
            object: ObjectKey::new(crate::resources::CLUSTER, &owner.namespace, &owner.name),
            pointer: JOB_NONCE.to_string(),
            expected: held.map_or(Value::Null, |j| Value::from(j.nonce.as_str())),
            lock: None,
        }
    }

    fn held_as(&self, turn: Option<&Turn>) -> Fence {
        let owner = &self.snapshot.owner.meta;
        Fence {
            object: ObjectKey::new(crate::resources::CLUSTER, &owner.namespace, &owner.name),
            pointer: "/status/turn/nonce".to_string(),
            expected: turn.map_or(Value::Null, |t| Value::from(t.nonce.as_str())),
            lock: None,
        }
    }
}
