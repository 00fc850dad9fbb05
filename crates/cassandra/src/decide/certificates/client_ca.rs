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

pub(super) fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let trust = authorities::trust(facts, Purpose::Client);
    if !trust.is_empty() {
        let object = build::client_ca(valid, &trust);
        apply(facts, kinds::CONFIG_MAP, object, What::ClientCa, None, draft);
    }
}
