//! Fences of writes that belong to the ring's turn: they fail once somebody
//! else has it.

use super::Facts;
use palladion_api::cluster::Turn;
use palladion_plan::{Fence, ObjectKey};
use serde_json::Value;

impl Facts<'_> {
    /// The fence of every write that belongs to the turn.
    pub fn fence(&self, turn: &Turn) -> Fence {
        self.held_as(Some(turn))
    }

    /// The fence of a write that belongs to no turn, and during which nobody else
    /// may take it: the turn is held as it was seen, or by nobody.
    pub fn fence_as_seen(&self) -> Fence {
        self.held_as(self.turn())
    }

    fn held_as(&self, turn: Option<&Turn>) -> Fence {
        let owner = &self.snapshot.owner.meta;
        Fence {
            object: ObjectKey::new(crate::resources::CLUSTER, &owner.namespace, &owner.name),
            pointer: "/status/turn/nonce".to_string(),
            expected: turn.map_or(Value::Null, |t| Value::from(t.nonce.as_str())),
        }
    }
}
