//! When the gates of a Component open: once all pods, their addresses, their
//! texts and all dependencies are there.

use super::texts::{Texts, has_every_key};
use crate::decide::draft::Draft;
use crate::decide::gates::{Gated, Terms, await_volumes, tend};
use crate::facts::Facts;
use crate::gate::{self, Stand};
use crate::validate::Valid;
use crate::words::gates::Closed;
use palladion_plan::{Trouble, Wait};

/// Tend the gates of all wanted pods.
pub fn decide(facts: &Facts<'_>, valid: &Valid, template: &str, texts: &Texts, draft: &mut Draft) {
    let closed = draft.more.missing.clone().or_else(|| closed(facts, valid, texts));
    let pods = valid.ordinals().filter_map(|ordinal| facts.there(ordinal));
    let gated: Vec<Gated<'_>> = pods
        .map(|pod| {
            // A pod of an older template is restarted, and not let through.
            let is_current = pod.spec_hash() == Some(template);
            let text = texts.current(facts, &pod.name).filter(|_| is_current);
            Gated { pod, text: text.map(|text| text.hash.as_str()) }
        })
        .collect();
    let wanted = usize::try_from(valid.spec.replicas).unwrap_or_default();
    let is_waited_at =
        gated.len() < wanted || gated.iter().any(|gated| gate::stand(gated.pod) != Stand::Passed);
    tend(facts.snapshot, &gated, Terms { closed: closed.as_ref(), inputs: &valid.inputs }, draft);
    if let Some(trouble) = closed.filter(|_| is_waited_at) {
        draft.waits.insert(0, Wait::new(trouble.reason, trouble.message.clone()));
        draft.more.closed = Some(trouble);
    }
    await_volumes(gated.iter().map(|gated| gated.pod), &valid.spec.template, draft);
}

/// Why no gate is opened, dependencies aside.
fn closed(facts: &Facts<'_>, valid: &Valid, texts: &Texts) -> Option<Trouble> {
    if facts.set.as_ref().is_some_and(|set| set.recreating.is_some()) {
        return Some(Trouble::of(Closed::Stopping { left: facts.pods.len() }));
    }
    let there = valid.ordinals().filter_map(|ordinal| facts.there(ordinal));
    let there: Vec<_> = there.collect();
    if i32::try_from(there.len()) != Ok(valid.spec.replicas) {
        let (there, wanted) = (there.len(), valid.spec.replicas);
        let mut ending = valid.ordinals().filter_map(|ordinal| facts.pod(ordinal));
        // One on no node is ended by the API server itself.
        let ending = ending.find_map(|pod| {
            let node = pod.node.clone().filter(|_| pod.terminating)?;
            Some(Closed::Ending { there, wanted, pod: pod.name.clone(), node })
        });
        let set = valid.name.clone();
        return Some(Trouble::of(ending.unwrap_or(Closed::Pods { there, wanted, set })));
    }
    let no_address = there.iter().find(|pod| pod.address.is_none());
    let no_address = no_address.map(|pod| Closed::Address { pod: pod.name.clone() });
    if let Some(closed) = texts.lacking.clone().or(no_address) {
        return Some(Trouble::of(closed));
    }
    (!has_every_key(facts, valid, texts)).then(|| Trouble::of(Closed::Texts))
}
