//! What a spec leaves out of authentication and TLS. It is settled when a ring is new and stays:
//! a newer operator changes no ring that runs. Whoever reads the spec of the facts reads it with
//! what is settled in its place.

use super::Facts;
use crate::resources as kinds;
use palladion_api::cluster::{
    Auth, AuthMode, CassandraClusterSpec, CertificateSource, ClientTls, ClientTlsMode,
    InternodeCertificates, InternodeTls, InternodeTlsMode, Mode, Settled,
};
use palladion_api::labels;
use palladion_plan::{ObjectKey, Observed};
use serde_json::Value;
use std::collections::BTreeMap;

/// The line whose servers read no PEM files.
pub const WITHOUT_PEM: &str = "4.0";
/// What `auth` sets.
pub const OF_AUTH: [&str; 3] = ["authenticator", "authorizer", "role_manager"];
/// What `tls.client` sets.
pub const OF_CLIENT_TLS: [&str; 1] = ["client_encryption_options"];
/// What `tls.internode` sets.
pub const OF_INTERNODE_TLS: [&str; 1] = ["server_encryption_options"];

/// Settle it, and put it into the spec where that says nothing.
pub fn settle(facts: &mut Facts<'_>) {
    facts.settled = settled(facts);
    let Some(settled) = facts.settled.clone() else {
        return;
    };
    let by_hand = |names: &[&str]| is_by_hand(facts, names);
    let (auth, client, internode) =
        (by_hand(&OF_AUTH), by_hand(&OF_CLIENT_TLS), by_hand(&OF_INTERNODE_TLS));
    let spec = &mut facts.spec;
    if spec.auth.is_none() && !auth {
        spec.auth = of_auth(&settled);
    }
    if client_is_absent(spec) && !client {
        spec.tls.get_or_insert_default().client = of_client(&settled);
    }
    if internode_is_absent(spec) && !internode {
        spec.tls.get_or_insert_default().internode = of_internode(&settled);
    }
    if spec.tls.as_ref().is_some_and(|tls| tls.client.is_none() && tls.internode.is_none()) {
        spec.tls = None;
    }
}

/// What is on record; else what the claims say; else, where there is nothing of a ring yet, what
/// this release has as its defaults. Older rings have nothing settled. It goes on record before
/// anything is created, so that a claim without it is never that of a new ring.
fn settled(facts: &Facts<'_>) -> Option<Settled> {
    if facts.spec.mode == Mode::Scylla {
        return None;
    }
    if let Some(security) = &facts.status.security {
        return Some(security.defaults.clone());
    }
    let is_new =
        facts.status.initialization.is_none() && facts.members.is_empty() && facts.sets.is_empty();
    of_claims(facts).or_else(|| is_new.then(|| of_new(&facts.spec)))
}

/// The strongest that the claims of its members say.
fn of_claims(facts: &Facts<'_>) -> Option<Settled> {
    let claims = facts.members.values().filter_map(|m| m.claim.as_ref());
    let written = claims.filter_map(|claim| {
        serde_json::from_str::<Settled>(claim.object.meta.annotations.get(labels::SECURITY)?).ok()
    });
    written.reduce(|one, other| Settled {
        auth: match (one.auth, other.auth) {
            (AuthMode::Off, AuthMode::Off) => AuthMode::Off,
            (AuthMode::Password, _) | (_, AuthMode::Password) => AuthMode::Password,
        },
        client_tls: match (one.client_tls, other.client_tls) {
            (ClientTlsMode::Off, weaker) | (weaker, ClientTlsMode::Off) => weaker,
            (ClientTlsMode::Require, _) | (_, ClientTlsMode::Require) => ClientTlsMode::Require,
            (ClientTlsMode::Optional, ClientTlsMode::Optional) => ClientTlsMode::Optional,
        },
        internode_tls: one.internode_tls.max(other.internode_tls),
    })
}

/// As a claim says it.
pub fn on_claim(settled: &Settled) -> String {
    serde_json::to_string(settled).expect("should serialise: it is three words")
}

/// What a new ring has.
fn of_new(spec: &CassandraClusterSpec) -> Settled {
    let (client_tls, internode_tls) = match spec.version.starts_with(WITHOUT_PEM) {
        true => (ClientTlsMode::Off, InternodeTlsMode::Off),
        false => (ClientTlsMode::Require, InternodeTlsMode::Require),
    };
    Settled { auth: AuthMode::Password, client_tls, internode_tls }
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
            Some(InternodeTls { mode, certificates: Some(InternodeCertificates::default()) })
        }
    }
}

fn client_is_absent(spec: &CassandraClusterSpec) -> bool {
    spec.tls.as_ref().is_none_or(|tls| tls.client.is_none())
}

fn internode_is_absent(spec: &CassandraClusterSpec) -> bool {
    spec.tls.as_ref().is_none_or(|tls| tls.internode.is_none())
}

/// Does the user set one of these settings of the server by hand? That is a choice, too.
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
