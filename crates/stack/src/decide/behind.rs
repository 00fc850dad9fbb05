//! Pods that are behind the newest spec because nobody knows what their texts will be: nothing is
//! rolled out then, which is not to be taken for done.

use super::draft::Draft;
use super::rollout::inputs_of;
use super::text::{Made, Texts};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Trouble, Wait};

/// What the newest spec says.
#[derive(Clone, Copy, Debug)]
pub struct Newest<'a> {
    /// Hash of the template.
    pub template: &'a str,
    /// Hash of the words that texts are made from.
    pub inputs: &'a str,
}

/// Wait for what the texts need, unless somebody waits for that at a gate already. `set` is the
/// hash of the template that the set has.
pub fn wait<'a>(
    set: Option<&str>,
    mut pods: impl Iterator<Item = &'a PodFact>,
    newest: Newest<'_>,
    texts: &Texts,
    draft: &mut Draft,
) {
    let trouble = match texts.made {
        Made::Unknown => draft.more.missing.clone(),
        Made::All => texts.lacking.clone().map(Trouble::of),
        // Said where they are made.
        Made::NotAll => None,
    };
    let is_old = set.is_some_and(|set| set != newest.template)
        || pods.any(|pod| !pod.terminating && inputs_of(pod) != Some(newest.inputs));
    if let Some(trouble) = trouble.filter(|_| is_old && draft.more.closed.is_none()) {
        draft.waits.insert(0, Wait::new(trouble.reason, trouble.message));
    }
}
