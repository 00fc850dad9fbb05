//! What goes on while a spec is refused: a pod that starts again gets a ticket, as long as
//! it is of the template that its set has, for the text that is in the map.

use super::dependencies::{self, Needs};
use super::draft::Draft;
use super::gates::{Gated, Terms, tend};
use super::text::Text;
use crate::gate::{self, Stand};
use palladion_api::gate::{CONFIG_VOLUME, file_of_key};
use palladion_api::staged::Dependency;
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Object, Snapshot, Trouble};
use serde_json::Value;
use std::collections::BTreeMap;

/// The pods of a service, and what they have.
#[derive(Debug)]
pub struct Kept<'a> {
    /// Those that should be there.
    pub pods: Vec<&'a PodFact>,
    /// Hash of the template that their set has.
    pub template: &'a str,
    /// The map as it was read back; `None` = the template mounts none.
    pub texts: Option<BTreeMap<String, String>>,
    /// Why no gate is opened, dependencies aside.
    pub closed: Option<Trouble>,
}

/// Tend the gates. `key` is the key of a pod's text; `None` = it is not known yet.
pub fn decide(
    snapshot: &Snapshot,
    depends_on: &[Dependency],
    kept: &Kept<'_>,
    key: impl Fn(&PodFact) -> Option<String>,
) -> Draft {
    let mut draft = Draft::default();
    dependencies::decide(snapshot, depends_on, Needs::Readiness, &mut draft);
    let closed = draft.more.missing.clone().or_else(|| kept.closed.clone());
    let hash = |pod: &PodFact| match &kept.texts {
        None => Some(Text::new(String::new(), BTreeMap::new()).hash),
        Some(texts) => stored(texts, &key(pod)?).map(|text| text.hash),
    };
    let is_current = |pod: &&&PodFact| pod.spec_hash() == Some(kept.template);
    let hashes: Vec<Option<String>> =
        kept.pods.iter().map(|pod| Some(pod).filter(is_current).and_then(|p| hash(p))).collect();
    let gated: Vec<Gated<'_>> = kept
        .pods
        .iter()
        .zip(&hashes)
        .map(|(pod, hash)| Gated { pod, text: hash.as_deref() })
        .collect();
    tend(snapshot, &gated, Terms { closed: closed.as_ref(), inputs: None }, &mut draft);
    let is_waited_at = gated.iter().any(|gated| gate::stand(gated.pod) != Stand::Passed);
    draft.more.closed = closed.filter(|_| is_waited_at);
    draft
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
