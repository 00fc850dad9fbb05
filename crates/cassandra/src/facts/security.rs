//! What a spec leaves out of authentication and TLS. It is settled when a ring is new and stays:
//! a newer operator changes no ring that runs. Whoever reads the spec of the facts reads it with
//! what is settled in its place.

use super::{Facts, MemberFact};
use crate::resources as kinds;
use palladion_api::cluster::{
    Auth, AuthMode, CassandraClusterSpec, CertificateSource, ClientTls, ClientTlsMode,
    InternodeCertificates, InternodeTls, InternodeTlsMode, Mode, Settled,
};
use palladion_api::labels;
use palladion_api::member::Guard;
use palladion_plan::{ObjectKey, Observed};
use serde_json::Value;
use std::collections::BTreeMap;

/// The line whose servers read no PEM files.
pub const WITHOUT_PEM: &str = "4.0";
/// What `auth` sets.
pub const OF_AUTH: [&str; 3] = ["authenticator", "authorizer", "role_manager"];
/// What `tls.client` sets.
pub const OF_CLIENT_TLS: [&str; 1] = ["client_encryption_options"];
/// What `audit` sets.
pub const OF_AUDIT: [&str; 1] = ["audit_logging_options"];
/// What `cdc` sets, under its names of all lines.
pub const OF_CDC: [&str; 4] =
    ["cdc_enabled", "cdc_total_space", "cdc_total_space_in_mb", "cdc_block_writes"];
/// What `tls.internode` sets.
pub const OF_INTERNODE_TLS: [&str; 1] = ["server_encryption_options"];

/// Settle it, and put it into the spec where that says nothing.
pub fn settle(facts: &mut Facts<'_>) {
    facts.settled = settled(facts);
    let Some(settled) = facts.settled.clone() else {
        return;
    };
    let spec = &mut facts.spec;
    if spec.auth.is_none() {
        spec.auth = of_auth(&settled);
    }
    if client_is_absent(spec) && settled.client_tls != ClientTlsMode::Off {
        spec.tls.get_or_insert_default().client = of_client(&settled);
    }
    if internode_is_absent(spec) && settled.internode_tls != InternodeTlsMode::Off {
        spec.tls.get_or_insert_default().internode = of_internode(&settled);
    }
}

/// The strongest of what is on record and what the claims say; where there is nothing of a ring
/// yet, what this release has as its defaults. Older rings have nothing settled. It goes on
/// record before anything is created. What no server of a member is started without is settled
/// as well, so that leaving it out lowers nothing.
fn settled(facts: &Facts<'_>) -> Option<Settled> {
    if facts.spec.mode == Mode::Scylla {
        return None;
    }
    let record = facts.status.security.as_ref().map(|security| security.defaults.clone());
    let known = [record, of_claims(facts), of_floors(facts)].into_iter().flatten();
    let is_new = || (!is_begun(facts)).then(|| of_new(facts));
    known.reduce(strongest).or_else(is_new)
}

/// Is there a ring, or was one begun to be made? What has a host ID is on every claim of a ring,
/// whoever has made it.
fn is_begun(facts: &Facts<'_>) -> bool {
    let has_host_id = |m: &MemberFact| m.claim.as_ref().is_some_and(|c| c.host_id.is_some());
    facts.status.initialization.is_some()
        || facts.ring_exists()
        || facts.members.values().any(has_host_id)
}

/// What servers of the members are not started without.
fn of_floors(facts: &Facts<'_>) -> Option<Settled> {
    let floors = facts.members.values().filter_map(MemberFact::security_floor);
    let mut all: Vec<Guard> = floors.flatten().copied().collect();
    all.retain(|guard| !matches!(guard, Guard::Unknown(_)));
    let has = |guard: Guard| all.contains(&guard);
    (!all.is_empty()).then(|| Settled {
        auth: if has(Guard::Password) { AuthMode::Password } else { AuthMode::Off },
        client_tls: match has(Guard::ClientTls) {
            true => ClientTlsMode::Require,
            false => ClientTlsMode::Off,
        },
        internode_tls: match has(Guard::InternodeTls) {
            true => InternodeTlsMode::Require,
            false => InternodeTlsMode::Off,
        },
    })
}

fn strongest(one: Settled, other: Settled) -> Settled {
    Settled {
        auth: one.auth.max(other.auth),
        client_tls: one.client_tls.max(other.client_tls),
        internode_tls: one.internode_tls.max(other.internode_tls),
    }
}

