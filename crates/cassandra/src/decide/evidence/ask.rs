//! A question to witnesses, put with a nonce, and how long its answers count.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::evidence::{Doing, Objection};
use palladion_api::cluster::Turn;
use palladion_api::ids::Nonce;
use palladion_plan::proof::FRESH;
use palladion_plan::{Fence, Step};
use serde_json::json;

/// Ask the witnesses that were not asked yet.
pub fn ask(
    facts: &Facts<'_>,
    witnesses: &[&MemberFact],
    nonce: &Nonce,
    fence: &Fence,
    draft: &mut Draft,
) {
    for witness in witnesses {
        let asked = witness.spec.as_ref().and_then(|s| s.evidence.as_ref());
        if asked.is_some_and(|e| e.nonce == *nonce) {
            continue;
        }
        let Some(object) = &witness.object else {
            continue;
        };
        // Who has not answered the last question either has been silent since then.
        let since = witness.asked_since().unwrap_or(facts.now());
        draft.steps.push(
            Step::patch_seen(
                kinds::MEMBER,
                &object.meta,
                json!({ "spec": { "evidence": { "nonce": nonce }, "askedSince": since } }),
                Doing::Ask { witness: witness.name.clone() },
            )
            .fenced(fence.clone()),
        );
    }
}

/// The second question of a turn: is it gone? Asked after something else was.
pub fn nonce_of_gone(turn: &Turn) -> Nonce {
    Nonce::new(format!("{}-gone", turn.nonce))
}

/// From here on the answers to a turn's question are void: what was seen then
/// may be so no more. By the turn's own time, which no agent's clock can bend.
pub fn void_from(turn: &Turn) -> jiff::Timestamp {
    turn.since.0 + FRESH
}

/// The answers to the turn's question are void: why, and since when. Of a
/// question from the future, put by a leader whose clock was ahead, nobody can
/// say how old it is.
pub(super) fn too_old(facts: &Facts<'_>) -> Option<(Objection, jiff::Timestamp)> {
    let is_void = |t: &&Turn| facts.now() >= void_from(t) || facts.now() + FRESH < t.since.0;
    let turn = facts.turn().filter(is_void)?;
    let asked = turn.since.0;
    Some((Objection::TooOld { asked }, asked))
}
