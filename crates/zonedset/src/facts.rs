//! From objects to facts: one typed picture of an owner, its sets and its pods.
//! Nothing is decided here.

use crate::resources as kinds;
use crate::words::refusal::Unknown;
use jiff::Timestamp;
use palladion_api::labels::SPEC_HASH;
use palladion_api::zoned_stateful_set::{RolloutState, names};
use palladion_api::{OperatorConfigSpec, ZonedStatefulSetSpec, ZonedStatefulSetStatus};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Object, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything known about one owner at one moment.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The raw snapshot: time, references, probes, last failure.
    pub snapshot: &'a Snapshot,
    /// The spec; `Err` says why it cannot be read.
    pub spec: Result<ZonedStatefulSetSpec, String>,
    /// The status as stored.
    pub status: ZonedStatefulSetStatus,
    /// Settings of the operator.
    pub operator_config: Option<OperatorConfigSpec>,
    /// Sets by name.
    pub sets: BTreeMap<String, SetFact>,
}

/// A StatefulSet of the owner, with its pods.
#[derive(Debug, Clone)]
pub struct SetFact {
    /// The stored object.
    pub object: Arc<Object>,
    /// Its name.
    pub name: String,
    /// Index of its zone.
    pub zone_index: usize,
    /// Name of its zone, empty without zones.
    pub zone: String,
    /// Version of its template.
    pub version: i64,
    /// Hash of what its template was made from.
    pub hash: String,
    /// Hash of its template as it was written.
    pub template: String,
    /// Hash of the configuration that its template refers to.
    pub config: Option<String>,
    /// Where its rollout is.
    pub state: RolloutState,
    /// Since when the rollout runs.
    pub started: Option<Timestamp>,
    /// Wanted pods.
    pub replicas: i32,
    /// Pods from this ordinal on get the newest template.
    pub partition: i32,
    /// Has the StatefulSet controller seen the newest spec?
    pub seen: bool,
    /// The revision that pods below the partition are made from.
    pub current_revision: String,
    /// Its pods, lowest ordinal first.
    pub pods: Vec<PodFact>,
}

impl SetFact {
    fn read(object: &Arc<Object>, pods: Vec<PodFact>) -> Self {
        let annotation = |key: &str| object.meta.annotations.get(key).cloned();
        let label = |key: &str| object.meta.labels.get(key).cloned().unwrap_or_default();
        let number = |pointer: &str| to_i32(object.int_at(pointer));
        let state = annotation(names::STATE)
            .and_then(|text| RolloutState::ALL.into_iter().find(|s| s.as_str() == text));
        Self {
            name: object.meta.name.clone(),
            zone_index: label(names::AZ_INDEX).parse().unwrap_or_default(),
            zone: label(names::AZ_NAME),
            version: annotation(names::VERSION).and_then(|v| v.parse().ok()).unwrap_or(1),
            hash: annotation(SPEC_HASH).unwrap_or_default(),
            template: annotation(names::TEMPLATE).unwrap_or_default(),
            config: annotation(names::CONFIG_HASH),
            state: state.unwrap_or(RolloutState::Pending),
            started: annotation(names::STARTED).and_then(|t| t.parse().ok()),
            replicas: number("/spec/replicas"),
            partition: number("/spec/updateStrategy/rollingUpdate/partition"),
            seen: object.int_at("/status/observedGeneration") == Some(object.meta.generation),
            current_revision: object
                .str_at("/status/currentRevision")
                .unwrap_or_default()
                .to_string(),
            pods,
            object: object.clone(),
        }
    }

    /// Ready pods.
    pub fn ready(&self) -> usize {
        self.pods.iter().filter(|p| p.is_ready()).count()
    }

    /// Was the pod made from what the set's newest template was made from?
    pub fn is_updated(&self, pod: &PodFact) -> bool {
        pod.spec_hash() == Some(&self.hash)
    }

    /// The pod of an ordinal.
    pub fn pod(&self, ordinal: i32) -> Option<&PodFact> {
        self.pods.iter().find(|p| p.ordinal == ordinal)
    }

    /// Is the set being deleted?
    pub fn is_terminating(&self) -> bool {
        self.object.meta.is_terminating()
    }
}

impl<'a> Facts<'a> {
    /// Read a snapshot. An error says what could not be read or understood:
    /// then nothing is decided.
    pub fn read(snapshot: &'a Snapshot) -> Result<Self, String> {
        for watch in kinds::watches() {
            snapshot.all(watch.resource)?;
        }
        let owner = &snapshot.owner;
        let spec = owner.part("spec").and_then(|s| s.ok_or_else(|| Unknown::NoSpec.to_string()));
        let status = owner.part("status")?.unwrap_or_default();
        let operator_config = snapshot.spec_of(kinds::OPERATOR_CONFIG, "default")?;
        Ok(Self { snapshot, spec, status, operator_config, sets: read_sets(snapshot)? })
    }

    /// The time of the snapshot.
    pub fn now(&self) -> Timestamp {
        self.snapshot.now
    }

    /// The time in whole seconds, for what people read.
    pub fn seconds(&self) -> Timestamp {
        Timestamp::from_second(self.now().as_second()).unwrap_or(self.now())
    }

    /// All pods of all sets, zone by zone, lowest ordinal first.
    pub fn pods(&self) -> impl Iterator<Item = &PodFact> {
        let mut sets: Vec<&SetFact> = self.sets.values().collect();
        sets.sort_by_key(|s| (s.zone_index, s.version));
        sets.into_iter().flat_map(|s| s.pods.iter())
    }

    /// Pods that carry the name of a set which does not exist.
    pub fn orphans(&self, set: &str) -> Vec<PodFact> {
        let pods = self.objects(kinds::POD).iter();
        pods.filter(|o| palladion_api::names::ordinal(set, &o.meta.name).is_some())
            .map(|o| PodFact::read(o))
            .collect()
    }

    /// Objects of a kind; `read` has made sure that they are known.
    pub fn objects(&self, resource: palladion_plan::Resource) -> &[Arc<Object>] {
        self.snapshot.all(resource).unwrap_or_default()
    }
}

fn read_sets(snapshot: &Snapshot) -> Result<BTreeMap<String, SetFact>, String> {
    let pods: Vec<PodFact> = snapshot.all(kinds::POD)?.iter().map(|o| PodFact::read(o)).collect();
    let mut sets = BTreeMap::new();
    for object in snapshot.all(kinds::STATEFUL_SET)? {
        let name = &object.meta.name;
        let mut own: Vec<PodFact> = pods
            .iter()
            .filter(|p| palladion_api::names::ordinal(name, &p.name).is_some())
            .cloned()
            .collect();
        own.sort_by_key(|p| p.ordinal);
        sets.insert(name.clone(), SetFact::read(object, own));
    }
    Ok(sets)
}

fn to_i32(value: Option<i64>) -> i32 {
    value.and_then(|v| i32::try_from(v).ok()).unwrap_or_default()
}
