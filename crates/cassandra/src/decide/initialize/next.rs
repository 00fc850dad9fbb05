//! The founding of a new ring: given once, to one volume, and only if nothing
//! that exists could be an older ring (safety rule 2.4).

use super::survey::{Survey, survey};
use crate::decide::draft::{Draft, synced};
use crate::decide::objects::replicas;
use crate::decide::turn::{failed_start, lock};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use palladion_api::cluster::TurnStep;
use palladion_api::labels;
use palladion_api::member::VolumeState;
use palladion_api::reasons::Reason;
use palladion_plan::hash;
use serde_json::json;

/// Found the ring, or say why not yet. False = there is a ring already.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    if facts.ring_exists() {
        return false;
    }
    match survey(facts, valid) {
        Survey::Waiting(reason, message) => draft.wait(reason, message),
        Survey::Doubt(why) => match allowed(facts, &why) {
            Ok(()) => match empty_candidate(facts, valid) {
                Some(founder) => found(facts, valid, founder, 1, draft),
                None => draft.wait(Reason::InitializationRefused, "founding is allowed, and no member has an empty volume"),
            },
            Err(nonce) => draft.trouble(
                Reason::InitializationRefused,
                format!("no new ring is founded: {why}; if that data may be given up: kubectl annotate cassandracluster {} {}={nonce}", valid.name, labels::ALLOW_INITIALIZATION),
            ),
        },
        Survey::Resume(founder) => found(facts, valid, founder, 2, draft),
        Survey::Clear(founder) => found(facts, valid, founder, 1, draft),
    }
    true
}

/// Has a person allowed the founding with the nonce that is shown? The nonce
/// stands for what was found, so that an old permission fits nothing else.
fn allowed(facts: &Facts<'_>, why: &str) -> Result<(), String> {
    let owner = &facts.snapshot.owner.meta;
    let nonce = hash::of(&json!([owner.uid, why]));
    match owner.annotations.get(labels::ALLOW_INITIALIZATION) {
        Some(given) if *given == nonce => Ok(()),
        _ => Err(nonce),
    }
}

fn empty_candidate<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Option<&'a MemberFact> {
    replicas::in_order(facts, valid)
        .into_iter()
        .filter_map(|(_, name)| facts.members.get(&name))
        .find(|m| m.volume().is_some_and(|v| v.state == VolumeState::Empty))
}

fn found(facts: &Facts<'_>, valid: &Valid, founder: &MemberFact, attempt: u32, draft: &mut Draft) {
    let Some(volume) = founder.volume() else {
        return;
    };
    if failed_start::has_failed_for_good(founder) {
        draft.trouble(Reason::JoinFailed, failed_start::failure_words(founder));
        return;
    }
    let turn = lock::new(facts, &founder.name, &volume.volume_id, TurnStep::Initialize, attempt);
    draft.steps.push(lock::take(
        facts,
        &turn,
        format!("let member {} found ring {}", founder.name, valid.ring),
        synced(format!("Member {} founds ring {}", founder.name, valid.ring)),
    ));
}
