//! The mind, with probes answered by the test.

use palladion_api::rights::Right;
use palladion_plan::{
    Hazard, Mind, Object, ObjectKey, Observed, Plan, ProbeKey, ProbeRequest, ProbeResult, Resource,
    Snapshot, Verdict, Watch,
};
use palladion_zonedset::ZonedSetMind;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Answers to probes, by pod name.
pub type Answers = Arc<Mutex<BTreeMap<String, Option<Verdict>>>>;

/// The mind, with probes answered by the test.
#[derive(Clone, Default)]
pub struct Probed {
    pub answers: Answers,
}

impl Mind for Probed {
    fn name(&self) -> &'static str {
        ZonedSetMind.name()
    }
    fn owner(&self) -> Resource {
        ZonedSetMind.owner()
    }
    fn watches(&self) -> Vec<Watch> {
        ZonedSetMind.watches()
    }
    fn rights(&self) -> &'static [Right] {
        ZonedSetMind.rights()
    }
    fn references(&self, owner: &Object) -> Vec<ObjectKey> {
        ZonedSetMind.references(owner)
    }
    fn hazards(&self) -> &'static [Hazard] {
        ZonedSetMind.hazards()
    }
    fn decide(&self, snapshot: &Snapshot) -> Plan {
        let mut snapshot = snapshot.clone();
        let answers = self.answers.lock().unwrap();
        snapshot.probes = ZonedSetMind
            .probes(&snapshot)
            .iter()
            .filter_map(|r| answer(&answers, &snapshot, r))
            .collect();
        ZonedSetMind.decide(&snapshot)
    }
}

fn answer(
    answers: &BTreeMap<String, Option<Verdict>>,
    snapshot: &Snapshot,
    request: &ProbeRequest,
) -> Option<(ProbeKey, Observed<ProbeResult>)> {
    let Some(verdict) = *answers.get(&request.pod.name)? else {
        let why = "no right to ask".to_string();
        return Some((request.key.clone(), Observed::Unknown { why }));
    };
    let value = ProbeResult { verdict, since: snapshot.now, message: "as the test says".into() };
    Some((request.key.clone(), Observed::Known { value, as_of: snapshot.now }))
}
