//! Which texts pods find, and by which key: their own spec says it, and of those that are to come
//! their set. The newest spec may say other things long before they are restarted for it, or be
//! one that nobody takes.

use super::text::{Text, Texts};
use crate::build::gated::KEY;
use crate::build::map::size;
use crate::render::LARGEST_MAP;
use palladion_api::gate::{INIT, file_of_key, key_of};
use palladion_plan::Object;
use palladion_plan::workload::pod::PodFact;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a pod finds its texts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// Its name.
    Name,
    /// Its address.
    Address,
    /// The name of its node.
    Node,
    /// A word that all pods share.
    Shared(&'a str),
}

impl<'a> Key<'a> {
    /// What the pods of this set find their texts by; `None` = they mount none. Their gate says
    /// it: a volume of that name may be the user's own.
    pub fn of(set: &'a Object) -> Option<Self> {
        let containers = set.at("/spec/template/spec/initContainers").and_then(Value::as_array)?;
        let gate = containers.iter().find(|container| container["name"] == INIT)?;
        Self::among(gate["env"].as_array()?)
    }

    /// What this pod finds its texts by, whatever the template of its set is by now; `None` = it
    /// mounts none.
    pub fn of_started(pod: &'a PodFact) -> Option<Self> {
        let gate = pod.init.iter().find(|container| container.name == INIT)?;
        Self::among(&gate.variables)
    }

    fn among(variables: &'a [Value]) -> Option<Self> {
        let variable = variables.iter().find(|variable| variable["name"] == KEY)?;
        if let Some(word) = variable["value"].as_str() {
            return Some(Self::Shared(word));
        }
        match variable["valueFrom"]["fieldRef"]["fieldPath"].as_str()? {
            "metadata.name" => Some(Self::Name),
            "status.podIP" => Some(Self::Address),
            "spec.nodeName" => Some(Self::Node),
            _ => None,
        }
    }

    /// The key of a pod's texts, as far as it is known.
    pub fn of_pod(self, pod: &PodFact) -> Option<String> {
        match self {
            Self::Name => Some(pod.name.clone()),
            Self::Address => pod.address.as_deref().map(key_of),
            Self::Node => pod.node.clone(),
            Self::Shared(word) => Some(word.to_string()),
        }
    }
}

/// The texts that a pod finds.
#[derive(Clone, Copy, Debug)]
struct Mounted<'a> {
    /// What they are found by.
    key: Key<'a>,
    /// The map as it was read back; `None` = there is none.
    texts: Option<&'a BTreeMap<String, String>>,
    /// Those that are to be in it.
    newest: Option<&'a Texts>,
}

fn found_by<'a>(
    key: Key<'a>,
    texts: Option<&'a BTreeMap<String, String>>,
    newest: Option<(Option<Key<'a>>, &'a Texts)>,
) -> Mounted<'a> {
    let comes = |(of, texts): &(Option<Key<'a>>, &Texts)| {
        *of == Some(key) && !texts.are_stuck() && texts.lacking.is_none()
    };
    let newest = newest.filter(comes).map(|(_, texts)| texts);
    Mounted { key, texts, newest }
}

/// What this pod starts with as it is, where nobody restarts it for the newest template: that may
/// mount texts where the pod has none, or none where it has some. `newest` = the texts that are
/// made for that template, and what they are found by.
pub fn of_started<'a>(
    pod: &'a PodFact,
    texts: Option<&'a BTreeMap<String, String>>,
    newest: Option<(Option<Key<'a>>, &'a Texts)>,
) -> Option<Text> {
    match Key::of_started(pod) {
        None => Some(Text::new(String::new(), BTreeMap::new())),
        Some(key) => found_by(key, texts, newest).of_pod(pod),
    }
}

impl Mounted<'_> {
    /// What a pod is to start with, once it finds that: the newest text, if one is on its way that
    /// it can find, since nobody may be there to restart it for that.
    fn of_pod(&self, pod: &PodFact) -> Option<Text> {
        match self.newest.filter(|newest| newest.all.contains_key(&pod.name)) {
            Some(newest) => newest.current(&pod.name, self.texts).cloned(),
            None => stored(self.texts?, &self.key.of_pod(pod)?),
        }
    }
}

/// The text of a key as it is in the map.
pub fn stored(texts: &BTreeMap<String, String>, key: &str) -> Option<Text> {
    let own = texts.iter().filter_map(|(k, v)| Some((file_of_key(key, k)?.to_string(), v.clone())));
    let files: BTreeMap<String, String> = own.collect();
    (!files.is_empty()).then(|| Text::new(key.to_string(), files))
}

/// The keys by which pods find texts that the newest spec has no pod for. While the set is not of
/// the template that goes with the newest texts, it may stay as it is for long, and so may they.
pub fn left<'a>(
    set: &Object,
    pods: impl Iterator<Item = &'a PodFact>,
    wanted: &BTreeSet<String>,
) -> BTreeSet<String> {
    let Some(key) = Key::of(set) else {
        return BTreeSet::new();
    };
    pods.filter_map(|pod| key.of_pod(pod)).filter(|key| !wanted.contains(key)).collect()
}

/// Leave such texts in the map, as far as there is room for them beside those that are wanted:
/// these may be fewer because all of them do not fit. Returns the keys of those that stay.
pub fn leave(
    data: &mut BTreeMap<String, String>,
    texts: &BTreeMap<String, String>,
    left: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut room = LARGEST_MAP.saturating_sub(size(data));
    let mut fitting = BTreeSet::new();
    for text in left.iter().filter_map(|key| stored(texts, key)) {
        let own: BTreeMap<String, String> =
            text.data().filter(|(key, _)| !data.contains_key(key)).collect();
        if let Some(less) = room.checked_sub(size(&own)) {
            room = less;
            data.extend(own);
            fitting.insert(text.key);
        }
    }
    fitting
}
