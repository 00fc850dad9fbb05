//! Authentication, TLS, the audit log and change data capture: said in one place, and by servers
//! that know them.

use super::{Input, Refusal, client_tls, internode};
use crate::facts::security::{
    OF_AUDIT, OF_AUTH, OF_CDC, OF_CLIENT_TLS, OF_INTERNODE_TLS, WITHOUT_PEM,
};
use crate::words::refusal::{BadSetting, Place};
use palladion_api::cluster::{
    AuditCategory, AuthMode, CassandraClusterSpec, ClientTlsMode, InternodeTlsMode, Mode,
    is_keyspace,
};
use palladion_plan::words::Quoted;
use serde_json::Value;
use std::collections::BTreeMap;

/// What of it this server cannot do.
pub fn check(spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    if spec.mode == Mode::Scylla && spec.auth.is_some() {
        return Err(Refusal::AuthOfScylla);
    }
    if spec.mode == Mode::Scylla && spec.tls.is_some() {
        return Err(Refusal::TlsOfScylla);
    }
    check_audit(spec)?;
    check_internode(spec)?;
    let Some(client) = client_tls(spec).filter(|tls| tls.mode != ClientTlsMode::Off) else {
        return Ok(());
    };
    if spec.version.starts_with(WITHOUT_PEM) {
        return Err(Refusal::ClientTlsOf40);
    }
    let source = client.certificates.as_ref();
    match source.map(|source| (source.operator.is_some(), source.secret_name.is_some())) {
        Some((true, false) | (false, true)) => Ok(()),
        Some((true, true)) => Err(Refusal::TwoSources),
        Some((false, false)) | None => Err(Refusal::NoCertificates),
    }
}

fn check_audit(spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    let Some(audit) = &spec.audit else { return Ok(()) };
    if spec.mode == Mode::Scylla {
        return Err(Refusal::AuditOfScylla);
    }
    let categories = &audit.categories;
    let is_twice =
        |one: &&AuditCategory| categories.iter().filter(|other| other == one).count() > 1;
    if let Some(category) = categories.iter().find(is_twice) {
        return Err(Refusal::AuditCategoryTwice { category: category.as_str() });
    }
    match audit.excluded_keyspaces.iter().find(|name| !is_keyspace(name)) {
        Some(name) => Err(Refusal::AuditKeyspace { name: Quoted(name.clone()) }),
        None => Ok(()),
    }
}

fn check_internode(spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    let Some(internode) = internode(spec).filter(|tls| tls.mode != InternodeTlsMode::Off) else {
        return Ok(());
    };
    if spec.version.starts_with(WITHOUT_PEM) {
        return Err(Refusal::InternodeTlsOf40);
    }
    internode.certificates.as_ref().map_or(Err(Refusal::NoInternodeCertificates), |_| Ok(()))
}

/// What `auth`, `tls`, `audit` or `cdc` sets is not set by hand as well.
pub fn unambiguous(
    input: &Input<'_>,
    config: &BTreeMap<String, Value>,
    place: &Place,
) -> Result<(), BadSetting> {
    let spec = input.spec;
    let auth = spec.auth.as_ref().map(|_| ("auth", OF_AUTH.as_slice()));
    let tls = client_tls(spec).map(|_| ("tls.client", OF_CLIENT_TLS.as_slice()));
    // A ring that is on its way back has them, whether the spec still has the field or not.
    let is_set = internode(spec).is_some() || input.internode_tls != InternodeTlsMode::Off;
    let internode = is_set.then_some(("tls.internode", OF_INTERNODE_TLS.as_slice()));
    let audit = spec.audit.as_ref().map(|_| ("audit", OF_AUDIT.as_slice()));
    let cdc = spec.cdc.as_ref().map(|_| ("cdc", OF_CDC.as_slice()));
    for (field, names) in [auth, tls, internode, audit, cdc].into_iter().flatten() {
        if let Some(key) = config.keys().find(|key| names.contains(&key.as_str())) {
            return Err(BadSetting::SetByField { key: key.clone(), place: place.clone(), field });
        }
    }
    // Agents that cannot connect cannot close the default superuser.
    let asks = spec.auth.as_ref().is_some_and(|auth| auth.mode == AuthMode::Password);
    let by_hand = config.keys().find(|key| asks && OF_CLIENT_TLS.contains(&key.as_str()));
    by_hand
        .map_or(Ok(()), |key| Err(BadSetting::TlsByHand { key: key.clone(), place: place.clone() }))
}
