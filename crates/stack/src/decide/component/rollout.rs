//! Which pods of a Component differ from what they should be.

use crate::decide::dependencies::Base;
use crate::decide::draft::Draft;
use crate::decide::evidence::Group;
use crate::decide::rollout::{carry_out, claims_at_risk, inputs_of, restart, unconfirmed};
use crate::decide::text::Texts;
use crate::facts::Facts;
use crate::facts::reach::Reach;
use crate::reload::{self, Candidate, Goal, Hold, Recreate, Rules, Work, change};
use crate::validate::Valid;
use palladion_api::staged::ReloadPolicy;
use palladion_plan::workload::pod::PodFact;

/// What is due.
pub fn work<'a>(
    facts: &'a Facts<'_>,
    valid: &Valid,
    base: &Base<'_>,
    texts: &Texts,
    template: &str,
) -> Work<'a> {
    // Before the set has the newest template, it would recreate a pod from another.
    let is_written = facts
        .set
        .as_ref()
        .is_some_and(|set| set.seen && set.template == template && set.recreating.is_none());
    if !is_written {
        return Work::default();
    }
    let wanted = facts.pods.iter().filter(|pod| valid.ordinals().contains(&pod.ordinal));
    // It would start with the text of another, or with none where its address is its key.
    let is_old = |pod: &PodFact| pod.spec_hash() != Some(template);
    if wanted.clone().any(|pod| is_old(pod) && texts.hold(&pod.name, facts.texts.as_ref())) {
        return Work::held(Hold::Texts);
    }
    let candidates: Vec<Candidate<'_>> = wanted
        .map(|pod| {
            let text =
                texts.current(&pod.name, facts.texts.as_ref()).map(|text| text.hash.as_str());
            let goal = Goal { template, inputs: &valid.inputs, text };
            let change = change(pod, inputs_of(pod), goal);
            let (at_risk, reach) = (facts.claims.at_risk(pod), facts.reach.of(pod));
            Candidate { pod, change, at_risk, reach }
        })
        .collect();
    let rules = Rules {
        policy: valid.spec.reload.policy,
        min_ready_seconds: valid.spec.min_ready_seconds,
        ground: base.ground,
    };
    let work = reload::next(&candidates, rules, facts.now());
    match work.recreate {
        Recreate::Now => surplus(facts, valid).map_or(work, Work::held),
        Recreate::No => work,
    }
}

/// Are pods of an older template restarted although the set, or what is written before it, is
/// not? It creates them from the one that it has, and for all of them at once it would have to
/// be written.
pub fn goes_on(facts: &Facts<'_>, valid: &Valid, texts: &Texts, template: &str) -> bool {
    let one_by_one = match valid.spec.reload.policy {
        ReloadPolicy::Restart | ReloadPolicy::Signal => true,
        ReloadPolicy::Recreate => false,
    };
    let has_newest = facts.set.as_ref().is_some_and(|set| set.template == template);
    one_by_one && has_newest && !texts.are_stuck()
}

/// What keeps a set from having no pods for a while, although it is no pod that is wanted: one
/// would take its data with it, or would be waited for by all that stop.
fn surplus<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Option<Hold<'a>> {
    let mut surplus = facts.pods.iter().filter(|pod| pod.ordinal >= valid.spec.replicas);
    surplus.find_map(|pod| match facts.claims.at_risk(pod).filter(|_| !pod.terminating) {
        Some(at_risk) => Some(Hold::Claim(pod, at_risk)),
        None => {
            let stays = pod.terminating || facts.reach.of(pod) == Reach::Lost;
            stays.then_some(Hold::Stays(pod))
        }
    })
}

/// Carry out what is due, the recreation of all pods aside.
pub fn decide(
    facts: &Facts<'_>,
    valid: &Valid,
    base: &Base<'_>,
    (work, texts): (&Work<'_>, &Texts),
    draft: &mut Draft,
) {
    match valid.spec.reload.policy {
        ReloadPolicy::Signal => {
            let container = valid.spec.reload.container.as_deref();
            unconfirmed(facts.snapshot, &facts.pods, container, draft);
        }
        ReloadPolicy::Restart | ReloadPolicy::Recreate => {}
    }
    claims_at_risk(&facts.pods, &facts.claims, draft);
    let text =
        |name: &str| texts.current(name, facts.texts.as_ref()).map(|text| text.hash.as_str());
    carry_out(facts.snapshot, work, &valid.inputs, |pod| text(&pod.name), draft);
    if let Some(pod) = work.restart {
        let all: Vec<_> = valid.ordinals().map(|ordinal| facts.pod(ordinal)).collect();
        let min_ready_seconds = valid.spec.min_ready_seconds;
        let group = Group { pods: &all, min_ready_seconds, ground: base.ground };
        restart(facts.snapshot, pod, group, draft);
    }
}
