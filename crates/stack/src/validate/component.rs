//! A Component that can be carried out.

use super::template;
use crate::owner::Owner;
use crate::render::{Problem, Templates, Variables, placeholders};
use crate::resources::COMPONENT;
use crate::words::refusal::Refusal;
use palladion_api::ComponentSpec;
use palladion_api::component::names;
use palladion_api::gate::STATUS;
use palladion_api::ids::Uid;
use palladion_api::staged::{Addresses, Config, ReloadPolicy};
use palladion_plan::workload::config;
use palladion_plan::{Meta, hash};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The default image of the agent, among the settings of the process.
pub const AGENT_IMAGE: &str = "agentImage";

/// An address for documentation that no placeholder has.
const MOVED: &str = "198.51.100.1";

/// Labels and annotations with this prefix are the operator's.
const OUR_PREFIX: &str = "palladion.dev/";

/// A spec that can be carried out.
#[derive(Clone, Debug)]
pub struct Valid {
    /// Name of the owner.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its uid.
    pub uid: Uid,
    /// The spec.
    pub spec: ComponentSpec,
    /// The templates of its files; `None` = it has no configuration.
    pub templates: Option<Templates>,
    /// The agent's image of this release.
    pub agent_image: String,
    /// Hash of what it says itself of its texts.
    pub inputs: String,
}

impl Valid {
    /// Whom its objects belong to.
    pub fn owner(&self) -> Owner<'_> {
        Owner {
            resource: COMPONENT,
            label: names::OWNER,
            name: &self.name,
            namespace: &self.namespace,
            uid: &self.uid,
        }
    }

    /// Ordinals of the pods that are wanted.
    pub fn ordinals(&self) -> std::ops::Range<i32> {
        0..self.spec.replicas
    }
}

/// Parse a spec, or say why it cannot be carried out.
///
/// # Errors
/// Which field, why, and how to comply.
pub fn validate(
    meta: &Meta,
    spec: &ComponentSpec,
    settings: &BTreeMap<String, String>,
) -> Result<Valid, Refusal> {
    if !config::has_containers(&spec.template) {
        return Err(Refusal::NoContainers);
    }
    template::check(&spec.template)?;
    reserved(&spec.template["metadata"])?;
    // As admission has it, for objects that are older than the rule.
    let moves = spec.network.addresses == Addresses::PodIp;
    if spec.config.is_some() && moves && spec.reload.policy == ReloadPolicy::Restart {
        return Err(Refusal::RestartWithPodIps);
    }
    let agent_image = settings.get(AGENT_IMAGE).cloned().ok_or(Refusal::NoAgentImage)?;
    let templates = spec.config.as_ref().map(|c| tried(meta, spec, c)).transpose();
    let templates = templates.map_err(|Problem { file, line, fault }| match line {
        Some(line) => Refusal::TemplateLine { file, line, fault },
        None => Refusal::Template { file, fault },
    })?;
    let moves_at_times = spec.network.addresses == Addresses::HostNetwork;
    if moves_at_times
        && spec.reload.policy == ReloadPolicy::Restart
        && templates.as_ref().is_some_and(|templates| names_peers(meta, spec, templates))
    {
        return Err(Refusal::RestartWithNodeAddresses);
    }
    Ok(Valid {
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        uid: meta.uid.clone(),
        templates,
        agent_image,
        inputs: inputs(spec),
        spec: spec.clone(),
    })
}

/// The templates, once they were rendered for a trial.
fn tried(meta: &Meta, spec: &ComponentSpec, config: &Config) -> Result<Templates, Problem> {
    let templates = Templates::parse(&config.files)?;
    for ordinal in ordinals(spec) {
        if let Some(variables) = trial_of(meta, spec, config, ordinal) {
            templates.render(&variables)?;
        }
    }
    Ok(templates)
}

/// Whose texts are tried: the first two pods and the last.
fn ordinals(spec: &ComponentSpec) -> BTreeSet<i32> {
    [0, 1, spec.replicas - 1].into()
}

