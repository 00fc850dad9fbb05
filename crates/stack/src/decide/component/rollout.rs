//! Which pods of a Component differ from what they should be.

use super::texts::Texts;
use crate::decide::dependencies::Base;
use crate::decide::draft::Draft;
use crate::decide::evidence::Group;
use crate::decide::rollout::{carry_out, claims_at_risk, inputs_of, restart, unconfirmed};
use crate::facts::Facts;
use crate::reload::{self, Candidate, Goal, Rules, Work, change};
use crate::validate::Valid;
use palladion_api::staged::ReloadPolicy;

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
    let candidates: Vec<Candidate<'_>> = wanted
        .map(|pod| {
            let text = texts.current(facts, &pod.name).map(|text| text.hash.as_str());
            let goal = Goal { template, inputs: &valid.inputs, text };
            let change = change(pod, inputs_of(pod), goal);
            let (at_risk, reach) = (facts.claims.at_risk(&pod.name), facts.reach.of(pod));
            Candidate { pod, change, at_risk, reach }
        })
        .collect();
    let rules = Rules {
        policy: valid.spec.reload.policy,
        min_ready_seconds: valid.spec.min_ready_seconds,
        ground: base.ground,
    };
    reload::next(&candidates, rules, facts.now())
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
    let text = |name: &str| texts.current(facts, name).map(|text| text.hash.as_str());
    carry_out(facts.snapshot, work, &valid.inputs, |pod| text(&pod.name), draft);
    if let Some(pod) = work.restart {
        let all: Vec<_> = valid.ordinals().map(|ordinal| facts.pod(ordinal)).collect();
        let min_ready_seconds = valid.spec.min_ready_seconds;
        let group = Group { pods: &all, min_ready_seconds, ground: base.ground };
        restart(facts.snapshot, pod, group, draft);
    }
}
