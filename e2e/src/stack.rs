//! Staged services under test: objects of a namespace, their conditions, and what the
//! stand-in in their pods has recorded.

#![expect(clippy::missing_panics_doc, reason = "test helpers: a panic is a failed test")]

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bed::{bed, condition, wait_for};

/// A few pods have to be made and become ready one after another.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Rings and ensembles have to be made first.
const LONG: Duration = Duration::from_secs(900);

/// An example that the documentation shows.
///
/// # Panics
/// If there is none of this name.
pub fn example(name: &str) -> String {
    let path = format!("{}/../examples/stack/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("reading {path}: {e}"))
}

/// One document of an example: the one that has this line.
pub fn document(example: &str, line: &str) -> String {
    let found = example.split("\n---\n").find(|part| part.lines().any(|l| l == line));
    found.unwrap_or_else(|| panic!("no document has {line:?}")).to_string()
}

/// Objects of Palladion in a namespace of their own.
pub struct Services {
    /// The namespace.
    pub namespace: &'static str,
}

impl Services {
    /// A fresh namespace with these objects.
    pub fn start(namespace: &'static str, manifest: &str) -> Self {
        bed().fresh_namespace(namespace).expect("a namespace");
        let services = Self { namespace };
        services.apply(manifest);
        services
    }

    /// Apply a manifest.
    pub fn apply(&self, manifest: &str) {
        bed().apply(self.namespace, manifest).expect("the manifest is accepted");
    }

    /// Merge-patch an object.
    pub fn patch(&self, kind: &str, name: &str, patch: &Value) {
        bed().patch(self.namespace, kind, name, patch).expect("patch");
    }

    /// An object.
    ///
    /// # Errors
    /// It cannot be read, or does not exist.
    pub fn get(&self, kind: &str, name: &str) -> Result<Value> {
        let object = bed().get(self.namespace, kind, name)?;
        object.with_context(|| format!("{kind} {name} is gone"))
    }

    /// Wait for something of an object, which is returned.
    pub fn wait(
        &self,
        (kind, name): (&str, &str),
        what: &str,
        test: impl Fn(&Value) -> bool,
    ) -> Value {
        let mut last = Value::Null;
        let found = wait_for(what, PATIENCE, || {
            last = self.get(kind, name)?;
            Ok(test(&last).then(|| last.clone()))
        });
        found.unwrap_or_else(|e| panic!("{e:#}; status of {name}: {}", last["status"]))
    }

    /// Wait until a condition has this status and this reason; its message.
    pub fn wait_says(
        &self,
        object: (&str, &str),
        type_: &str,
        status: &str,
        reason: &str,
    ) -> String {
        let what = format!("{type_} of {} to be {status} {reason}", object.1);
        let found = self.wait(object, &what, |o| {
            let found = condition(o, type_);
            found["status"] == status && found["reason"] == reason
        });
        condition(&found, type_)["message"].as_str().unwrap_or_default().to_string()
    }

    /// Wait until an object is available and nothing is being done.
    pub fn wait_ready(&self, kind: &str, name: &str) -> Value {
        self.wait((kind, name), &format!("{kind} {name} to be ready"), |o| {
            condition(o, "Available")["status"] == "True"
                && condition(o, "Progressing")["status"] == "False"
                && o["status"]["observedGeneration"] == o["metadata"]["generation"]
        })
    }

    /// Wait until a service of a whole stack is available: rings are made below it.
    pub fn wait_long(&self, kind: &str, name: &str) {
        let found = wait_for(&format!("{kind} {name} to be available"), LONG, || {
            let object = self.get(kind, name).ok();
            Ok(object.filter(|o| condition(o, "Available")["status"] == "True"))
        });
        found.unwrap_or_else(|e| panic!("{e:#}"));
    }

    /// A pod.
    pub fn pod(&self, name: &str) -> Value {
        self.get("pod", name).expect("the pod")
    }

    /// The uid of a pod.
    pub fn uid(&self, name: &str) -> String {
        self.pod(name)["metadata"]["uid"].as_str().unwrap_or_default().to_string()
    }

    /// What the stand-in in a pod answers to a request.
    ///
    /// # Errors
    /// It does not answer.
    pub fn ask(&self, pod: &str, request: &[&str]) -> Result<Value> {
        self.ask_at(pod, 8080, request)
    }

    /// The same of one that listens at another port.
    ///
    /// # Errors
    /// It does not answer.
    pub fn ask_at(&self, pod: &str, port: u16, request: &[&str]) -> Result<Value> {
        let (options, path) = request.split_at(request.len() - 1);
        let url = format!("http://127.0.0.1:{port}{}", path.concat());
        let mut command = vec!["curl", "-sf", "--max-time", "5"];
        command.extend(options);
        command.push(&url);
        let answer = bed().exec(self.namespace, pod, &command)?;
        serde_json::from_str(&answer).with_context(|| format!("reading {answer:?} of {pod}"))
    }

    /// What the stand-in in a pod has read of its configuration, each time: when (in
    /// milliseconds), why, and the text.
    ///
    /// # Errors
    /// It does not answer.
    pub fn loads(&self, pod: &str) -> Result<Vec<(i64, String, String)>> {
        self.loads_at(pod, 8080)
    }

    /// The same of one that listens at another port.
    ///
    /// # Errors
    /// It does not answer.
    pub fn loads_at(&self, pod: &str, port: u16) -> Result<Vec<(i64, String, String)>> {
        let record = self.ask_at(pod, port, &["/record"])?;
        let text = |load: &Value, key: &str| load[key].as_str().unwrap_or_default().to_string();
        let loads = record["loads"].as_array().cloned().unwrap_or_default();
        Ok(loads
            .iter()
            .map(|load| {
                (load["at"].as_i64().unwrap_or_default(), text(load, "cause"), text(load, "text"))
            })
            .collect())
    }

    /// Remove the namespace, without waiting for it: the next step has its own.
    pub fn end(self) {
        let words = format!("delete namespace {} --wait=false", self.namespace);
        bed().kubectl(&words).expect("clean up");
    }
}
