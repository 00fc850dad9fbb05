//! Evictions: deletions of pods that every PodDisruptionBudget must allow.

use super::{Refusal, Store};
use crate::kinds::{DISRUPTION_BUDGET, POD, STATEFUL_SET};
use crate::object::ObjectKey;
use crate::plan::{Precondition, Propagation};
use serde_json::Value;
use std::collections::BTreeSet;

impl Store {
    /// Evict a pod.
    ///
    /// # Errors
    /// As of a deletion; [`Refusal::Budget`] = so many pods of a budget are
    /// missing or not ready that this one must stay.
    pub fn evict(&mut self, key: &ObjectKey, precondition: &Precondition) -> Result<u64, Refusal> {
        if self.is_held(key) {
            return Err(Refusal::Budget);
        }
        self.delete(key, precondition, Propagation::Background)
    }

    /// Does a budget keep this pod?
    fn is_held(&self, key: &ObjectKey) -> bool {
        let covers = |budget: &Value| self.get(key).is_some_and(|pod| selects(budget, pod));
        let budgets = self.list(DISRUPTION_BUDGET);
        let mut budgets = budgets.filter(|(budget, _)| budget.namespace == key.namespace);
        budgets.any(|(_, budget)| covers(budget) && !self.allows(&key.namespace, budget))
    }

    /// Are more pods ready than there must be?
    fn allows(&self, namespace: &str, budget: &Value) -> bool {
        let pods = self.list(POD).filter(|(key, _)| key.namespace == namespace);
        let pods: Vec<&Value> =
            pods.map(|(_, pod)| &**pod).filter(|p| selects(budget, p)).collect();
        let owners = pods.iter().map(|pod| &pod["metadata"]["ownerReferences"][0]["name"]);
        let sets: BTreeSet<&str> = owners.filter_map(Value::as_str).collect();
        let wanted = |name: &&str| {
            let set = self.get(&ObjectKey::new(STATEFUL_SET, namespace, name));
            set.and_then(|set| set["spec"]["replicas"].as_i64()).unwrap_or_default()
        };
        let expected: i64 = sets.iter().map(wanted).sum();
        let healthy = pods.iter().filter(|pod| is_healthy(pod)).count();
        let may_be_missing = budget["spec"]["maxUnavailable"].as_i64().unwrap_or_default();
        i64::try_from(healthy).is_ok_and(|healthy| healthy > expected - may_be_missing)
    }
}

fn selects(budget: &Value, pod: &Value) -> bool {
    let labels = budget["spec"]["selector"]["matchLabels"].as_object();
    labels.is_some_and(|all| all.iter().all(|(k, v)| pod["metadata"]["labels"][k] == *v))
}

fn is_healthy(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let mut ready = conditions.filter(|c| c["type"] == "Ready" && c["status"] == "True");
    pod["metadata"]["deletionTimestamp"].is_null() && ready.next().is_some()
}
