//! The CustomResourceDefinitions, made from the types. Nothing is written by
//! hand: the chart's copies and the reference pages come from here.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_core::CustomResourceExt;
use serde_json::{Map, Value};

use crate::labels;

/// All kinds, in the order in which they are documented.
pub fn all() -> Vec<CustomResourceDefinition> {
    vec![
        finished(crate::CassandraCluster::crd()),
        finished(crate::CassandraMember::crd()),
        finished(crate::OperatorConfig::crd()),
    ]
}

/// The schema of a definition's only version, as JSON.
pub fn schema(definition: &CustomResourceDefinition) -> Value {
    let schema = definition
        .spec
        .versions
        .first()
        .and_then(|v| v.schema.as_ref());
    serde_json::to_value(schema.and_then(|s| s.open_api_v3_schema.as_ref())).unwrap_or(Value::Null)
}

fn finished(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    definition.metadata.labels =
        Some([(labels::APP_NAME.to_string(), labels::PALLADION.to_string())].into());
    // An uninstalled chart must not take the definitions, and with them every ring, along.
    definition.metadata.annotations =
        Some([("helm.sh/resource-policy".to_string(), "keep".to_string())].into());
    let mut schema = schema(&definition);
    bound(&mut schema);
    if let Some(version) = definition.spec.versions.first_mut()
        && let Ok(props) = serde_json::from_value(schema)
    {
        version.schema = Some(
            k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceValidation {
                open_api_v3_schema: Some(props),
            },
        );
    }
    definition
}

fn bound(_schema: &mut Value) {
    let _ = Map::<String, Value>::new();
}
