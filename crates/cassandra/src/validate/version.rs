//! Which versions of a server can be run.

use super::Refusal;
use crate::facts::lines::line;
use crate::words::refusal::Supported;
use palladion_api::cluster::{CassandraClusterSpec, Mode};
use palladion_api::rules::cluster::CASSANDRA_LINES;
use palladion_plan::words::Quoted;

/// Refuse a Cassandra version of an unknown line.
pub fn supported(spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    let known = match spec.mode {
        Mode::Scylla => spec.version.starts_with(|c: char| c.is_ascii_digit()),
        Mode::Cassandra => CASSANDRA_LINES.iter().any(|line| is_of(line, &spec.version)),
    };
    if known {
        return Ok(());
    }
    let supported = match spec.mode {
        Mode::Scylla => Supported::Scylla,
        Mode::Cassandra => Supported::Cassandra { lines: CASSANDRA_LINES.join(", ") },
    };
    Err(Refusal::Version { version: Quoted(spec.version.clone()), supported })
}

/// Refuse a version of an older line than one that a member has run: its data
/// is of the newer one.
pub fn not_back(spec: &CassandraClusterSpec, newest: Option<&str>) -> Result<(), Refusal> {
    let Some(newest) = newest else { return Ok(()) };
    if line(&spec.version) >= line(newest) {
        return Ok(());
    }
    Err(Refusal::OlderLine { version: spec.version.clone(), line: newest.to_string() })
}

/// `5.0`, `5.0.5`, `5.0-beta1` and `5.0.5-mine` are of line `5.0`; `5.01` is not.
fn is_of(line: &str, version: &str) -> bool {
    match version.strip_prefix(line) {
        None => false,
        Some("") => true,
        Some(rest) => rest.starts_with(['.', '-']),
    }
}
