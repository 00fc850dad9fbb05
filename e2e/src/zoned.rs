//! A `ZonedStatefulSet` under test: its manifest, its state, its pods.

#![expect(clippy::missing_panics_doc, reason = "test helpers: a panic is a failed test")]

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use palladion_api::reasons::Reason;
use serde_json::{Value, json};

use crate::bed::{OPERATOR_USER, bed, condition, wait_for};

/// A few pods have to be made and become ready one after another.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// An example that the documentation shows.
///
/// # Panics
/// If there is none of this name.
pub fn example(name: &str) -> String {
    let path = format!("{}/../examples/zonedstatefulset/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("reading {path}: {e}"))
}

/// Requests of the operator since a moment, besides its lease and its watches:
/// `verb resource` each.
///
/// # Errors
/// The audit log cannot be read.
pub fn operator_requests(since: palladion_testbed::audit::AuditMark) -> Result<Vec<String>> {
    let entries = bed().cluster.audit_entries(since, OPERATOR_USER)?;
    let counted = entries.iter().filter(|e| e.resource != "leases" && e.verb != "watch");
    Ok(counted
        .map(|e| {
            let dash = if e.subresource.is_empty() { "" } else { "/" };
            format!("{} {}{dash}{}", e.verb, e.resource, e.subresource)
        })
        .collect())
}

/// One ZonedStatefulSet in a namespace of its own.
pub struct Zoned {
    /// Its namespace.
    pub namespace: &'static str,
    /// Its name.
    pub name: &'static str,
}

impl Zoned {
    /// Apply a manifest in a fresh namespace and wait until all is ready.
    pub fn start(namespace: &'static str, name: &'static str, manifest: &str) -> Self {
        bed().fresh_namespace(namespace).expect("a namespace");
        bed().apply(namespace, manifest).expect("the example is accepted");
        let zoned = Self { namespace, name };
        zoned.wait_ready();
        zoned
    }

    /// The object.
    pub fn owner(&self) -> Result<Value> {
        bed().get(self.namespace, "zonedstatefulset", self.name)?.context("the object is gone")
    }

    /// Its status.
    pub fn status(&self) -> Value {
        self.owner().expect("the object").pointer("/status").cloned().unwrap_or_default()
    }

    /// Ready, of the newest generation.
    pub fn wait_ready(&self) {
        self.wait("all pods to be ready", PATIENCE, |o| {
            o["status"]["ready"] == true
                && o["status"]["observedGeneration"] == o["metadata"]["generation"]
        });
    }

    /// Wait for something of the object, which is returned.
    pub fn wait(&self, what: &str, patience: Duration, test: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let found = wait_for(what, patience, || {
            last = self.owner()?;
            Ok(test(&last).then(|| last.clone()))
        });
        found.unwrap_or_else(|e| panic!("{e:#}; status: {}", last["status"]))
    }

    /// One of its conditions.
    pub fn condition(&self, type_: &str) -> Value {
        condition(&self.owner().expect("the object"), type_)
    }

    /// Wait until `Degraded` has this reason and says this; its whole message.
    /// A scheduler or kubelet may first say something that passes.
    ///
    /// # Panics
    /// If it does not come to that.
    pub fn wait_told(&self, reason: Reason, words: &str) -> String {
        let what = format!("Degraded to be {reason} and to say {words:?}");
        let told = wait_for(&what, PATIENCE, || {
            let degraded = self.condition("Degraded");
            let message = degraded["message"].as_str().unwrap_or_default();
            let is_told = degraded["reason"] == reason.as_str() && message.contains(words);
            Ok(is_told.then(|| message.to_string()))
        });
        told.unwrap_or_else(|e| panic!("{e:#}; status: {}", self.status()))
    }

    /// Merge-patch the object.
    pub fn patch(&self, patch: &Value) {
        bed().patch(self.namespace, "zonedstatefulset", self.name, patch).expect("patch");
    }

    /// Change the pods: another value of an annotation, and an image if one is named.
    pub fn set_template(&self, change: &str, image: Option<&str>) {
        let mut container = self.owner().expect("the object")["spec"]["template"]["spec"]["template"]["spec"]["containers"][0].clone();
        if let Some(image) = image {
            container["image"] = json!(image);
        }
        let template = json!({ "metadata": { "annotations": { "change": change } }, "spec": { "containers": [container] } });
        self.patch(&json!({ "spec": { "template": { "spec": { "template": template } } } }));
    }

    /// Names of its StatefulSets.
    pub fn sets(&self) -> Vec<String> {
        let sets = bed().list(self.namespace, "statefulsets").expect("list sets");
        sets.iter().filter_map(|s| s["metadata"]["name"].as_str().map(str::to_string)).collect()
    }

    /// All pods of its namespace.
    pub fn pods(&self) -> Vec<Value> {
        bed().list(self.namespace, "pods").expect("list pods")
    }

    /// Uids of the pods by name.
    pub fn uids(&self) -> BTreeMap<String, String> {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
        self.pods()
            .iter()
            .map(|p| (text(&p["metadata"]["name"]), text(&p["metadata"]["uid"])))
            .collect()
    }

    /// Names of the pods that are labelled active.
    pub fn active(&self) -> Vec<String> {
        let pods = self.pods();
        let active =
            pods.iter().filter(|p| p["metadata"]["labels"]["palladion.dev/pod-active"] == "active");
        active.filter_map(|p| p["metadata"]["name"].as_str().map(str::to_string)).collect()
    }

    /// Remove the namespace, without waiting for it: the next test has its own.
    pub fn end(self) {
        let words = format!("delete namespace {} --wait=false", self.namespace);
        bed().kubectl(&words).expect("clean up");
    }
}
