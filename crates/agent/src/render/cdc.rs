//! Change data capture as the spec says it. Where the directory is stands in the file of every
//! server, whether it keeps anything there or not.

use crate::capabilities::{Line, Units};
use palladion_api::cluster::CdcOnFull;
use palladion_api::server_config::ServerConfig;
use serde_json::{Map, Value, json};

/// Settings of `cassandra.yaml`. A server of 4.0 has no word for what it does when the space is used
/// up, and does not start with one: it refuses writes.
pub fn settings(
    config: &ServerConfig,
    (line, units): (Line, Units),
    into: &mut Map<String, Value>,
) {
    let Some(cdc) = config.cdc else { return };
    into.insert("cdc_enabled".into(), json!(true));
    match units {
        Units::InName => into.insert("cdc_total_space_in_mb".into(), json!(cdc.total_mib)),
        Units::InValue => {
            into.insert("cdc_total_space".into(), json!(format!("{}MiB", cdc.total_mib)))
        }
    };
    match line {
        Line::V4_0 => {}
        Line::V4_1 | Line::V5_0 => {
            into.insert("cdc_block_writes".into(), json!(cdc.on_full == CdcOnFull::Block));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities;
    use crate::render::testing::a_config;
    use palladion_api::server_config::ServerCdc;

    fn rendered(version: &str, cdc: Option<ServerCdc>) -> Value {
        let capabilities = capabilities::of(version).unwrap();
        let mut into = Map::new();
        let config = ServerConfig { cdc, ..a_config(version) };
        settings(&config, (capabilities.line, capabilities.units), &mut into);
        Value::Object(into)
    }

    fn cdc(on_full: CdcOnFull) -> Option<ServerCdc> {
        Some(ServerCdc { total_mib: 4096, on_full })
    }

    #[test]
    fn each_line_has_its_names() {
        assert_eq!(
            rendered("4.0.18", cdc(CdcOnFull::Block)),
            json!({ "cdc_enabled": true, "cdc_total_space_in_mb": 4096 })
        );
        for version in ["4.1.9", "5.0.5"] {
            for (on_full, blocks) in [(CdcOnFull::Block, true), (CdcOnFull::DropOldest, false)] {
                assert_eq!(
                    rendered(version, cdc(on_full)),
                    json!({
                        "cdc_enabled": true,
                        "cdc_total_space": "4096MiB",
                        "cdc_block_writes": blocks,
                    })
                );
            }
        }
    }

    #[test]
    fn a_ring_without_it_is_rendered_as_before() {
        for version in ["4.0.18", "4.1.9", "5.0.5"] {
            assert_eq!(rendered(version, None), json!({}));
        }
    }
}
