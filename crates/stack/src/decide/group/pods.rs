//! The pods of a group: each has a gate of its own, which waits for no other
//! pod; and those that differ from what they should be.

use super::texts::found_by;
use crate::decide::dependencies::Base;
use crate::decide::draft::Draft;
use crate::decide::evidence::Group;
use crate::decide::gates::{Gated, starts_with, tend_accepted};
use crate::decide::mounted::of_started;
use crate::decide::rollout::{carry_out, claims_at_risk, inputs_of, restart, unconfirmed};
use crate::decide::text::{Text, Texts};
use crate::facts::GroupFacts;
use crate::facts::reach::Reach;
use crate::gate::{self, Stand};
use crate::reload::{self, Candidate, Change, Goal, Rules, change};
use crate::validate::ValidGroup;
use crate::words::groups::Waiting;
use palladion_api::node_agents::UpgradeStrategy;
use palladion_api::staged::ReloadPolicy;
use palladion_plan::words::Names;
use palladion_plan::workload::pod::PodFact;

/// Tend the gates of all pods that have a node.
pub fn gates(
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
    template: &str,
    texts: &Texts,
    draft: &mut Draft,
) {
    let closed = draft.more.missing.clone();
    let pods: Vec<&PodFact> = facts.pods.iter().filter(|pod| !pod.terminating).collect();
    let of_older = |pod: &PodFact| {
        let newest = Some((found_by(valid), texts));
        let stays = stays_as_it_is(facts, valid, pod, template);
        stays.then(|| of_started(pod, facts.texts.as_ref(), newest)).flatten()
    };
    let older: Vec<Option<Text>> = pods.iter().map(|pod| of_older(pod)).collect();
    let gated: Vec<Gated<'_>> = pods
        .iter()
        .zip(&older)
        .map(|(pod, older)| {
            let newest = texts.current(&pod.name, facts.texts.as_ref());
            let text = starts_with(pod, template, newest, older.as_ref());
            // What an older pod has may be made from other words.
            let is_newest = text == newest.map(|text| text.hash.as_str());
            let inputs = Some(valid.inputs.as_str()).filter(|_| is_newest);
            Gated { pod, text, inputs }
        })
        .collect();
    let is_waited_at = gated.iter().any(|gated| gate::stand(gated.pod) != Stand::Passed);
    let template = &valid.spec.template;
    tend_accepted(facts.snapshot, &gated, (closed, is_waited_at), template, draft);
}

/// Does a pod of an older template start again as it is? It is restarted, unless somebody else
/// does that, or its data would go with it.
fn stays_as_it_is(
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
    pod: &PodFact,
    template: &str,
) -> bool {
    let is_older = pod.spec_hash() != Some(template);
    is_older
        && match valid.spec.upgrade_strategy {
            UpgradeStrategy::Rolling => facts.claims.at_risk(pod).is_some(),
            UpgradeStrategy::OnDelete => true,
        }
}

/// Are agents of an older template restarted although the set is not written? It creates them
/// from the one that it has.
pub fn rollout_goes_on(facts: &GroupFacts<'_>, texts: &Texts, template: &str) -> bool {
    !texts.are_stuck() && facts.set.as_ref().is_some_and(|set| set.template == template)
}

