//! A set that is left over does no work that anybody needs: its zone is no
//! longer in the spec, or other sets of its zone serve instead.

use super::proof::seen;
use crate::facts::{Facts, SetFact};
use crate::validate::Valid;
use crate::words::objects::Superseded;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Proof, ProofKind};
use std::collections::BTreeSet;

/// Why the set is no longer needed, if so. `wanted` names the sets that are.
pub fn superseded(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    wanted: &BTreeSet<String>,
) -> Option<(Superseded, Proof)> {
    let cause = cause(facts, valid, set, wanted).filter(|_| !wanted.contains(&set.name))?;
    let proof = seen(facts, ProofKind::Superseded, &set.name, &cause);
    Some((cause, proof))
}

fn cause(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    wanted: &BTreeSet<String>,
) -> Option<Superseded> {
    if set.zone_index >= valid.zones.len() {
        return Some(Superseded::ZoneRemoved { zone_index: set.zone_index });
    }
    if let Some(pod) = wanted_pods(facts, set, wanted).find(|p| p.is_ready()) {
        return Some(Superseded::NewestReady { pod: pod.name.clone() });
    }
    // Until then one older version stays: the newest that has a ready pod.
    let is_left = |s: &&SetFact| !wanted.contains(&s.name) && !s.is_terminating();
    let of_zone = facts.sets.values().filter(|s| s.zone_index == set.zone_index);
    let serving = of_zone.filter(is_left).max_by_key(|s| (s.ready() > 0, s.version))?;
    let version = serving.version;
    (serving.name != set.name).then(|| match serving.ready() > 0 {
        true => Superseded::OtherServes { version },
        false => Superseded::NoneServes { version },
    })
}

/// The pods of the sets that are wanted in the zone of this one.
pub fn wanted_pods<'a>(
    facts: &'a Facts<'_>,
    set: &'a SetFact,
    wanted: &'a BTreeSet<String>,
) -> impl Iterator<Item = &'a PodFact> {
    let of_zone = facts.sets.values().filter(|s| s.zone_index == set.zone_index);
    of_zone.filter(|s| wanted.contains(&s.name)).flat_map(|s| s.pods.iter())
}
