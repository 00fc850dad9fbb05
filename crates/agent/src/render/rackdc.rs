//! `cassandra-rackdc.properties`.

use palladion_api::server_config::ServerConfig;

/// The file.
pub fn render(config: &ServerConfig) -> String {
    format!("dc={}\nrack={}\nprefer_local=false\n", config.datacenter, config.rack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::a_config;

    #[test]
    fn names_datacenter_and_rack() {
        assert_eq!(render(&a_config("5.0.5")), "dc=dc1\nrack=a\nprefer_local=false\n");
    }
}
