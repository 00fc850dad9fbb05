//! The facts for one decision, as this process knows them.

use super::Operator;
use crate::mind::{Keep, Mind};
use crate::object::{Object, Resource};
use crate::sim::cache;
use crate::sim::store::Store;
use crate::snapshot::{Observed, Snapshot};
use palladion_api::ids::Nonce;
use std::collections::BTreeMap;
use std::sync::Arc;

impl<M: Mind + Clone> Operator<M> {
    pub(super) fn gather(&mut self, store: &Store, owner: &Arc<Object>) -> Snapshot {
        self.decisions += 1;
        let as_of = store.now + self.clock;
        let observed = |value| Observed::Known { value, as_of };
        let mut objects: BTreeMap<Resource, Observed<Vec<Arc<Object>>>> = BTreeMap::new();
        for (kind, known) in self.cache.routed(owner) {
            let known = match (objects.remove(&kind), known) {
                // Two watches of one kind make one list, as in the engine.
                (Some(Observed::Known { value, .. }), Ok(more)) => observed(joined(value, more)),
                (Some(Observed::Unknown { why }), _) | (_, Err(why)) => Observed::Unknown { why },
                (None, Ok(value)) => observed(value),
            };
            objects.insert(kind, known);
        }
        let references = self.mind.references(owner).into_iter().map(|key| {
            let value = store.get(&key).map(|o| Arc::new(cache::project(o, Keep::Everything)));
            (key, Observed::Known { value, as_of })
        });
        Snapshot {
            now: store.now + self.clock,
            epoch: self.epoch,
            nonce: Nonce::new(format!("e{}-{:04}", self.epoch, self.decisions)),
            owner: owner.clone(),
            objects,
            references: references.collect(),
            probes: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            lock: self.keeper.fact(as_of),
            failure: self.failure.clone(),
            settings: self.settings.clone(),
        }
    }
}

/// Each object once, as the first of two watches keeps it.
fn joined(mut objects: Vec<Arc<Object>>, more: Vec<Arc<Object>>) -> Vec<Arc<Object>> {
    let known: Vec<_> = objects.iter().map(|o| o.meta.uid.clone()).collect();
    objects.extend(more.into_iter().filter(|o| !known.contains(&o.meta.uid)));
    objects
}
