//! The ConfigMap from which clients take the authorities that they trust.

use super::authorities;
use crate::build;
use crate::decide::draft::Draft;
use crate::decide::objects::apply::apply;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::objects::What;
use palladion_api::member::Purpose;
use palladion_api::names::{self, CLIENT_CA_FILE};

/// Is this certificate in the ConfigMap, so that clients can read it?
pub(super) fn has(facts: &Facts<'_>, certificate: &str) -> bool {
    let name = names::client_ca(&facts.snapshot.owner.meta.name);
    let maps = facts.objects(kinds::CONFIG_MAP).iter().filter(|map| map.meta.name == name);
    let data = maps.filter_map(|map| map.at("/data")?.get(CLIENT_CA_FILE)?.as_str());
    data.into_iter().any(|text| text.contains(certificate))
}

pub(super) fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let trust = authorities::trust(facts, Purpose::Client);
    if !trust.is_empty() {
        let object = build::client_ca(valid, &trust);
        apply(facts, kinds::CONFIG_MAP, object, What::ClientCa, None, draft);
    }
}
