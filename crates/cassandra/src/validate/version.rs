//! Which versions of a server can be run.

use super::{Refusal, refuse};
use palladion_api::cluster::{CassandraClusterSpec, Mode};
use palladion_api::reasons::Reason;

/// Lines of Cassandra whose configuration and operations are known.
const CASSANDRA: [&str; 3] = ["4.0", "4.1", "5.0"];

/// Refuse a Cassandra version of an unknown line.
pub fn supported(spec: &CassandraClusterSpec) -> Result<(), Refusal> {
    let known = match spec.mode {
        Mode::Scylla => !spec.version.is_empty(),
        Mode::Cassandra => CASSANDRA.iter().any(|line| {
            spec.version == *line
                || spec
                    .version
                    .strip_prefix(line)
                    .is_some_and(|rest| rest.starts_with(['.', '-']))
        }),
    };
    if known {
        return Ok(());
    }
    refuse(
        Reason::InvalidSpec,
        format!(
            "version {} is not supported; use one of the lines {}",
            spec.version,
            CASSANDRA.join(", ")
        ),
    )
}
