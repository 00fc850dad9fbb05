//! What those that depend on this ring read of it (`status.service`). Observations
//! only, no decision is taken from them.

use super::{is_ready, is_stopped, size, views, wanted_by};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use palladion_api::CassandraClusterSpec;
use palladion_api::cluster::{AuthMode, ClientTlsMode};
use palladion_api::labels::ports;
use palladion_api::names;
use palladion_api::service::{MOST_NODES, ServiceNode, ServiceStatus};
use std::collections::BTreeMap;

/// The ring as a service; `valid` is `None` where the spec was refused.
pub fn of(facts: &Facts<'_>, valid: Option<&Valid>) -> ServiceStatus {
    let wanted = wanted(facts, valid);
    let ready: Vec<&MemberFact> = facts.joined().filter(|m| is_ready(m)).collect();
    // As the condition Available has it.
    let quorum = size(facts, i32::try_from(wanted).unwrap_or(i32::MAX)) / 2 + 1;
    let active = !is_stopped(facts) && views::together(facts, &ready) >= quorum;
    let cql = u16::try_from(ports::CQL).unwrap_or_default();
    ServiceStatus {
        active,
        wanted,
        ready: count(ready.len()),
        nodes: nodes(facts),
        ports: BTreeMap::from([("cql".to_string(), cql)]),
        attributes: attributes(&facts.snapshot.owner.meta.name, &facts.spec),
    }
}

/// What was refused asks for nobody: those count that were asked for before.
fn wanted(facts: &Facts<'_>, valid: Option<&Valid>) -> u32 {
    let of_spec = |members: i32| u32::try_from(members).unwrap_or_default();
    match (valid, &facts.status.service) {
        (Some(valid), _) => of_spec(valid.racks.iter().map(|rack| rack.members).sum()),
        (None, Some(known)) => known.wanted,
        (None, None) => of_spec(wanted_by(&facts.spec)),
    }
}

/// Members that have joined and are not leaving, whether they run or not.
fn nodes(facts: &Facts<'_>) -> Vec<ServiceNode> {
    let stays = |m: &&MemberFact| m.spec.as_ref().is_none_or(|spec| spec.intent.is_none());
    let node = |m: &MemberFact| {
        Some(ServiceNode { name: m.name.clone(), address: m.recorded_address()?.clone() })
    };
    let mut nodes: Vec<ServiceNode> = facts.joined().filter(stays).filter_map(node).collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes.truncate(MOST_NODES);
    nodes
}

/// What clients must know besides: names alone, which say nothing that a spec does not say.
fn attributes(cluster: &str, spec: &CassandraClusterSpec) -> BTreeMap<String, String> {
    let client = spec.tls.as_ref().and_then(|tls| tls.client.as_ref());
    let mode = client.map_or(ClientTlsMode::Off, |client| client.mode);
    let tls = match mode {
        ClientTlsMode::Off => "Off",
        ClientTlsMode::Optional => "Optional",
        ClientTlsMode::Require => "Require",
    };
    let is_signed = client
        .and_then(|client| client.certificates.as_ref())
        .is_some_and(|certificates| certificates.operator.is_some());
    let authority = (is_signed && mode != ClientTlsMode::Off).then(|| names::client_ca(cluster));
    let secret = spec.auth.as_ref().filter(|auth| auth.mode == AuthMode::Password).map(|auth| {
        auth.superuser_secret_name.clone().unwrap_or_else(|| names::superuser_secret(cluster))
    });
    let named = [
        ("datacenter", Some(spec.datacenter.name.clone())),
        ("tls", Some(tls.to_string())),
        ("caConfigMap", authority),
        ("superuserSecret", secret),
    ];
    named.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(more: &Value) -> BTreeMap<String, String> {
        let mut spec = json!({
            "version": "5.0.5",
            "datacenter": { "name": "dc1", "racks": [{ "name": "a", "members": 3 }] },
        });
        for (field, value) in more.as_object().into_iter().flatten() {
            spec[field] = value.clone();
        }
        attributes("ring", &serde_json::from_value(spec).expect("a spec"))
    }

    fn named(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        all.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
    }

    #[test]
    fn a_ring_that_is_open_names_nothing_to_mount() {
        let open = named(&[("datacenter", "dc1"), ("tls", "Off")]);
        assert_eq!(of(&json!({})), open);
        let off = json!({
            "auth": { "mode": "Off", "superuserSecretName": "people" },
            "tls": { "client": { "mode": "Off", "certificates": { "operator": {} } } },
        });
        assert_eq!(of(&off), open);
    }

    #[test]
    fn dependents_read_where_authority_and_password_are() {
        let signed = json!({
            "auth": { "mode": "Password" },
            "tls": { "client": { "mode": "Optional", "certificates": { "operator": {} } } },
        });
        let both = [
            ("datacenter", "dc1"),
            ("tls", "Optional"),
            ("caConfigMap", "ring-client-ca"),
            ("superuserSecret", "ring-superuser"),
        ];
        assert_eq!(of(&signed), named(&both));
    }

    #[test]
    fn what_a_user_brings_is_named_as_the_user_calls_it() {
        let brought = json!({
            "auth": { "mode": "Password", "superuserSecretName": "people" },
            "tls": { "client": { "mode": "Require", "certificates": { "secretName": "own" } } },
        });
        let own = [("datacenter", "dc1"), ("tls", "Require"), ("superuserSecret", "people")];
        assert_eq!(of(&brought), named(&own), "the authority is with whoever has signed");
    }
}
