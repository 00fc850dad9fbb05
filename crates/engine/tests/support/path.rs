//! Parses the paths and queries of the Kubernetes API.

use std::collections::BTreeMap;

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name of the kind in URLs.
    pub plural: String,
    /// Namespace; empty for all or none.
    pub namespace: String,
    /// Name of the object, if it is about one.
    pub name: Option<String>,
    /// Is it about the status alone?
    pub status: bool,
    /// Query parameters.
    pub query: BTreeMap<String, String>,
}

impl Target {
    pub fn parse(uri: &http::Uri) -> Self {
        let mut parts: Vec<&str> = uri.path().split('/').filter(|p| !p.is_empty()).collect();
        let skip = if parts[0] == "api" { 2 } else { 3 };
        parts.drain(..skip);
        let mut namespace = String::new();
        if parts[0] == "namespaces" && parts.len() > 2 {
            namespace = decode(parts[1]);
            parts.drain(..2);
        }
        let query =
            uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        Self {
            plural: parts[0].to_string(),
            namespace,
            name: parts.get(1).map(|p| decode(p)),
            status: parts.get(2) == Some(&"status"),
            query: query.map(|(k, v)| (k.to_string(), decode(v))).collect(),
        }
    }

    pub fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map(String::as_str).unwrap_or_default()
    }

    pub fn is_watch(&self) -> bool {
        self.parameter("watch") == "true"
    }

    pub fn key(&self) -> (String, String, String) {
        (self.plural.clone(), self.namespace.clone(), self.name.clone().unwrap_or_default())
    }

    /// Does a list or a watch select this object?
    pub fn selects(&self, object: &serde_json::Value) -> bool {
        let metadata = &object["metadata"];
        let in_namespace =
            self.namespace.is_empty() || metadata["namespace"] == self.namespace.as_str();
        let labels =
            self.parameter("labelSelector").split(',').filter(|p| !p.is_empty()).all(|part| {
                let (name, value) = part.split_once('=').unwrap();
                metadata["labels"][name] == value
            });
        let fields = match self.parameter("fieldSelector").strip_prefix("metadata.name=") {
            Some(name) => metadata["name"] == name,
            None => true,
        };
        in_namespace && labels && fields
    }
}

fn decode(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let hex: String = bytes.by_ref().take(2).map(char::from).collect();
            out.push(u8::from_str_radix(&hex, 16).unwrap());
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).unwrap()
}
