//! The order of decisions for one Component: a table of contents.

pub mod gates;
pub mod kept;
pub mod rollout;
pub mod services;
pub mod set;
pub mod texts;

use crate::build;
use crate::decide::behind::{self, Newest};
use crate::decide::dependencies::{self, Needs};
use crate::decide::draft::Draft;
use crate::decide::gates::{are_kept, are_texts_written};
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::objects::Waiting;

/// Hash of the template that is wanted.
pub fn template(facts: &Facts<'_>, valid: &Valid) -> String {
    build::set::template_hash(valid, set::agent_image(facts, valid))
}

/// All deciders, in order. `template` is the hash of the one that is wanted.
pub fn decide(facts: &Facts<'_>, valid: &Valid, template: &str) -> Draft {
    let mut draft = Draft::default();
    services::decide(facts, valid, &mut draft);
    let needs = if valid.templates.is_some() { Needs::Members } else { Needs::Readiness };
    let base = dependencies::decide(facts.snapshot, &valid.spec.depends_on, needs, &mut draft);
    let texts = texts::decide(facts, valid, (&base, template), &mut draft);
    let image = set::agent_image(facts, valid);
    let work = rollout::work(facts, valid, &base, &texts, template);
    let purpose = set::purpose(template, &texts);
    if texts.are_stuck() {
        draft.wait_for(Waiting::Unmade);
    }
    let takes = set::takes(facts, template, &texts);
    set::decide(facts, valid, (image, takes), (&work, &purpose), &mut draft);
    // A set that is rejected keeps nobody from starting as before.
    draft.begin_part();
    let set = facts.set.as_ref();
    match are_kept(facts.snapshot, set.map(|set| &*set.object), &texts) {
        true => {
            let goes_on = rollout::goes_on(facts, valid, &texts, template);
            let accepted = are_texts_written(facts.snapshot).then_some((valid, &texts));
            kept::gates(facts, accepted, goes_on, &mut draft);
        }
        false => gates::decide(facts, valid, template, (&texts, &work), &mut draft),
    }
    let wanted = facts.pods.iter().filter(|pod| valid.ordinals().contains(&pod.ordinal));
    let newest = Newest { template, inputs: &valid.inputs };
    behind::wait(set.map(|set| set.template.as_str()), wanted, newest, &texts, &mut draft);
    rollout::decide(facts, valid, &base, (&work, &texts), &mut draft);
    draft
}
