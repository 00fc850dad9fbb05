//! The texts of a group: one for all agents, or one for each.

use crate::decide::dependencies::Base;
use crate::decide::draft::Draft;
use crate::decide::mounted::{self, Key, stored};
use crate::decide::settle::{Timing, timing};
use crate::decide::text::{Made, Room, Text, Texts, has_changed_outside, write_map};
use crate::facts::GroupFacts;
use crate::render::{Own, Templates, Variables, dependency};
use crate::validate::ValidGroup;
use crate::validate::group::of;
use palladion_api::gate::{file_of_key, key_of};
use palladion_api::node_agents::{GroupConfig, GroupKey};
use palladion_plan::workload::pod::PodFact;
use std::collections::{BTreeMap, BTreeSet};

/// Make the texts, and write those that are due.
pub fn decide(
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
    (base, template): (&Base<'_>, &str),
    draft: &mut Draft,
) -> Texts {
    let (Some(config), Some(templates)) = (&valid.spec.config, &valid.templates) else {
        let text = Text::new(String::new(), BTreeMap::new());
        let all = facts.pods.iter().map(|pod| (pod.name.clone(), text.clone()));
        return Texts { all: all.collect(), ..Texts::default() };
    };
    let left = left(facts, valid, template);
    let mut texts = make(facts, valid, (config, templates), base, draft);
    let left = fitting(facts, &texts, &left);
    if config.key == GroupKey::NodeName {
        texts = with_namesakes(facts, valid, &left, texts);
    }
    texts.keep_stored(facts.texts.as_ref());
    hold_back(facts, valid, base, &mut texts, draft);
    if write(facts, valid, &left, &texts, draft) == Made::NotAll {
        texts.made = Made::NotAll;
    }
    texts
}

fn make(
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
    (config, templates): (&GroupConfig, &Templates),
    base: &Base<'_>,
    draft: &mut Draft,
) -> Texts {
    let mut texts = Texts::default();
    let Some(services) = base.services() else {
        return Texts { made: Made::Unknown, ..texts };
    };
    let seen = services.iter().map(|(d, s)| (d.alias(), dependency(d.kind, &d.name, s)));
    let ports = valid.spec.network.ports.iter().map(|p| (p.name.clone(), p.port));
    let variables = Variables {
        own: None,
        nodes: None,
        group: None,
        ports: ports.collect(),
        parameters: config.parameters.clone(),
        component: valid.name.clone(),
        dependencies: seen.collect(),
    };
    // As many nodes as there are: a text that is the same for all is made once.
    let mut made: Option<Text> = None;
    let mut room = Room::default();
    for pod in selected(facts, valid).filter(|pod| !pod.terminating) {
        let Some((key, own)) = identity(config.key, valid, pod) else {
            continue;
        };
        if let (None, Some(text)) = (&own, &made) {
            texts.all.insert(pod.name.clone(), text.clone());
            continue;
        }
        let is_shared = own.is_none();
        let variables = of(valid, config.key, Variables { own, ..variables.clone() });
        let Some(text) = Text::rendered(templates, &variables, (key, &pod.name), draft) else {
            texts.made = Made::NotAll;
            if is_shared {
                break;
            }
            continue;
        };
        if !room.takes(&text, draft) {
            return Texts { made: Made::NotAll, ..Texts::default() };
        }
        made = is_shared.then(|| text.clone());
        texts.all.insert(pod.name.clone(), text);
    }
    texts
}

/// The pods on nodes that the group is to have. The others are on their way out as soon as the
/// set is written, and are none of those whose texts must fit.
fn selected<'a>(
    facts: &'a GroupFacts<'_>,
    valid: &'a ValidGroup,
) -> impl Iterator<Item = &'a PodFact> {
    let wanted = &valid.spec.node_selector;
    let is_left = |labels: &BTreeMap<String, String>| {
        wanted.iter().any(|(key, value)| labels.get(key) != Some(value))
    };
    let left: BTreeSet<&str> =
        facts.nodes().filter(|(_, labels)| is_left(labels)).map(|(name, _)| name).collect();
    facts.pods.iter().filter(move |pod| !pod.node.as_deref().is_some_and(|n| left.contains(n)))
}

/// A node name may be the beginning of another, up to a dot. Then the files of the other are
/// among those that the gate of the first counts as its own, and so they are here.
fn with_namesakes(
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
    left: &BTreeSet<String>,
    texts: Texts,
) -> Texts {
    let made: BTreeMap<&str, &Text> =
        texts.all.values().map(|text| (text.key.as_str(), text)).collect();
    let all = &keys(facts, valid) | left;
    let whole = |text: &Text| {
        let mut files = text.files.clone();
        for other in all.iter().filter(|other| file_of_key(&text.key, other).is_some()) {
            if *other == text.key {
                continue;
            }
            let made = made.get(other.as_str()).map(|text| (*text).clone());
            let of_other = made.or_else(|| stored(facts.texts.as_ref()?, other));
            let data = of_other.iter().flat_map(Text::data);
            files.extend(data.filter_map(|(k, v)| Some((file_of_key(&text.key, &k)?.into(), v))));
        }
        Text { time: text.time, ..Text::new(text.key.clone(), files) }
    };
    let all = texts.all.iter().map(|(pod, text)| (pod.clone(), whole(text)));
    Texts { all: all.collect(), ..texts }
}

