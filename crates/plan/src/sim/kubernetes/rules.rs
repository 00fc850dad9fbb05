//! What the API server refuses of the built-in kinds.

use crate::object::ObjectKey;
use crate::sim::kinds;
use crate::sim::store::Rule;
use serde_json::Value;

/// All of them.
pub const RULES: &[Rule] = &[fixed_set_fields, fixed_maps, fixed_addresses, claims_do_not_shrink];

/// A StatefulSet can change little more than replicas and template.
fn fixed_set_fields(key: &ObjectKey, old: Option<&Value>, new: &Value) -> Result<(), String> {
    let Some(old) = old.filter(|_| key.resource == kinds::STATEFUL_SET) else {
        return Ok(());
    };
    for field in ["serviceName", "podManagementPolicy", "selector", "volumeClaimTemplates"] {
        if old["spec"][field] != new["spec"][field] {
            return Err(format!(
                "spec: Forbidden: updates to statefulset spec for {field} are forbidden"
            ));
        }
    }
    Ok(())
}

fn fixed_maps(key: &ObjectKey, old: Option<&Value>, new: &Value) -> Result<(), String> {
    let Some(old) = old.filter(|_| key.resource == kinds::CONFIG_MAP) else {
        return Ok(());
    };
    if old["immutable"] == true && old["data"] != new["data"] {
        return Err("data: Forbidden: field is immutable when `immutable` is set".into());
    }
    Ok(())
}

fn fixed_addresses(key: &ObjectKey, old: Option<&Value>, new: &Value) -> Result<(), String> {
    let Some(old) = old.filter(|_| key.resource == kinds::SERVICE) else {
        return Ok(());
    };
    if old["spec"]["clusterIP"] != new["spec"]["clusterIP"] {
        return Err("spec.clusterIPs[0]: Invalid value: may not change once set".into());
    }
    Ok(())
}

fn claims_do_not_shrink(key: &ObjectKey, old: Option<&Value>, new: &Value) -> Result<(), String> {
    let Some(old) = old.filter(|_| key.resource == kinds::CLAIM) else {
        return Ok(());
    };
    let size = |claim: &Value| {
        claim.pointer("/spec/resources/requests/storage").and_then(crate::differ::quantity)
    };
    if size(new) < size(old) {
        return Err(
            "spec.resources.requests.storage: Forbidden: field can not be less than previous value"
                .into(),
        );
    }
    Ok(())
}
