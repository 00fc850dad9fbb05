//! Sets that are left over: of older versions (QuarksStatefulSet, "Detects if
//! StatefulSet versions are running"), of zones that are no longer in the spec,
//! of another way to roll.

use super::{Draft, normal};
use crate::facts::{Facts, SetFact};
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use palladion_api::reasons::Reason;
use palladion_plan::{Loss, Propagation};

/// Delete one left-over set that nothing depends on, the oldest first.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let mut left: Vec<&SetFact> =
        facts.sets.values().filter(|s| !draft.wanted.contains(&s.name)).collect();
    left.sort_by_key(|s| (s.version, s.zone_index));
    for set in &left {
        if set.is_terminating() {
            draft.wait(Reason::RollingOut, format!("StatefulSet {} is being deleted", set.name));
            continue;
        }
        match reason_to_go(facts, valid, set, &left, draft) {
            Some(proof) if !draft.is_disruptive() => {
                let event = normal(
                    Reason::Synced,
                    format!(
                        "StatefulSet {} of version {} is deleted: {proof}",
                        set.name, set.version
                    ),
                );
                draft.wait(
                    Reason::RollingOut,
                    format!("StatefulSet {} is deleted: {proof}", set.name),
                );
                draft.delete(
                    STATEFUL_SET,
                    &set.object,
                    Loss::Process { proof },
                    Propagation::Background,
                    event,
                );
            }
            Some(_) => {}
            None => {
                let words = format!(
                    "StatefulSet {} of version {} goes on until a pod of the new version is ready in its zone: {}",
                    set.name,
                    set.version,
                    newest_words(facts, set, draft)
                );
                draft.wait(Reason::VersionNotRunning, words);
            }
        }
    }
}

fn reason_to_go(
    facts: &Facts<'_>,
    valid: &Valid,
    set: &SetFact,
    left: &[&SetFact],
    draft: &Draft,
) -> Option<String> {
    if set.zone_index >= valid.zones.len() {
        return Some(format!("zone {} is no longer wanted", set.zone_index));
    }
    if let Some(pod) = wanted_pods(facts, set, draft).find(|p| p.is_ready()) {
        return Some(format!("pod {} of the newest version is ready", pod.name));
    }
    // Until then one older version stays: the newest that has a ready pod.
    let mut older: Vec<&&SetFact> =
        left.iter().filter(|s| s.zone_index == set.zone_index && !s.is_terminating()).collect();
    older.sort_by_key(|s| (s.ready() > 0, s.version));
    let serving = older.last()?;
    (serving.name != set.name).then(|| match serving.ready() > 0 {
        true => format!("version {} serves and a newer one is on its way", serving.version),
        false => format!("version {} is newer, and neither has a ready pod", serving.version),
    })
}

fn wanted_pods<'a>(
    facts: &'a Facts<'_>,
    set: &'a SetFact,
    draft: &'a Draft,
) -> impl Iterator<Item = &'a palladion_plan::workload::pod::PodFact> {
    facts
        .sets
        .values()
        .filter(move |s| s.zone_index == set.zone_index && draft.wanted.contains(&s.name))
        .flat_map(|s| s.pods.iter())
}

fn newest_words(facts: &Facts<'_>, set: &SetFact, draft: &Draft) -> String {
    wanted_pods(facts, set, draft).next().map_or_else(|| "it has no pod yet".into(), |p| p.words())
}
