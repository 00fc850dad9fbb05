//! The first start: given once, to one volume.

use crate::decide::draft::Draft;
use crate::decide::turn::{lock, server_id};
use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::service::ServiceStep;
use palladion_plan::members::survey;
use palladion_plan::turn;
use palladion_plan::words::initialize::Doing;

/// Initialize the ensemble, or say why not yet.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let first = survey::first(facts, valid, draft);
    let Some((first, volume)) = first.and_then(|m| Some((m, m.volume()?))) else {
        return;
    };
    let (name, volume_id) = (&first.name, &volume.volume_id);
    let mut turn = turn::new(facts.snapshot, name, volume_id, ServiceStep::Initialize);
    turn.server_id = server_id::of(facts, first, volume_id);
    turn.question = None;
    let record = vec![("initialized", survey::record(&turn))];
    let doing = Doing::Start { member: name.clone() };
    draft.steps.push(lock::write_with(facts, &turn, record, doing));
}
