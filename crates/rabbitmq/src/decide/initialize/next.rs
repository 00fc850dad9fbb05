//! The first start: given once, to one volume.

use crate::decide::draft::Draft;
use crate::decide::objects::credentials;
use crate::decide::turn::lock;
use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::service::ServiceStep;
use palladion_plan::members::survey;
use palladion_plan::turn;
use palladion_plan::words::initialize::Doing;

/// Initialize the cluster, or say why not yet.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if !credentials::is_on_record(facts) {
        return; // Recorded by this very plan; a node without a cookie would make its own.
    }
    let first = survey::first(facts, valid, draft);
    let Some((first, volume)) = first.and_then(|m| Some((m, m.volume()?))) else {
        return;
    };
    let name = &first.name;
    let mut turn = turn::new(facts.snapshot, name, &volume.volume_id, ServiceStep::Initialize);
    turn.question = None;
    let record = [("initialized", survey::record(&turn))];
    let doing = Doing::Start { member: name.clone() };
    draft.steps.push(lock::write_with(facts, &turn, &record, doing));
}
