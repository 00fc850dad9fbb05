//! `commitlog_archiving.properties`: what the server starts for each segment of its commit log that
//! is full, before it deletes it. At its start it does so for all that are left.

use super::Door;
use palladion_api::server_config::{CommitLogArchive, ServerConfig};
use std::path::Path;

/// The file; none where nothing is archived. A server that is closed for a restore writes nothing
/// that a window could hold: it is restarted to be opened, and one opens behind a backup. One that
/// is sealed, or waits for its rebuild, takes writes of others.
pub fn properties(
    (config, door): (&ServerConfig, Door),
    agent: &Path,
    links: &Path,
) -> Option<String> {
    match (config.archive?, door) {
        (CommitLogArchive::Linked, Door::Closed) => None,
        (CommitLogArchive::Linked, Door::Open | Door::Sealed | Door::AwaitsRebuild) => {
            let (agent, links) = (agent.display(), links.display());
            Some(format!("archive_command={agent} link %path {links}/%name\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::a_config;

    #[test]
    fn segments_are_linked_where_the_ring_is_archived_and_nowhere_else() {
        let mut config = a_config("5.0.5");
        let of = |config: &ServerConfig, door| {
            properties(
                (config, door),
                Path::new("/mnt/shared/palladion-agent"),
                Path::new("/v/.p/commitlog"),
            )
        };
        assert_eq!(of(&config, Door::Open), None);
        config.archive = Some(CommitLogArchive::Linked);
        let expected =
            "archive_command=/mnt/shared/palladion-agent link %path /v/.p/commitlog/%name\n";
        assert_eq!(of(&config, Door::Open).as_deref(), Some(expected));
        for door in [Door::AwaitsRebuild, Door::Sealed] {
            assert_eq!(
                of(&config, door).as_deref(),
                Some(expected),
                "others write to it: {door:?}"
            );
        }
        assert_eq!(of(&config, Door::Closed), None);
    }
}
