//! Which versions of a server can be run.

use super::{Refusal, refuse};
use crate::facts::lines::line;
use palladion_api::cluster::{CassandraClusterSpec, Mode};
use palladion_api::reasons::Reason;
use palladion_api::rules::cluster::CASSANDRA_LINES;

/// Refuse a Cassandra version of an unknown line.
pub fn supported(spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    let known = match spec.mode {
        Mode::Scylla => spec.version.starts_with(|c: char| c.is_ascii_digit()),
        Mode::Cassandra => CASSANDRA_LINES.iter().any(|line| is_of(line, &spec.version)),
    };
    if known {
        return Ok(());
    }
    let next = match spec.mode {
        Mode::Scylla => "use a version of Scylla such as 6.2.0".to_string(),
        Mode::Cassandra => {
            format!("use one of the lines {}, for example 5.0.5", CASSANDRA_LINES.join(", "))
        }
    };
    refuse(Reason::InvalidSpec, format!("`version` {:?} is not supported; {next}", spec.version))
}

/// Refuse a version of an older line than one that a member has run: its data
/// is of the newer one.
pub fn not_back(spec: &CassandraClusterSpec, newest: Option<&str>) -> Result<(), Refusal> {
    let Some(newest) = newest else { return Ok(()) };
    if line(&spec.version) >= line(newest) {
        return Ok(());
    }
    refuse(
        Reason::InvalidSpec,
        format!(
            "`version` {} is of an older line than {newest}, which a member has run: a server cannot read what a newer line wrote; set a version of line {newest} or newer",
            spec.version
        ),
    )
}

/// `5.0`, `5.0.5`, `5.0-beta1` and `5.0.5-mine` are of line `5.0`; `5.01` is not.
fn is_of(line: &str, version: &str) -> bool {
    match version.strip_prefix(line) {
        None => false,
        Some("") => true,
        Some(rest) => rest.starts_with(['.', '-']),
    }
}