/// The key of a pod's text, and what of the pod goes into it.
fn identity(of: GroupKey, valid: &ValidGroup, pod: &PodFact) -> Option<(String, Option<Own>)> {
    let own = || {
        let (node, ip) = (pod.node.clone()?, pod.address.clone()?);
        Some(Own { name: pod.name.clone(), ordinal: 0, address: ip.clone(), ip, node })
    };
    let own = match of {
        GroupKey::Group => None,
        GroupKey::NodeName | GroupKey::PodIp => Some(own()?),
    };
    Some((key(of, &valid.name, pod)?, own))
}

/// The key of a pod's text, as far as it is known.
fn key(of: GroupKey, group: &str, pod: &PodFact) -> Option<String> {
    match of {
        GroupKey::Group => Some(group.to_string()),
        GroupKey::NodeName => pod.node.clone(),
        GroupKey::PodIp => pod.address.as_deref().map(key_of),
    }
}

/// Texts that have changed from outside wait for a dependency that comes or goes.
fn hold_back(
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
    base: &Base<'_>,
    texts: &mut Texts,
    draft: &mut Draft,
) {
    let changed =
        |pod: &&PodFact| has_changed_outside(pod, &valid.inputs, texts.all.get(&pod.name));
    let changed: Vec<&PodFact> = facts.pods.iter().filter(changed).collect();
    if changed.is_empty() {
        return;
    }
    let time = timing(facts.snapshot, facts.status.pending_change.as_ref(), base, draft);
    let changed: BTreeSet<&str> = changed.iter().map(|pod| pod.name.as_str()).collect();
    let former = match valid.spec.config.as_ref().map(|config| config.key) {
        // Where all have one text, one that starts gets what the others have.
        Some(GroupKey::Group) if time == Timing::Later => {
            facts.texts.as_ref().and_then(|texts| stored(texts, &valid.name))
        }
        Some(GroupKey::Group | GroupKey::NodeName | GroupKey::PodIp) | None => None,
    };
    for (pod, text) in &mut texts.all {
        match &former {
            Some(former) if !changed.contains(pod.as_str()) => *text = former.clone(),
            Some(_) | None if changed.contains(pod.as_str()) => text.time = time,
            Some(_) | None => {}
        }
    }
}

/// The map: the newest texts of those who may have them, and of the others what is there.
fn write(
    facts: &GroupFacts<'_>,
    valid: &ValidGroup,
    left: &BTreeSet<String>,
    texts: &Texts,
    draft: &mut Draft,
) -> Made {
    let stored = facts.texts.clone().unwrap_or_default();
    let newest = texts.all.values().filter(|text| text.time == Timing::Now);
    let mut data: BTreeMap<String, String> = newest.flat_map(Text::data).collect();
    let written: BTreeSet<&str> = texts
        .all
        .values()
        .filter(|text| text.time == Timing::Now)
        .map(|text| text.key.as_str())
        .collect();
    let keys = keys(facts, valid);
    for (key, value) in &stored {
        let is_of = |own: &str| file_of_key(own, key).is_some();
        let is_replaced = written.iter().any(|own| is_of(own));
        if !is_replaced && keys.iter().any(|own| is_of(own)) {
            data.insert(key.clone(), value.clone());
        }
    }
    mounted::leave(&mut data, &stored, left);
    write_map(facts.snapshot, valid.owner(), (&data, facts.texts.as_ref()), draft)
}

/// The keys by which agents find their texts as long as the set is not written.
fn left(facts: &GroupFacts<'_>, valid: &ValidGroup, template: &str) -> BTreeSet<String> {
    match &facts.set {
        Some(set) if set.template != template => {
            mounted::left(&set.object, facts.pods.iter(), &keys(facts, valid))
        }
        Some(_) | None => BTreeSet::new(),
    }
}

/// Those of them that find room beside the texts that are made.
fn fitting(facts: &GroupFacts<'_>, texts: &Texts, left: &BTreeSet<String>) -> BTreeSet<String> {
    let stored = facts.texts.clone().unwrap_or_default();
    let mut data = texts.all.values().flat_map(Text::data).collect();
    mounted::leave(&mut data, &stored, left)
}

/// What agents are to find the newest texts by.
pub fn found_by(valid: &ValidGroup) -> Option<Key<'_>> {
    Some(match valid.spec.config.as_ref()?.key {
        GroupKey::Group => Key::Shared(&valid.name),
        GroupKey::NodeName => Key::Node,
        GroupKey::PodIp => Key::Address,
    })
}

/// The keys of the pods that there are to be.
fn keys(facts: &GroupFacts<'_>, valid: &ValidGroup) -> BTreeSet<String> {
    let Some(config) = &valid.spec.config else {
        return BTreeSet::new();
    };
    let mut keys: BTreeSet<String> = selected(facts, valid)
        .filter_map(|pod| Some(identity(config.key, valid, pod)?.0))
        .collect();
    match config.key {
        GroupKey::Group => keys.insert(valid.name.clone()),
        GroupKey::NodeName | GroupKey::PodIp => false,
    };
    keys
}