/// The strongest that the claims of its members say. What cannot be read may say anything.
fn of_claims(facts: &Facts<'_>) -> Option<Settled> {
    let claims = facts.members.values().filter_map(|m| m.claim.as_ref());
    let written = claims.filter_map(|claim| {
        let text = claim.object.meta.annotations.get(labels::SECURITY)?;
        Some(serde_json::from_str(text).unwrap_or(STRONGEST))
    });
    written.reduce(strongest)
}

const STRONGEST: Settled = Settled {
    auth: AuthMode::Password,
    client_tls: ClientTlsMode::Require,
    internode_tls: InternodeTlsMode::Require,
};

/// As a claim says it.
pub fn on_claim(settled: &Settled) -> String {
    serde_json::to_string(settled).expect("should serialise: it is three words")
}

/// What a new ring has: what its spec says now, also when it says nothing later. Encryption by
/// hand is a choice of the user; authentication by hand is none, because nobody would have a role.
fn of_new(facts: &Facts<'_>) -> Settled {
    let spec = &facts.spec;
    let has_pem = !spec.version.starts_with(WITHOUT_PEM);
    let is_ours = |names: &[&str]| has_pem && !is_by_hand(facts, names);
    let client = || match is_ours(&OF_CLIENT_TLS) {
        true => ClientTlsMode::Require,
        false => ClientTlsMode::Off,
    };
    let internode = || match is_ours(&OF_INTERNODE_TLS) {
        true => InternodeTlsMode::Require,
        false => InternodeTlsMode::Off,
    };
    let tls = spec.tls.as_ref();
    Settled {
        auth: spec.auth.as_ref().map_or(AuthMode::Password, |auth| auth.mode),
        client_tls: tls.and_then(|tls| tls.client.as_ref()).map_or_else(client, |tls| tls.mode),
        internode_tls: tls
            .and_then(|tls| tls.internode.as_ref())
            .map_or_else(internode, |tls| tls.mode),
    }
}

fn of_auth(settled: &Settled) -> Option<Auth> {
    match settled.auth {
        AuthMode::Off => None,
        mode @ AuthMode::Password => Some(Auth { mode, superuser_secret_name: None }),
    }
}

fn of_client(settled: &Settled) -> Option<ClientTls> {
    let certificates = CertificateSource { operator: Some(Default::default()), secret_name: None };
    match settled.client_tls {
        ClientTlsMode::Off => None,
        mode @ (ClientTlsMode::Optional | ClientTlsMode::Require) => {
            Some(ClientTls { mode, certificates: Some(certificates) })
        }
    }
}

fn of_internode(settled: &Settled) -> Option<InternodeTls> {
    match settled.internode_tls {
        InternodeTlsMode::Off => None,
        mode
        @ (InternodeTlsMode::Accept | InternodeTlsMode::Prefer | InternodeTlsMode::Require) => {
            let certificates = Some(InternodeCertificates::default());
            Some(InternodeTls { mode, certificates, ..InternodeTls::default() })
        }
    }
}

fn client_is_absent(spec: &CassandraClusterSpec) -> bool {
    spec.tls.as_ref().is_none_or(|tls| tls.client.is_none())
}

fn internode_is_absent(spec: &CassandraClusterSpec) -> bool {
    spec.tls.as_ref().is_none_or(|tls| tls.internode.is_none())
}

/// Does the user set one of these settings of the server by hand?
fn is_by_hand(facts: &Facts<'_>, names: &[&str]) -> bool {
    let is_one = |key: &String| names.contains(&key.as_str());
    let mut maps = facts.spec.datacenter.racks.iter().filter_map(|r| r.config_map_name.as_deref());
    facts.spec.config.keys().any(is_one)
        || maps.any(|name| of_config_map(facts, name).keys().any(is_one))
}

/// The settings in a ConfigMap of a rack. What cannot be read is refused elsewhere.
fn of_config_map(facts: &Facts<'_>, name: &str) -> BTreeMap<String, Value> {
    let namespace = &facts.snapshot.owner.meta.namespace;
    let key = ObjectKey::new(kinds::CONFIG_MAP, namespace, name);
    let Some(Observed::Known { value: Some(map), .. }) = facts.snapshot.references.get(&key) else {
        return BTreeMap::new();
    };
    let text = map.at("/data").and_then(|data| data.get("cassandra.yaml")?.as_str());
    text.and_then(|text| serde_yaml::from_str(text).ok()).unwrap_or_default()
}
