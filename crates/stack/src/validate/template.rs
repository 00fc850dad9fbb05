//! The shape of a pod template, as far as the operator adds something to it. Kubernetes
//! checks the rest when the set is written.

use crate::words::refusal::{Refusal, Shape};
use serde_json::Value;

/// Is everything that the operator adds to of the shape that Kubernetes gives it?
///
/// # Errors
/// The first field that is not.
pub fn check(template: &Value) -> Result<(), Refusal> {
    is(Shape::Map, template, &["metadata"])?;
    for field in ["labels", "annotations"] {
        is(Shape::Map, template, &["metadata", field])?;
    }
    is(Shape::Map, template, &["spec"])?;
    for list in ["initContainers", "containers", "volumes"] {
        is(Shape::List, template, &["spec", list])?;
        for item in template["spec"][list].as_array().into_iter().flatten() {
            if !item.is_object() {
                return Err(refused(Shape::Maps, &["spec", list]));
            }
            for inner in ["env", "volumeMounts"] {
                if !fits(Shape::List, &item[inner]) {
                    return Err(refused(Shape::List, &["spec", list, inner]));
                }
            }
        }
    }
    is(Shape::List, template, &["spec", "tolerations"])?;
    is(Shape::Map, template, &["spec", "nodeSelector"])?;
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let affinity = ["spec", "affinity", "podAntiAffinity", required];
    is(Shape::Map, template, &affinity[..2])?;
    is(Shape::Map, template, &affinity[..3])?;
    is(Shape::List, template, &affinity)
}

fn is(shape: Shape, template: &Value, path: &[&str]) -> Result<(), Refusal> {
    let at = path.iter().fold(template, |at, field| &at[*field]);
    if fits(shape, at) { Ok(()) } else { Err(refused(shape, path)) }
}

fn fits(shape: Shape, value: &Value) -> bool {
    value.is_null()
        || match shape {
            Shape::Map => value.is_object(),
            Shape::List | Shape::Maps => value.is_array(),
        }
}

fn refused(shape: Shape, path: &[&str]) -> Refusal {
    Refusal::Shape { field: path.join("."), shape }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_kubernetes_takes_is_taken() {
        let pod = json!({
            "metadata": { "labels": { "a": "b" }, "annotations": null },
            "spec": {
                "initContainers": [{ "name": "i", "env": [] }],
                "containers": [{ "name": "c", "volumeMounts": [{}], "env": null }],
                "volumes": [{ "name": "v", "emptyDir": {} }],
                "nodeSelector": { "a": "b" },
                "affinity": { "nodeAffinity": {}, "podAntiAffinity": {} },
                "tolerations": [{ "operator": "Exists" }],
            },
        });
        assert_eq!(check(&pod), Ok(()));
        assert_eq!(check(&json!({ "spec": { "containers": [{}] } })), Ok(()));
    }

    #[test]
    fn another_shape_is_refused_by_its_field() {
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let mut seen = Vec::new();
        for wrong in [
            json!({ "metadata": [] }),
            json!({ "metadata": { "labels": [] } }),
            json!({ "metadata": { "annotations": "x" } }),
            json!({ "spec": [] }),
            json!({ "spec": { "containers": {} } }),
            json!({ "spec": { "containers": ["x"] } }),
            json!({ "spec": { "containers": [{ "env": {} }] } }),
            json!({ "spec": { "initContainers": [{ "volumeMounts": "x" }] } }),
            json!({ "spec": { "volumes": {} } }),
            json!({ "spec": { "tolerations": {} } }),
            json!({ "spec": { "nodeSelector": [] } }),
            json!({ "spec": { "affinity": [] } }),
            json!({ "spec": { "affinity": { "podAntiAffinity": [] } } }),
            json!({ "spec": { "affinity": { "podAntiAffinity": { required: {} } } } }),
        ] {
            let refusal = check(&wrong).expect_err("should be refused").to_string();
            assert!(!seen.contains(&refusal), "{refusal} says of two fields the same");
            seen.push(refusal);
        }
        assert_eq!(seen[3], "spec.template.spec must be a map");
        assert_eq!(seen[5], "spec.template.spec.containers must be a list of maps");
    }
}
