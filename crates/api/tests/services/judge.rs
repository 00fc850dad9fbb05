//! The judge, and the kinds.

use crate::{offline, structural};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_core::cel::{CompiledSchema, Validator, apply_defaults, compile_schema};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A kind's schema, its rules compiled once.
pub struct Judge {
    pub schema: Value,
    rules: CompiledSchema,
}

pub fn judges() -> &'static BTreeMap<String, Judge> {
    static JUDGES: LazyLock<BTreeMap<String, Judge>> = LazyLock::new(|| {
        let judge = |schema: Value| {
            let rules = compile_schema(&offline::adapted(schema.clone()));
            Judge { schema, rules }
        };
        let definitions = definitions();
        let named = definitions
            .iter()
            .map(|d| (d.spec.names.kind.clone(), judge(palladion_api::crd::schema(d))));
        named.collect()
    });
    &JUDGES
}

/// What the API server would say against an object.
pub fn said(new: &Value, old: Option<&Value>) -> Vec<String> {
    let Judge { schema, rules } = &judges()[new["kind"].as_str().expect("an object has a kind")];
    let mut words = structural::refusals(schema, new);
    if words.iter().any(|w| structural::blocks_rules(w)) {
        return words;
    }
    let (new, old) = (apply_defaults(schema, new), old.map(|o| apply_defaults(schema, o)));
    if let Err(errors) = Validator::new().validate_compiled(rules, &new, old.as_ref()) {
        words.extend(errors.iter().map(ToString::to_string));
    }
    words
}

#[track_caller]
pub fn accepted(new: &Value, old: Option<&Value>) {
    assert_eq!(said(new, old), Vec::<String>::new(), "{new}");
}

#[track_caller]
pub fn refused(new: &Value, old: Option<&Value>, expected: &str) {
    let said = said(new, old);
    assert!(said.iter().any(|s| s.contains(expected)), "{expected:?} is not in {said:#?}");
    // Whoever reads it should not have to read CEL.
    let quotes = said.iter().find(|s| s.contains("has(self") || s.contains("self.all("));
    assert_eq!(quotes, None);
}

/// Put a value where a pointer says, also where nothing is yet.
pub fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let mut at = &mut object;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/");
        at = &mut at[part];
    }
    *at = value;
    object
}

pub fn a_cluster() -> Value {
    json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "ZookeeperCluster",
        "metadata": { "name": "coordination" },
        "spec": { "version": "3.9.3" },
    })
}

pub fn a_member() -> Value {
    json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "ServiceMember",
        "metadata": { "name": "coordination-zk-0" },
        "spec": {
            "system": "ZooKeeper",
            "cluster": "coordination",
            "volumeID": "v1",
            "serverID": 1,
            "starts": 3,
        },
    })
}

pub fn a_rabbit() -> Value {
    json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "RabbitmqCluster",
        "metadata": { "name": "messages" },
        "spec": { "version": "3.12.14" },
    })
}

/// The definitions of clustered services.
pub fn definitions() -> Vec<CustomResourceDefinition> {
    let mut all = palladion_api::crd::all();
    let of_services = ["ZookeeperCluster", "RabbitmqCluster", "ServiceMember"];
    all.retain(|d| of_services.contains(&d.spec.names.kind.as_str()));
    all
}
