//! What goes on while a spec is refused, or its texts cannot be made or written: a pod that
//! starts again gets a ticket, as long as nobody restarts it for a newer template, for the text
//! that is in the map.

use super::draft::Draft;
use super::gates::{Gated, Terms, tend};
use super::text::Text;
use crate::gate::{self, Stand};
use palladion_api::gate::{CONFIG_VOLUME, file_of_key};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Object, Snapshot, Trouble, Wait};
use serde_json::Value;
use std::collections::BTreeMap;

/// The pods of a service, and what they have.
pub struct Kept<'a> {
    /// Those that should be there.
    pub pods: Vec<&'a PodFact>,
    /// Is a pod to start as it is? One that is to be restarted waits for that.
    pub is_current: &'a dyn Fn(&PodFact) -> bool,
    /// The map as it was read back; `None` = the template mounts none.
    pub texts: Option<BTreeMap<String, String>>,
    /// Why no gate is opened, dependencies aside.
    pub closed: Option<Trouble>,
}

/// Tend the gates. `key` is the key of a pod's text; `None` = it is not known yet. What the
/// pods depend on was looked at before.
pub fn decide(
    snapshot: &Snapshot,
    kept: &Kept<'_>,
    key: impl Fn(&PodFact) -> Option<String>,
    draft: &mut Draft,
) {
    let closed = draft.more.missing.clone().or_else(|| kept.closed.clone());
    let hash = |pod: &PodFact| match &kept.texts {
        None => Some(Text::new(String::new(), BTreeMap::new()).hash),
        Some(texts) => stored(texts, &key(pod)?).map(|text| text.hash),
    };
    let current = |pod: &PodFact| (kept.is_current)(pod).then(|| hash(pod)).flatten();
    let hashes: Vec<Option<String>> = kept.pods.iter().map(|pod| current(pod)).collect();
    let gated: Vec<Gated<'_>> = kept
        .pods
        .iter()
        .zip(&hashes)
        .map(|(pod, hash)| Gated { pod, text: hash.as_deref() })
        .collect();
    tend(snapshot, &gated, Terms { closed: closed.as_ref(), inputs: None }, draft);
    let is_waited_at = gated.iter().any(|gated| gate::stand(gated.pod) != Stand::Passed);
    if let Some(trouble) = closed.filter(|_| is_waited_at) {
        draft.waits.insert(0, Wait::new(trouble.reason, trouble.message.clone()));
        draft.more.closed = Some(trouble);
    }
}

/// The texts of pods of a set, if its template mounts any.
pub fn mounted(
    set: &Object,
    texts: Option<&BTreeMap<String, String>>,
) -> Option<BTreeMap<String, String>> {
    let volumes = set.at("/spec/template/spec/volumes").and_then(Value::as_array)?;
    let is_mounted = volumes.iter().any(|volume| volume["name"] == CONFIG_VOLUME);
    is_mounted.then(|| texts.cloned().unwrap_or_default())
}

/// The text of a key as it is in the map.
pub fn stored(texts: &BTreeMap<String, String>, key: &str) -> Option<Text> {
    let own = texts.iter().filter_map(|(k, v)| Some((file_of_key(key, k)?.to_string(), v.clone())));
    let files: BTreeMap<String, String> = own.collect();
    (!files.is_empty()).then(|| Text::new(key.to_string(), files))
}
