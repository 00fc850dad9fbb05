//! When the server acknowledges a write: after its commit log is on the disk,
//! or up to a period before.
//!
//! Cassandra's own default, `periodic`, acknowledges at once and writes to the
//! disk every 10 s; what replay finds is marked every 100 ms. A killed process
//! loses what it acknowledged in the last tenth of a second, a machine without
//! power the last 10 s, and where all replicas lose power at once nobody has it
//! any more. `group` acknowledges after the disk has it, for all writes of a
//! window together.

use super::names;
use crate::capabilities::Units;
use palladion_api::server_config::ServerConfig;
use serde_json::{Map, Value, json};

const MODE: &str = "commitlog_sync";
const PERIOD: &str = "commitlog_sync_period";
const WINDOW: &str = "commitlog_sync_group_window";
/// Window of `group` in milliseconds: the most that a write waits besides the disk.
const WINDOW_MS: u32 = 5;
/// Period of `periodic` in milliseconds, for those who choose it.
const PERIOD_MS: u32 = 10_000;

/// Our settings, or what those of the spec need beside them. The server does not
/// start with `group` and a period, nor with a mode whose figure is missing.
pub fn settings(config: &ServerConfig, units: Units, into: &mut Map<String, Value>) {
    let mode = match config.config.get(MODE).and_then(Value::as_str) {
        Some(mode) => mode,
        // Who sets the period alone goes by the server's own default.
        None if says(config, PERIOD) => "periodic",
        None => "group",
    };
    into.insert(MODE.into(), json!(mode));
    match mode {
        "group" => duration(WINDOW, WINDOW_MS, units, into),
        "periodic" => duration(PERIOD, PERIOD_MS, units, into),
        // `batch` has no figure; of what we do not know the server says that it is wrong.
        _ => {}
    }
}

fn says(config: &ServerConfig, setting: &str) -> bool {
    config.config.keys().any(|name| names::modern(name) == setting)
}

fn duration(name: &str, milliseconds: u32, units: Units, into: &mut Map<String, Value>) {
    match units {
        Units::InName => into.insert(format!("{name}_in_ms"), json!(milliseconds)),
        Units::InValue => into.insert(name.into(), json!(format!("{milliseconds}ms"))),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::override_with;
    use crate::render::testing::a_config;

    fn rendered(units: Units, overrides: &[(&str, Value)]) -> Value {
        let mut config = a_config("5.0.5");
        for (name, value) in overrides {
            config.config.insert((*name).to_string(), value.clone());
        }
        let mut into = Map::new();
        settings(&config, units, &mut into);
        override_with(&config, &mut into);
        Value::Object(into)
    }

    #[test]
    fn a_write_is_acknowledged_when_the_disk_has_it() {
        assert_eq!(
            rendered(Units::InValue, &[]),
            json!({"commitlog_sync": "group", "commitlog_sync_group_window": "5ms"})
        );
        assert_eq!(
            rendered(Units::InName, &[]),
            json!({"commitlog_sync": "group", "commitlog_sync_group_window_in_ms": 5})
        );
    }

    #[test]
    fn another_mode_gets_its_own_figure_and_no_other() {
        let mode = |mode: &str| rendered(Units::InValue, &[(MODE, json!(mode))]);
        assert_eq!(mode("batch"), json!({"commitlog_sync": "batch"}));
        assert_eq!(
            mode("periodic"),
            json!({"commitlog_sync": "periodic", "commitlog_sync_period": "10000ms"})
        );
    }

    #[test]
    fn a_figure_of_the_spec_takes_the_place_of_ours() {
        assert_eq!(
            rendered(Units::InValue, &[(WINDOW, json!("2ms"))]),
            json!({"commitlog_sync": "group", "commitlog_sync_group_window": "2ms"})
        );
        // Under its former name too.
        assert_eq!(
            rendered(Units::InValue, &[("commitlog_sync_period_in_ms", json!(2000))]),
            json!({"commitlog_sync": "periodic", "commitlog_sync_period_in_ms": 2000})
        );
    }
}
