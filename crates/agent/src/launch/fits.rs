//! Whether a server can start with tokens of a backup: looked at before the permit is used up.

use crate::render::Entry;
use crate::words::permit::Refused;
use palladion_api::cluster::Mode;
use palladion_api::server_config::ServerConfig;

/// Can a server with this configuration start so?
///
/// # Errors
/// It cannot have these tokens.
pub fn fits(config: &ServerConfig, entry: &Entry) -> Result<(), Refused> {
    let Entry::Restore { tokens } = entry else { return Ok(()) };
    let (noted, configured) = (tokens.len(), config.num_tokens);
    match config.mode {
        Mode::Scylla => Err(Refused::ScyllaTokens),
        Mode::Cassandra if u32::try_from(noted) == Ok(configured) => Ok(()),
        Mode::Cassandra => Err(Refused::TokenCount { noted, configured }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_starts_with_as_many_tokens_as_it_is_configured_for() {
        let mut config = crate::render::testing::a_config("5.0.5");
        let restore = |many: usize| Entry::Restore { tokens: vec!["1".into(); many] };
        assert_eq!(fits(&config, &restore(16)), Ok(()));
        let why = fits(&config, &restore(4)).unwrap_err();
        assert_eq!(why, Refused::TokenCount { noted: 4, configured: 16 });
        assert_eq!(fits(&config, &Entry::Join), Ok(()));
        config.mode = Mode::Scylla;
        assert_eq!(fits(&config, &restore(16)), Err(Refused::ScyllaTokens));
        assert_eq!(fits(&config, &Entry::Join), Ok(()));
    }
}
