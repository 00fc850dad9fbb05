//! The order of decisions for one group of node agents: a table of contents.

pub mod kept;
mod pods;
mod set;
pub mod texts;

use crate::build;
use crate::decide::behind::{self, Newest};
use crate::decide::dependencies::{self, Needs};
use crate::decide::draft::Draft;
use crate::decide::gates::are_kept;
use crate::facts::GroupFacts;
use crate::groups::overlap::overlaps;
use crate::validate::ValidGroup;
use crate::words::groups::Overlapping;
use crate::words::objects::Waiting;
use palladion_api::node_agents::Overlap;
use palladion_plan::words::Names;

/// Hash of the template that is wanted.
pub fn template(facts: &GroupFacts<'_>, valid: &ValidGroup) -> String {
    build::daemon_set::template_hash(valid, set::agent_image(facts, valid))
}

/// All deciders, in order. `template` is the hash of the one that is wanted.
pub fn decide(facts: &GroupFacts<'_>, valid: &ValidGroup, template: &str) -> Draft {
    let mut draft = Draft::default();
    let needs = if valid.templates.is_some() { Needs::Members } else { Needs::Readiness };
    let base = dependencies::decide(facts.snapshot, &valid.spec.depends_on, needs, &mut draft);
    report_overlaps(&of(facts), &mut draft);
    let texts = texts::decide(facts, valid, (&base, template), &mut draft);
    let image = set::agent_image(facts, valid);
    if texts.are_stuck() {
        draft.wait_for(Waiting::Unmade);
    }
    if !set::is_held(facts, template, &texts) {
        set::decide(facts, valid, image, &mut draft);
    }
    // A set that is rejected keeps nobody from starting as before.
    draft.begin_part();
    let set = facts.set.as_ref();
    match are_kept(facts.snapshot, set.map(|set| &*set.object), &texts) {
        true => {
            let goes_on = pods::rollout_goes_on(facts, &texts, template);
            let newest = (texts::found_by(valid), &texts);
            kept::gates(facts, (&valid.spec, Some(newest)), goes_on, &mut draft);
        }
        false => pods::gates(facts, valid, template, &texts, &mut draft),
    }
    let newest = Newest { template, inputs: &valid.inputs };
    let set = set.map(|set| set.template.as_str());
    behind::wait(set, facts.pods.iter(), newest, &texts, &mut draft);
    pods::rollout(facts, valid, (&base, template), &texts, &mut draft);
    draft
}

/// The nodes that other groups of the agent select, too.
pub fn of(facts: &GroupFacts<'_>) -> Vec<Overlap> {
    facts.own().map(|own| overlaps(own, &facts.groups, facts.nodes())).unwrap_or_default()
}

fn report_overlaps(all: &[Overlap], draft: &mut Draft) {
    if let Some(first) = all.first() {
        let groups = Names::of(first.groups.iter().map(String::as_str));
        let (node, nodes) = (first.node.clone(), all.len());
        draft.report(Overlapping::Node { node, groups, nodes });
    }
}