/// Restart one, signal others.
pub fn rollout(
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
    (base, template): (&Base<'_>, &str),
    texts: &Texts,
    draft: &mut Draft,
) {
    let spec = &valid.spec;
    match spec.reload.policy {
        ReloadPolicy::Signal => {
            unconfirmed(facts.snapshot, &facts.pods, spec.reload.container.as_deref(), draft);
        }
        ReloadPolicy::Restart | ReloadPolicy::Recreate => {}
    }
    claims_at_risk(&facts.pods, &facts.claims, draft);
    // Before the set has the newest template, it would recreate a pod from another.
    if !facts.set.as_ref().is_some_and(|set| set.seen && set.template == template) {
        return;
    }
    let is_old = |pod: &PodFact| pod.spec_hash() != Some(template);
    let waits = |pod: &PodFact| is_old(pod) && texts.hold(&pod.name, facts.texts.as_ref());
    if facts.pods.iter().any(waits) {
        return;
    }
    let text = |pod: &str| texts.current(pod, facts.texts.as_ref()).map(|text| text.hash.as_str());
    await_deletion(facts, valid, template, text, draft);
    // A pod that nobody reaches serves its own node alone: the other nodes go on without it.
    let (reached, lost): (Vec<&PodFact>, Vec<&PodFact>) =
        facts.pods.iter().partition(|pod| facts.reach.of(pod) == Reach::Reached);
    let candidates: Vec<Candidate<'_>> = reached
        .iter()
        .map(|pod| {
            let change = due(valid, pod, template, text(&pod.name));
            let at_risk = facts.claims.at_risk(pod);
            Candidate { pod, change, at_risk, reach: Reach::Reached }
        })
        .collect();
    // Agents of different nodes do not wait for each other, so that nothing is
    // gained by ending them all.
    let policy = match spec.reload.policy {
        ReloadPolicy::Signal => ReloadPolicy::Signal,
        ReloadPolicy::Restart | ReloadPolicy::Recreate => ReloadPolicy::Restart,
    };
    let rules = Rules { policy, min_ready_seconds: 0, ground: base.ground };
    let work = reload::next(&candidates, rules, facts.snapshot.now);
    carry_out(facts.snapshot, &work, &valid.inputs, |pod| text(&pod.name), draft);
    let is_due = |pod: &PodFact| match due(valid, pod, template, text(&pod.name)) {
        Change::Outside | Change::Inputs | Change::Template => true,
        Change::None | Change::Words => false,
    };
    await_nodes(facts, &lost, is_due, draft);
    if let Some(pod) = work.restart {
        let all: Vec<Option<&PodFact>> = reached.iter().copied().map(Some).collect();
        let group = Group { pods: &all, min_ready_seconds: 0, ground: base.ground };
        restart(facts.snapshot, pod, group, draft);
    }
}

/// Name those that get no change because nobody reaches them, and look again when one that
/// is on its way out counts as one of these.
fn await_nodes(
    facts: &GroupFacts<'_>,
    lost: &[&PodFact],
    is_due: impl Fn(&PodFact) -> bool,
    draft: &mut Draft,
) {
    let left: Vec<&&PodFact> = lost.iter().filter(|pod| is_due(pod)).collect();
    if !left.is_empty() {
        let names = Names::of(left.iter().map(|pod| pod.name.as_str()));
        draft.wait_for(Waiting::Node { pods: left.len(), names });
    }
    let next = facts.pods.iter().filter_map(|pod| facts.reach.lost_at(pod)).min();
    next.into_iter().for_each(|at| draft.wake_at(at));
}

/// Somebody else restarts the pods, and until then nothing reaches those that were started
/// with an earlier spec: a text of theirs cannot be made any more, and that of the newest
/// spec is not for them yet.
fn await_deletion<'a>(
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
    template: &str,
    text: impl Fn(&str) -> Option<&'a str>,
    draft: &mut Draft,
) {
    let is_left = |pod: &&PodFact| {
        let goal = Goal { template, inputs: &valid.inputs, text: text(&pod.name) };
        match change(pod, inputs_of(pod), goal) {
            Change::Template | Change::Inputs => !pod.terminating,
            Change::None | Change::Words | Change::Outside => false,
        }
    };
    let left: Vec<&PodFact> = match valid.spec.upgrade_strategy {
        UpgradeStrategy::Rolling => return,
        UpgradeStrategy::OnDelete => facts.pods.iter().filter(is_left).collect(),
    };
    if !left.is_empty() {
        let names = Names::of(left.iter().map(|pod| pod.name.as_str()));
        draft.wait_for(Waiting::Deletion { pods: left.len(), names });
    }
}

/// What of a pod's difference is for us to undo.
fn due(valid: &ValidGroup, pod: &PodFact, template: &str, text: Option<&str>) -> Change {
    let goal = Goal { template, inputs: &valid.inputs, text };
    let change = change(pod, inputs_of(pod), goal);
    match (valid.spec.upgrade_strategy, change) {
        (UpgradeStrategy::OnDelete, Change::Template | Change::Inputs) => Change::None,
        (UpgradeStrategy::Rolling | UpgradeStrategy::OnDelete, change) => change,
    }
}
