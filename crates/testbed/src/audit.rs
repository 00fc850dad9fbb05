//! Who asked what of the API server, read from its audit log.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cluster::Cluster;
use crate::control_plane::ControlPlane;

/// A moment in the audit log: requests that were answered after it count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditMark {
    offset: u64,
}

impl AuditMark {
    /// The moment before the first request.
    pub const BEGINNING: Self = Self { offset: 0 };
}

/// One request. A watch is one request, from the moment it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// When it arrived, in RFC 3339 with microseconds.
    pub time: String,
    /// Who asked: `system:serviceaccount:NAMESPACE:NAME` for a pod.
    pub user: String,
    /// What the client says it is.
    pub user_agent: String,
    /// `get`, `list`, `watch`, `patch`, …
    pub verb: String,
    /// The resource's group; empty for the core one.
    pub api_group: String,
    /// `pods`, `services`, …; the path, for what is no resource.
    pub resource: String,
    /// `status`, `log`, …, or empty.
    pub subresource: String,
    /// Empty for what has none.
    pub namespace: String,
    /// The object's name; empty for lists and creations.
    pub name: String,
    /// The HTTP status it was answered with.
    pub code: u16,
}

/// How often a user asked the same kind of thing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditCount {
    /// See [`AuditEntry::user`].
    pub user: String,
    /// See [`AuditEntry::verb`].
    pub verb: String,
    /// See [`AuditEntry::resource`].
    pub resource: String,
    /// See [`AuditEntry::subresource`].
    pub subresource: String,
    /// How often.
    pub count: usize,
}

impl Cluster {
    /// Now, for [`Cluster::audit_entries`] and [`Cluster::audit_counts`].
    pub fn audit_mark(&self) -> Result<AuditMark> {
        let log = ControlPlane::audit_log(&self.site().data_dir());
        let length = log
            .metadata()
            .with_context(|| format!("reading the audit log {}", log.display()))?
            .len();
        Ok(AuditMark { offset: length })
    }

    /// The requests answered since then to users whose names begin so.
    pub fn audit_entries(&self, since: AuditMark, user_prefix: &str) -> Result<Vec<AuditEntry>> {
        let log = ControlPlane::audit_log(&self.site().data_dir());
        let reading = || format!("reading the audit log {}", log.display());
        let mut file = File::open(&log).with_context(reading)?;
        file.seek(SeekFrom::Start(since.offset)).with_context(reading)?;
        parse(BufReader::new(file), user_prefix).with_context(reading)
    }

    /// The same, counted; sorted by user, verb and resource.
    pub fn audit_counts(&self, since: AuditMark, user_prefix: &str) -> Result<Vec<AuditCount>> {
        Ok(count(&self.audit_entries(since, user_prefix)?))
    }
}

/// Counts requests by user, verb and resource.
pub fn count(entries: &[AuditEntry]) -> Vec<AuditCount> {
    let mut counts = BTreeMap::new();
    for entry in entries {
        let key = (&entry.user, &entry.verb, &entry.resource, &entry.subresource);
        *counts.entry(key).or_insert(0) += 1;
    }
    let counts =
        counts.into_iter().map(|((user, verb, resource, subresource), count)| AuditCount {
            user: user.clone(),
            verb: verb.clone(),
            resource: resource.clone(),
            subresource: subresource.clone(),
            count,
        });
    counts.collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "auditID")]
    audit_id: String,
    verb: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    user: User,
    #[serde(default)]
    user_agent: String,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
    request_received_timestamp: String,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ObjectRef {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

/// A watch is logged when it starts and when it ends, under one ID: the first
/// line counts. A last line that is still being written is left for later.
fn parse(log: impl BufRead, user_prefix: &str) -> Result<Vec<AuditEntry>> {
    let mut seen = HashSet::new();
    let mut entries = Vec::new();
    for text in log.split(b'\n') {
        let text = text?;
        let line: Line = match serde_json::from_slice(&text) {
            Ok(line) => line,
            Err(error) if error.is_eof() => break,
            Err(error) => return Err(error).context("parsing a line"),
        };
        if line.user.username.starts_with(user_prefix) && seen.insert(line.audit_id.clone()) {
            entries.push(line.into_entry());
        }
    }
    Ok(entries)
}

impl Line {
    fn into_entry(self) -> AuditEntry {
        let object = self.object_ref.unwrap_or_default();
        let path = self.request_uri.split('?').next().unwrap_or_default();
        let resource = match object.resource.as_str() {
            "" => path.to_owned(),
            _ => object.resource,
        };
        AuditEntry {
            time: self.request_received_timestamp,
            user: self.user.username,
            user_agent: self.user_agent,
            verb: self.verb,
            api_group: object.api_group,
            resource,
            subresource: object.subresource,
            namespace: object.namespace,
            name: object.name,
            code: self.response_status.map_or(0, |status| status.code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, stage: &str, user: &str, verb: &str, resource: &str) -> String {
        format!(
            r#"{{"kind":"Event","level":"Metadata","auditID":"{id}","stage":"{stage}","requestURI":"/api/v1/{resource}?watch=1","verb":"{verb}","user":{{"username":"{user}"}},"objectRef":{{"resource":"{resource}","apiVersion":"v1"}},"responseStatus":{{"metadata":{{}},"code":200}},"requestReceivedTimestamp":"2026-01-01T00:00:00.000000Z"}}"#
        )
    }

    #[test]
    fn a_watch_that_starts_and_ends_is_one_request() {
        let log = [
            line("1", "ResponseStarted", "system:x", "watch", "pods"),
            line("1", "ResponseComplete", "system:x", "watch", "pods"),
            line("2", "ResponseComplete", "system:x", "get", "pods"),
            line("3", "ResponseComplete", "system:x", "get", "pods"),
        ]
        .join("\n");
        let counts = count(&parse(log.as_bytes(), "").expect("should parse"));
        let found: Vec<_> = counts.iter().map(|c| (c.verb.as_str(), c.count)).collect();
        assert_eq!(found, [("get", 2), ("watch", 1)]);
    }

    #[test]
    fn other_users_are_left_out() {
        let log = [
            line("1", "ResponseComplete", "system:serviceaccount:a:b", "get", "pods"),
            line("2", "ResponseComplete", "system:node:n1", "get", "pods"),
        ]
        .join("\n");
        let entries = parse(log.as_bytes(), "system:serviceaccount:").expect("should parse");
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].user, "system:serviceaccount:a:b");
    }

    #[test]
    fn a_line_still_being_written_is_left_for_later_and_a_broken_one_is_an_error() {
        let whole = line("1", "ResponseComplete", "u", "get", "pods");
        let half = &whole[..whole.len() / 2];
        let log = format!("{whole}\n{half}");
        assert_eq!(parse(log.as_bytes(), "").expect("should parse").len(), 1);
        assert!(parse(&b"nonsense\n"[..], "").is_err());
    }

    #[test]
    fn what_is_no_resource_is_named_by_its_path() {
        let text = line("1", "ResponseComplete", "u", "get", "pods")
            .replace(r#""objectRef":{"resource":"pods","apiVersion":"v1"},"#, "");
        let entries = parse(text.as_bytes(), "").expect("should parse");
        assert_eq!(entries[0].resource, "/api/v1/pods");
    }
}
