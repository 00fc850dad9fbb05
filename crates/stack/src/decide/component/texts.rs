//! The text of each pod: what it should be, and what is written. A pod that
//! waits at its gate gets the newest; the text of one that runs changes at once
//! if the Component itself says other things, and else when its dependencies
//! have stopped to come and go.

use crate::decide::dependencies::Base;
use crate::decide::draft::Draft;
use crate::decide::mounted;
use crate::decide::settle::{Timing, timing};
use crate::decide::text::{Made, Room, Text, Texts, has_changed_outside, write_map};
use crate::facts::Facts;
use crate::render::{self, Own, Peer, Templates, Variables, dependency};
use crate::validate::Valid;
use crate::words::gates::Closed;
use palladion_api::component::names;
use palladion_api::gate::{file_of_key, key_of, key_of_file};
use palladion_api::staged::{Addresses, Config, ConfigKey};
use palladion_plan::workload::pod::PodFact;
use std::collections::{BTreeMap, BTreeSet};

/// Make the texts, and write those that are due.
pub fn decide(
    facts: &Facts<'_>,
    valid: &Valid,
    (base, template): (&Base<'_>, &str),
    draft: &mut Draft,
) -> Texts {
    let (Some(config), Some(templates)) = (&valid.spec.config, &valid.templates) else {
        return without_config(valid);
    };
    let (peers, lacking) = peers(facts, valid);
    let mut texts = make(facts, valid, (config, templates), base, peers, draft);
    if lacking.is_some() {
        texts = Texts { all: BTreeMap::new(), lacking, made: texts.made };
    }
    texts.keep_stored(facts.texts.as_ref());
    hold_back(facts, valid, base, &mut texts, draft);
    if write(facts, valid, (config, template), &texts, draft) == Made::NotAll {
        texts.made = Made::NotAll;
    }
    texts
}

fn without_config(valid: &Valid) -> Texts {
    let text = || Text::new(String::new(), BTreeMap::new());
    let pods = valid.ordinals().map(|ordinal| names::pod(&valid.name, ordinal));
    Texts { all: pods.map(|pod| (pod, text())).collect(), ..Texts::default() }
}

/// All pods with their addresses, and the first that has none yet: a placeholder stands for that.
fn peers(facts: &Facts<'_>, valid: &Valid) -> (Vec<Peer>, Option<Closed>) {
    let moves = match valid.spec.network.addresses {
        Addresses::PodIp => true,
        Addresses::Service | Addresses::HostNetwork => false,
    };
    let mut lacking = None;
    let peer = |ordinal: i32| {
        let name = names::pod(&valid.name, ordinal);
        let address = address(facts, valid, ordinal).unwrap_or_else(|| {
            lacking.get_or_insert(Closed::Address { pod: name.clone() });
            render::address(ordinal)
        });
        let ip = moves.then(|| address.clone());
        Peer { name, ordinal, address, ip }
    };
    (valid.ordinals().map(peer).collect(), lacking)
}

/// The address by which others reach a pod.
pub fn address(facts: &Facts<'_>, valid: &Valid, ordinal: i32) -> Option<String> {
    match valid.spec.network.addresses {
        Addresses::Service => {
            facts.cluster_ip(&names::pod(&valid.name, ordinal)).map(str::to_string)
        }
        Addresses::PodIp | Addresses::HostNetwork => facts.there(ordinal)?.address.clone(),
    }
}

fn make(
    facts: &Facts<'_>,
    valid: &Valid,
    (config, templates): (&Config, &Templates),
    base: &Base<'_>,
    nodes: Vec<Peer>,
    draft: &mut Draft,
) -> Texts {
    let mut texts = Texts::default();
    // What a dependency will say is not guessed; that it is missing is said elsewhere.
    let Some(services) = base.services() else {
        return Texts { made: Made::Unknown, ..texts };
    };
    let seen = services.iter().map(|(d, s)| (d.alias(), dependency(d.kind, &d.name, s)));
    let ports = valid.spec.network.ports.iter().map(|p| (p.name.clone(), p.port));
    let mut variables = Variables {
        own: None,
        group: None,
        ports: ports.collect(),
        parameters: config.parameters.clone(),
        component: valid.name.clone(),
        dependencies: seen.collect(),
        nodes: Some(nodes.clone()),
    };
    let mut room = Room::default();
    for Peer { name, ordinal, address, .. } in nodes {
        let there = facts.there(ordinal).and_then(|p| Some((p, p.address.clone()?)));
        // One that is not there yet is tried, so that it is known whether it will have one.
        let ip = there.as_ref().map_or_else(|| render::address(ordinal), |(_, ip)| ip.clone());
        let node = there.as_ref().map_or_else(
            || render::NODE.to_string(),
            |(pod, _)| pod.node.clone().unwrap_or_default(),
        );
        let key = there.as_ref().map(|(pod, ip)| key(config.key, pod, ip)).unwrap_or_default();
        variables.own = Some(Own { name: name.clone(), ordinal, address, ip, node });
        match Text::rendered(templates, &variables, (key, &name), draft) {
            None => texts.made = Made::NotAll,
            Some(text) if room.takes(&text, draft) => {
                if there.is_some() {
                    texts.all.insert(name, text);
                }
            }
            Some(_) => return Texts { made: Made::NotAll, ..Texts::default() },
        }
    }
    texts
}

/// The key of a pod's text.
pub fn key(of: ConfigKey, pod: &PodFact, ip: &str) -> String {
    match of {
        ConfigKey::PodName => pod.name.clone(),
        ConfigKey::PodIp => key_of(ip),
    }
}

/// Texts that have changed from outside wait for a dependency that comes or goes.
fn hold_back(
    facts: &Facts<'_>,
    valid: &Valid,
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
    for pod in changed {
        if let Some(text) = texts.all.get_mut(&pod.name) {
            text.time = time;
        }
    }
}

/// Does the map as it was read back have the files of every pod?
pub fn has_every_key(facts: &Facts<'_>, valid: &Valid, texts: &Texts) -> bool {
    let Some(config) = &valid.spec.config else {
        return true;
    };
    let Some(stored) = &facts.texts else {
        return false;
    };
    let has = |key: &str| {
        config.files.iter().all(|file| stored.contains_key(&key_of_file(key, &file.name)))
    };
    let mut pods = valid.ordinals().map(|ordinal| names::pod(&valid.name, ordinal));
    pods.all(|pod| texts.all.get(&pod).is_some_and(|text| has(&text.key)))
}

/// The map: the newest text of those who may have it, and for the others what is there.
fn write(
    facts: &Facts<'_>,
    valid: &Valid,
    (config, template): (&Config, &str),
    texts: &Texts,
    draft: &mut Draft,
) -> Made {
    let stored = facts.texts.clone().unwrap_or_default();
    let (mut data, mut keys) = (BTreeMap::new(), BTreeSet::new());
    // One that runs although it is not wanted any more keeps its text until it ends.
    let left = facts.pods.iter().map(|pod| pod.ordinal).filter(|o| *o >= valid.spec.replicas);
    for ordinal in valid.ordinals().chain(left) {
        let name = names::pod(&valid.name, ordinal);
        let newest = texts.all.get(&name).filter(|text| text.time == Timing::Now);
        if let Some(text) = newest {
            data.extend(text.data());
            keys.insert(text.key.clone());
            continue;
        }
        let pod = facts.there(ordinal);
        let key = match config.key {
            ConfigKey::PodName => Some(name),
            ConfigKey::PodIp => pod.and_then(|p| p.address.as_deref()).map(key_of),
        };
        let Some(key) = key else { continue };
        let kept = stored.iter().filter(|(k, _)| file_of_key(&key, k).is_some());
        data.extend(kept.map(|(k, v)| (k.clone(), v.clone())));
        keys.insert(key);
    }
    if let Some(set) = facts.set.as_ref().filter(|set| set.template != template) {
        let left = mounted::left(&set.object, facts.pods.iter(), &keys);
        mounted::leave(&mut data, &stored, &left);
    }
    write_map(facts.snapshot, valid.owner(), (&data, facts.texts.as_ref()), draft)
}