/// Variables for a trial of this pod; `None` = there is none of that number.
fn trial_of(meta: &Meta, spec: &ComponentSpec, config: &Config, ordinal: i32) -> Option<Variables> {
    let mut here = trial(meta, spec, config);
    let peer = here.nodes.iter().flatten().find(|node| node.ordinal == ordinal)?.clone();
    if let Some(own) = &mut here.own {
        (own.name, own.ordinal) = (peer.name, ordinal);
        (own.address, own.ip) = (peer.address.clone(), peer.address);
    }
    Some(here)
}

fn trial(meta: &Meta, spec: &ComponentSpec, config: &Config) -> Variables {
    let (ports, on) = (&spec.network.ports, &spec.depends_on);
    let mut trial = placeholders(&meta.name, spec.replicas, ports, &config.parameters, on);
    match spec.network.addresses {
        Addresses::PodIp => {}
        // As in life: peers have none there.
        Addresses::Service | Addresses::HostNetwork => {
            trial.nodes.iter_mut().flatten().for_each(|node| node.ip = None);
        }
    }
    trial
}

/// Are the addresses of other pods in the text of one of those that are tried?
fn names_peers(meta: &Meta, spec: &ComponentSpec, templates: &Templates) -> bool {
    let Some(config) = &spec.config else {
        return false;
    };
    ordinals(spec).into_iter().any(|ordinal| {
        let Some(here) = trial_of(meta, spec, config, ordinal) else {
            return false;
        };
        let mut moved = here.clone();
        let others = moved.nodes.iter_mut().flatten().filter(|node| node.ordinal != ordinal);
        others.for_each(|node| node.address = MOVED.to_string());
        templates.render(&here).ok() != templates.render(&moved).ok()
    })
}

pub(super) fn reserved(metadata: &Value) -> Result<(), Refusal> {
    for (field, words) in [("labels", "label"), ("annotations", "annotation")] {
        let keys = metadata[field].as_object().into_iter().flat_map(|map| map.keys());
        for key in keys {
            if key.starts_with(OUR_PREFIX) {
                let key = key.clone();
                return Err(Refusal::OurPrefix { field: words, key, prefix: OUR_PREFIX });
            }
            if field == "labels" && key == STATUS {
                return Err(Refusal::StatusLabel);
            }
        }
    }
    Ok(())
}

