//! When the gates of a Component open: once all pods, their addresses, their
//! texts and all dependencies are there.

use super::kept;
use super::texts::has_every_key;
use crate::decide::draft::Draft;
use crate::decide::gates::{Gated, starts_with, tend_accepted};
use crate::decide::mounted::of_started;
use crate::decide::rollout::where_is;
use crate::decide::text::{Text, Texts};
use crate::facts::Facts;
use crate::gate::{self, Stand};
use crate::reload::Work;
use crate::validate::Valid;
use crate::words::gates::Closed;
use palladion_api::staged::ReloadPolicy;
use palladion_plan::Trouble;
use palladion_plan::workload::pod::PodFact;

/// Tend the gates of all wanted pods.
pub fn decide(
    facts: &Facts<'_>,
    valid: &Valid,
    template: &str,
    (texts, work): (&Texts, &Work<'_>),
    draft: &mut Draft,
) {
    // All wait for one that keeps its data, or does not stop.
    let is_held = valid.spec.reload.policy == ReloadPolicy::Recreate && work.hold.is_some();
    let closed = draft.more.missing.clone().or_else(|| closed(facts, valid, texts));
    let pods = valid.ordinals().filter_map(|ordinal| facts.there(ordinal));
    let pods: Vec<&PodFact> = pods.collect();
    // A pod of an older template is restarted, and not let through, unless its data would go with
    // it, or nobody is restarted. Then it starts with what it mounts.
    let of_older = |pod: &PodFact| {
        let stays = is_held || facts.claims.at_risk(pod).is_some();
        let newest = Some((kept::key(valid), texts));
        stays.then(|| of_started(pod, facts.texts.as_ref(), newest)).flatten()
    };
    let older: Vec<Option<Text>> = pods.iter().map(|pod| of_older(pod)).collect();
    let gated: Vec<Gated<'_>> = pods
        .iter()
        .zip(&older)
        .map(|(pod, older)| {
            let newest = texts.current(&pod.name, facts.texts.as_ref());
            let text = starts_with(pod, template, newest, older.as_ref());
            Gated { pod, text, inputs: Some(&valid.inputs) }
        })
        .collect();
    let wanted = usize::try_from(valid.spec.replicas).unwrap_or_default();
    let is_waited_at =
        gated.len() < wanted || gated.iter().any(|gated| gate::stand(gated.pod) != Stand::Passed);
    let template = &valid.spec.template;
    tend_accepted(facts.snapshot, &gated, (closed, is_waited_at), template, draft);
}

/// Why no gate is opened, dependencies aside.
fn closed(facts: &Facts<'_>, valid: &Valid, texts: &Texts) -> Option<Trouble> {
    if let Some(trouble) = incomplete(facts, valid.spec.replicas) {
        return Some(trouble);
    }
    let mut there = valid.ordinals().filter_map(|ordinal| facts.there(ordinal));
    let no_address = there.find(|pod| pod.address.is_none());
    let no_address = no_address.map(|pod| Closed::Address { pod: pod.name.clone() });
    if let Some(closed) = texts.lacking.clone().or(no_address) {
        return Some(Trouble::of(closed));
    }
    (!has_every_key(facts, valid, texts)).then(|| Trouble::of(Closed::Texts))
}

/// Why not all pods are there, of so many that are wanted.
pub fn incomplete(facts: &Facts<'_>, wanted: i32) -> Option<Trouble> {
    if facts.set.as_ref().is_some_and(|set| set.recreating.is_some()) {
        let left = facts.pods.len();
        let stopping = facts.pods.first().map(where_is);
        let closed = stopping.map_or(Closed::Recreated, |pod| Closed::Stopping { left, pod });
        return Some(Trouble::of(closed));
    }
    let mut ending = facts.pods.iter().filter(|pod| pod.ordinal < wanted);
    let there = ending.clone().filter(|pod| !pod.terminating).count();
    if i32::try_from(there) == Ok(wanted) {
        return None;
    }
    // One on no node is ended by the API server itself.
    let ending = ending.find_map(|pod| {
        let node = pod.node.clone().filter(|_| pod.terminating)?;
        Some(Closed::Ending { there, wanted, pod: pod.name.clone(), node })
    });
    let set = facts.snapshot.owner.meta.name.clone();
    Some(Trouble::of(ending.unwrap_or(Closed::Pods { there, wanted, set })))
}
