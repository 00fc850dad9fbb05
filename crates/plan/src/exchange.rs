//! A call to the API of a service that a mind wants sent. The engine sends it for
//! as long as it is wanted, with a back-off; the mind records the answer and wants
//! it no more. A crash in between repeats it, so that only calls that do no harm
//! when repeated may be wanted. What an answer means is the mind's.

use crate::object::ObjectKey;
use crate::plan::Fence;
use crate::words::exchange::Failed;
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::Nonce;
use serde_json::Value;
use std::collections::BTreeMap;

/// Bytes of an answer that are read at the most.
pub const LARGEST_ANSWER: usize = 64 * 1024;
/// Bytes of a captured value at the most: it is kept in a status.
pub const LONGEST_CAPTURE: usize = 256;
/// Bytes of an answer that are quoted at the most.
const LONGEST_QUOTE: usize = 128;

/// Which call: another nonce is another call, whatever it says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeKey {
    /// What it is about.
    pub name: String,
    /// Recorded in a status before the call is sent.
    pub nonce: Nonce,
}

/// A call to the API of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// Which call.
    pub key: ExchangeKey,
    /// Its method, as HTTP has it.
    pub method: &'static str,
    /// With or without TLS.
    pub scheme: Scheme,
    /// Address of the service.
    pub address: String,
    /// Its name: what the request is for, and whom a certificate must name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Path with query.
    pub path: String,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body, which is JSON.
    pub body: Option<String>,
    /// A Secret that the engine reads for the call. No mind sees it.
    pub auth: Option<SecretRef>,
    /// Status codes of good answers.
    pub accept: Vec<u16>,
    /// Values to keep of a good answer, by name: JSON pointers into its body.
    pub capture: BTreeMap<String, String>,
    /// An answer that takes longer is none.
    pub timeout: SignedDuration,
    /// What must hold, read live right before it is sent.
    pub fence: Option<Fence>,
}

/// With or without TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Without.
    Http,
    /// With, and the ConfigMap whose key `ca.crt` has the certificates of those that may have signed.
    Https {
        /// The ConfigMap.
        ca: ObjectKey,
    },
}

/// A Secret by name, with the keys `username` and `password`, or `token`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretRef {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// When it ended.
    pub at: Timestamp,
    /// How it ended.
    pub end: Result<Captured, Failed>,
}

/// A good answer: its status code, and what was kept of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The status code.
    pub code: u16,
    /// Values by name. One that the answer does not have is left out.
    pub values: BTreeMap<String, String>,
}

impl Exchange {
    /// What an answer amounts to.
    ///
    /// # Errors
    /// The code is none of those that are accepted: it is quoted with the start of the body.
    pub fn judge(&self, code: u16, body: &[u8]) -> Result<Captured, Failed> {
        if !self.accept.contains(&code) {
            let said = quote(body);
            return Err(match said.is_empty() {
                true => Failed::Code { code },
                false => Failed::Answered { code, said },
            });
        }
        if self.capture.is_empty() {
            return Ok(Captured { code, values: BTreeMap::new() });
        }
        let read: Value = serde_json::from_slice(body).unwrap_or_default();
        let values = self.capture.iter().filter_map(|(name, pointer)| {
            let text = text(read.pointer(pointer)?)?;
            (text.len() <= LONGEST_CAPTURE).then(|| (name.clone(), text))
        });
        Ok(Captured { code, values: values.collect() })
    }
}

/// A value that can stand in a path: no list and no map.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The start of an answer on one line.
fn quote(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * LONGEST_QUOTE)]);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut quoted = String::new();
    for char in line.chars() {
        if quoted.len() + char.len_utf8() > LONGEST_QUOTE {
            break;
        }
        quoted.push(char);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(accept: &[u16], capture: &[(&str, &str)]) -> Exchange {
        Exchange {
            key: ExchangeKey { name: "pod web-0".into(), nonce: "n".into() },
            method: "POST",
            scheme: Scheme::Http,
            address: "10.0.0.1".into(),
            host: "config-client.shop.svc".into(),
            port: 8082,
            path: "/nodes".into(),
            headers: Vec::new(),
            body: None,
            auth: None,
            accept: accept.to_vec(),
            capture: capture.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
            timeout: SignedDuration::from_secs(5),
            fence: None,
        }
    }

    #[test]
    fn a_good_answer_gives_what_it_has_of_what_is_asked_for() {
        let asked = [("id", "/node/id"), ("size", "/size"), ("none", "/none"), ("map", "/node")];
        let body = br#"{"node": {"id": "abc"}, "size": 3}"#;
        let good = exchange(&[200, 201], &asked).judge(201, body).expect("is accepted");
        let values = [("id", "abc"), ("size", "3")].map(|(k, v)| (k.to_string(), v.to_string()));
        assert_eq!(good, Captured { code: 201, values: values.into() });
        let none = exchange(&[204], &asked).judge(204, b"no JSON").expect("is accepted");
        assert!(none.values.is_empty());
        let long = format!(r#"{{"size": "{}"}}"#, "x".repeat(LONGEST_CAPTURE + 1));
        let cut = exchange(&[200], &asked).judge(200, long.as_bytes()).expect("is accepted");
        assert!(cut.values.is_empty(), "a status must not grow with an answer");
    }

    #[test]
    fn another_code_is_quoted_with_the_start_of_what_was_said() {
        let of = |body: &[u8]| exchange(&[200], &[]).judge(500, body).expect_err("is refused");
        assert_eq!(of(b""), Failed::Code { code: 500 });
        let said = "no such project".to_string();
        assert_eq!(of(b"no such\n  project"), Failed::Answered { code: 500, said });
        let Failed::Answered { said, .. } = of("\u{e4}".repeat(1000).as_bytes()) else {
            panic!("it said something");
        };
        assert_eq!(said.len(), LONGEST_QUOTE);
    }
}