/// Hash of all that goes into the texts and stands in the spec.
fn inputs(spec: &ComponentSpec) -> String {
    let config = spec.config.as_ref().map(|c| json!([c.parameters, c.files]));
    let aliases: Vec<Value> =
        spec.depends_on.iter().map(|d| json!([d.kind.as_str(), d.name, d.alias()])).collect();
    hash::of(&json!([config, spec.network.ports, aliases]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(change: impl FnOnce(&mut Value)) -> Result<Valid, Refusal> {
        let mut spec = json!({
            "template": { "spec": { "containers": [{ "name": "api", "image": "config:1" }] } },
            "network": { "ports": [{ "name": "http", "port": 8082 }] },
            "dependsOn": [{ "kind": "CassandraCluster", "name": "my-ring" }],
            "config": { "files": [{ "name": "a", "template": "{{ dependencies.my_ring.ports.cql }}" }] },
        });
        change(&mut spec);
        let spec: ComponentSpec = serde_json::from_value(spec).expect("is a spec");
        let meta = Meta { name: "config".into(), ..Meta::default() };
        validate(&meta, &spec, &[(AGENT_IMAGE.to_string(), "agent:1".to_string())].into())
    }

    fn refusal(change: impl FnOnce(&mut Value)) -> Refusal {
        verdict(change).expect_err("should be refused")
    }

    #[test]
    fn a_template_is_tried_against_every_declared_alias() {
        assert!(verdict(|_| {}).is_ok());
        let typo = refusal(|s| {
            s["config"]["files"][0]["template"] = json!("a\n{{ dependencies.my_rin.nodes }}")
        });
        assert!(matches!(typo, Refusal::TemplateLine { file, line: 2, .. } if file == "a"));
        let alias = refusal(|s| s["dependsOn"][0]["alias"] = json!("ring"));
        assert!(matches!(alias, Refusal::TemplateLine { line: 1, .. }), "the alias has changed");
    }

    #[test]
    fn labels_of_the_operator_are_refused() {
        let label = |key: &str| {
            let key = key.to_string();
            refusal(move |s| s["template"]["metadata"] = json!({ "labels": { key: "x" } }))
        };
        assert_eq!(label("status"), Refusal::StatusLabel);
        assert!(matches!(label("palladion.dev/gate"), Refusal::OurPrefix { .. }));
    }

    #[test]
    fn an_address_that_moves_and_a_restart_do_not_go_together() {
        let moved = |policy: &str| {
            let policy = json!({ "policy": policy });
            verdict(move |s| {
                s["network"] = json!({ "addresses": "PodIP" });
                s["reload"] = policy;
            })
        };
        assert_eq!(moved("Restart").err(), Some(Refusal::RestartWithPodIps));
        assert!(moved("Recreate").is_ok());
    }

    #[test]
    fn an_address_that_may_move_and_a_restart_go_together_where_no_peer_is_named() {
        let of = |template: &str, policy: &str, replicas: i32| {
            let (template, policy) = (json!(template), json!({ "policy": policy }));
            verdict(move |s| {
                s["network"]["addresses"] = json!("HostNetwork");
                s["reload"] = policy;
                s["replicas"] = json!(replicas);
                s["config"]["files"][0]["template"] = template;
            })
        };
        let all = "{% for node in nodes %}{{ node.address }} {% endfor %}";
        assert_eq!(of(all, "Restart", 3).err(), Some(Refusal::RestartWithNodeAddresses));
        for policy in ["Recreate", "Signal"] {
            assert!(of(all, policy, 3).is_ok(), "{policy}");
        }
        assert!(of(all, "Restart", 1).is_ok(), "it has no peer");
        for harmless in [
            "{{ self.address }} {{ nodes | length }}",
            "{% for node in nodes %}{{ node.name }} {% endfor %}",
            "{{ dependencies.my_ring.addresses | join(',') }}",
        ] {
            assert!(of(harmless, "Restart", 3).is_ok(), "{harmless}");
        }
        let of_one = "{% if self.ordinal == 1 %}{{ nodes[0].address }}{% endif %}";
        assert_eq!(of(of_one, "Restart", 3).err(), Some(Refusal::RestartWithNodeAddresses));
    }

    #[test]
    fn the_inputs_are_what_the_texts_are_made_from() {
        let of = |change: fn(&mut Value)| verdict(change).map(|v| v.inputs).expect("is valid");
        let before = of(|_| {});
        assert_eq!(before, of(|s| s["replicas"] = json!(7)));
        assert_eq!(before, of(|s| s["template"]["spec"]["containers"][0]["image"] = json!("b")));
        assert_ne!(before, of(|s| s["config"]["parameters"] = json!({ "a": 1 })));
        assert_ne!(before, of(|s| s["network"]["ports"][0]["port"] = json!(1)));
    }

    #[test]
    fn peers_have_an_address_of_their_own_in_the_trial_where_they_have_it_in_life() {
        let with = |addresses: &str| {
            verdict(|spec| {
                spec["network"]["addresses"] = json!(addresses);
                spec["reload"] = json!({ "policy": "Recreate" });
                spec["config"]["files"][0]["template"] = json!("{{ nodes[0].ip }}");
            })
        };
        assert!(with("PodIP").is_ok());
        for addresses in ["Service", "HostNetwork"] {
            assert!(matches!(with(addresses), Err(Refusal::TemplateLine { .. })), "{addresses}");
        }
    }
}
