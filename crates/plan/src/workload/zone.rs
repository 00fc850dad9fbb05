//! Pinning a pod template to a zone.

use serde_json::{Value, json};

/// Require the node label `label` to have the value `zone`, beside whatever
/// node affinity the template has.
///
/// Node selector terms are alternatives: the zone must be added to each of
/// them, because one more term would let the pods go elsewhere. A term without
/// any requirement matches no node and is left as it is.
pub fn pin(template: &mut Value, label: &str, zone: &str) {
    let requirement = json!({ "key": label, "operator": "In", "values": [zone] });
    let required = &mut template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = &mut required["nodeSelectorTerms"];
    match terms.as_array_mut().filter(|terms| !terms.is_empty()) {
        None => *terms = json!([{ "matchExpressions": [requirement] }]),
        Some(terms) => {
            for term in terms.iter_mut().filter(|t| is_requirement(t)) {
                match term["matchExpressions"].as_array_mut() {
                    Some(all) => all.push(requirement.clone()),
                    None => term["matchExpressions"] = json!([requirement]),
                }
            }
        }
    }
}

fn is_requirement(term: &Value) -> bool {
    ["matchExpressions", "matchFields"]
        .iter()
        .any(|field| term[*field].as_array().is_some_and(|all| !all.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(template: &Value) -> &Value {
        &template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"]
    }

    #[test]
    fn a_template_without_affinity_gets_the_zone() {
        let mut template = json!({ "spec": {} });
        pin(&mut template, "zone", "a");
        assert_eq!(
            terms(&template),
            &json!([{ "matchExpressions": [{ "key": "zone", "operator": "In", "values": ["a"] }] }])
        );
    }

    #[test]
    fn the_zone_is_required_in_every_alternative() {
        let own = json!({ "key": "disk", "operator": "Exists" });
        let field = json!({ "key": "metadata.name", "operator": "In", "values": ["n1"] });
        let mut template = json!({ "spec": { "affinity": {
            "podAntiAffinity": { "kept": true },
            "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
                { "matchExpressions": [own] }, { "matchFields": [field] }, {}
            ] } }
        } } });
        pin(&mut template, "zone", "a");
        let zone = json!({ "key": "zone", "operator": "In", "values": ["a"] });
        assert_eq!(
            terms(&template),
            &json!([
                { "matchExpressions": [own, zone] },
                { "matchFields": [field], "matchExpressions": [zone] },
                {}
            ])
        );
        assert_eq!(template["spec"]["affinity"]["podAntiAffinity"]["kept"], json!(true));
    }
}
