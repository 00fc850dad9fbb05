//! The calls of a Registration, made from its templates: one entry at a time.

use crate::render::{Problem, Templates};
use crate::words::render::Fault;
use minijinja::Value;
use palladion_api::RegistrationSpec;
use palladion_api::registration::{Call, CallKind, Entry, Method};
use palladion_api::staged::File;
use palladion_plan::hash;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Each call, and what it is called in the spec.
const KINDS: [CallKind; 3] = [CallKind::Register, CallKind::Deregister, CallKind::Lookup];

/// The calls of a Registration.
#[derive(Clone, Debug)]
pub struct Calls {
    templates: Templates,
    spec: RegistrationSpec,
}

/// A call as it is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its method.
    pub method: &'static str,
    /// Its path.
    pub path: String,
    /// Its body.
    pub body: Option<String>,
    /// Status codes of good answers.
    pub accept: Vec<u16>,
    /// Values to keep of a good answer.
    pub capture: BTreeMap<String, String>,
}

/// What a call says of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its address.
    pub address: &'a str,
    /// Its own address.
    pub ip: Option<&'a str>,
    /// Its node.
    pub node: Option<&'a str>,
}

impl<'a> From<&'a Entry> for Pod<'a> {
    fn from(entry: &'a Entry) -> Self {
        let (ip, node) = (entry.ip.as_deref(), entry.node.as_deref());
        Self { name: &entry.name, address: &entry.address, ip, node }
    }
}

impl Calls {
    /// Parse the templates of a spec, and try each with values that stand for all pods.
    ///
    /// # Errors
    /// The first that cannot be rendered.
    pub fn parse(spec: &RegistrationSpec) -> Result<Self, Problem> {
        let mut files = Vec::new();
        for kind in KINDS {
            let Some(call) = of(spec, kind) else {
                continue;
            };
            files.push(File { name: path(kind), template: call.path.clone() });
            let text = call.body.clone();
            files.extend(text.map(|template| File { name: body(kind), template }));
        }
        let calls = Self { templates: Templates::parse(&files)?, spec: spec.clone() };
        let trial = Pod {
            name: "pod-0",
            address: "192.0.2.1",
            ip: Some("192.0.2.1"),
            node: Some("node-0"),
        };
        let names = calls.captures().into_iter().map(|name| (name, "value".to_string()));
        let captured: BTreeMap<String, String> = names.collect();
        calls.make(CallKind::Register, &trial, &BTreeMap::new())?;
        calls.make(CallKind::Deregister, &trial, &captured)?;
        if spec.lookup.is_some() {
            calls.make(CallKind::Lookup, &trial, &BTreeMap::new())?;
        }
        Ok(calls)
    }

    /// Names of all values that are kept.
    pub fn captures(&self) -> BTreeSet<String> {
        let calls = KINDS.into_iter().filter_map(|kind| of(&self.spec, kind));
        calls.flat_map(|call| call.capture.keys().cloned()).collect()
    }

    /// Names of the values that a lookup brings; `None` = there is no lookup.
    pub fn looked_up(&self) -> Option<BTreeSet<String>> {
        Some(self.spec.lookup.as_ref()?.capture.keys().cloned().collect())
    }

    /// A call about a pod.
    ///
    /// # Errors
    /// What its template needs is not known of this pod.
    pub fn make(
        &self,
        kind: CallKind,
        pod: &Pod<'_>,
        captured: &BTreeMap<String, String>,
    ) -> Result<Made, Problem> {
        let no_call = Call::default();
        let call = of(&self.spec, kind).unwrap_or(&no_call);
        let place = self.templates.one(&path(kind), &variables(pod, captured, in_path))?;
        let text = match &call.body {
            None => None,
            Some(_) => {
                let context = variables(pod, captured, in_json);
                let text = self.templates.one(&body(kind), &context)?;
                let read: Result<serde_json::Value, _> = serde_json::from_str(&text);
                let why = |error: serde_json::Error| {
                    let fault = Fault::NoJson { why: error.to_string() };
                    Problem { file: body(kind), line: None, fault }
                };
                read.map_err(why)?;
                Some(text)
            }
        };
        let accept = match call.accept.is_empty() {
            true => good(kind).to_vec(),
            false => call.accept.clone(),
        };
        let capture = call.capture.clone();
        Ok(Made { method: method(call.method), path: place, body: text, accept, capture })
    }

    /// Hash of the call that would register a pod now; `None` = it cannot be made yet.
    pub fn hash(&self, pod: &Pod<'_>) -> Option<String> {
        let made = self.make(CallKind::Register, pod, &BTreeMap::new()).ok()?;
        Some(hash::of(&json!([made.method, made.path, made.body])))
    }
}

fn of(spec: &RegistrationSpec, kind: CallKind) -> Option<&Call> {
    match kind {
        CallKind::Register => Some(&spec.register),
        CallKind::Deregister => Some(&spec.deregister),
        CallKind::Lookup => spec.lookup.as_ref(),
    }
}

fn path(kind: CallKind) -> String {
    format!("{}.path", kind.as_str())
}

fn body(kind: CallKind) -> String {
    format!("{}.body", kind.as_str())
}

fn good(kind: CallKind) -> &'static [u16] {
    match kind {
        CallKind::Register => &[200, 201, 204, 409],
        CallKind::Deregister => &[200, 201, 204, 404],
        CallKind::Lookup => &[200],
    }
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
    }
}

/// What a template sees, each value fit for the place where it will stand: nothing
/// that a service has answered can add to a path or a body.
fn variables(pod: &Pod<'_>, captured: &BTreeMap<String, String>, fit: fn(&str) -> String) -> Value {
    let fit = |value: &str| Value::from(fit(value));
    let mut of_pod = vec![("name", fit(pod.name)), ("address", fit(pod.address))];
    // What is not known must be an error, and not nothing.
    of_pod.extend(pod.ip.map(|ip| ("ip", fit(ip))));
    of_pod.extend(pod.node.map(|node| ("node", fit(node))));
    let captured: BTreeMap<String, Value> =
        captured.iter().map(|(name, value)| (name.clone(), fit(value))).collect();
    Value::from_pairs([
        ("pod", Value::from_pairs(of_pod)),
        ("captured", Value::from_pairs(captured)),
    ])
}

/// Percent-encoded, but for what addresses are made of.
fn in_path(value: &str) -> String {
    let mut fit = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => {
                fit.push(char::from(byte));
            }
            // Writing to a String cannot fail.
            other => {
                let _ = write!(fit, "%{other:02X}");
            }
        }
    }
    fit
}

/// As it stands between the quotes of a string.
fn in_json(value: &str) -> String {
    let quoted = json!(value).to_string();
    let text = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    text.unwrap_or_default().to_string()
}
