//! For how long the members keep hints for one that is down, by the settings
//! that people give to the servers.

use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use jiff::SignedDuration;
use palladion_api::server_config::{SERVER_CONFIG_FILE, ServerConfig};
use serde_json::Value;
use std::collections::BTreeMap;

/// `max_hint_window` where nobody has set it, of every version.
const DEFAULT: SignedDuration = SignedDuration::from_hours(3);

/// How many hints a coordinator keeps for one member, from Cassandra 4.1 on; without a
/// limit where it is 0 or less, or not set.
const HINTS_SIZE: &str = "max_hints_size_per_host";

/// The shortest hint window of the ring: what a coordinator of any rack keeps. Where the
/// room for hints is limited, any absence may outlast them: what does not fit is dropped,
/// and nobody hears of it.
pub fn window(valid: &Valid) -> SignedDuration {
    let of_racks = valid.racks.iter().map(|rack| of(&rack.server.config));
    of_racks.min().unwrap_or(DEFAULT)
}

/// The same by what the pods mount, where the spec may be any.
pub fn rendered_window(facts: &Facts<'_>) -> SignedDuration {
    let of_racks = facts.objects(kinds::CONFIG_MAP).iter().filter_map(|map| {
        let server = map.at("/data")?.get(SERVER_CONFIG_FILE)?.as_str()?;
        let server: ServerConfig = serde_json::from_str(server).ok()?;
        Some(of(&server.config))
    });
    of_racks.min().unwrap_or(DEFAULT)
}

fn of(config: &BTreeMap<String, Value>) -> SignedDuration {
    let is_limited = config.get(HINTS_SIZE).is_some_and(is_limit);
    if is_limited || config.get("hinted_handoff_enabled").is_some_and(is_off) {
        return SignedDuration::ZERO;
    }
    let millis = config.get("max_hint_window_in_ms").and_then(Value::as_i64);
    let set = config.get("max_hint_window").and_then(Value::as_str).and_then(parse);
    set.or(millis.map(SignedDuration::from_millis)).unwrap_or(DEFAULT)
}

/// Is it a size above zero? What nobody can read may be one.
fn is_limit(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Number(size) => size.as_f64().is_none_or(|size| size > 0.0),
        Value::String(text) => {
            let unit = |c: char| c.is_ascii_alphabetic();
            let size = text.trim().trim_end_matches(unit).trim().parse::<i64>();
            size.is_err() || size.is_ok_and(|size| size > 0)
        }
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

fn is_off(value: &Value) -> bool {
    *value == Value::Bool(false) || value.as_str() == Some("false")
}

/// A duration as Cassandra spells it: a whole number and its unit.
fn parse(text: &str) -> Option<SignedDuration> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let number: i64 = text[..split].parse().ok()?;
    let seconds = |each: i64| number.checked_mul(each).map(SignedDuration::from_secs);
    match &text[split..] {
        "d" => seconds(24 * 3600),
        "h" => seconds(3600),
        "m" => seconds(60),
        "s" => seconds(1),
        "ms" => Some(SignedDuration::from_millis(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_window_is_read_as_the_servers_read_it() {
        let of = |config: Value| {
            let config: BTreeMap<String, Value> =
                serde_json::from_value(config).expect("should be settings");
            super::of(&config)
        };
        assert_eq!(of(json!({})), SignedDuration::from_hours(3));
        assert_eq!(of(json!({ "max_hint_window": "90m" })), SignedDuration::from_mins(90));
        assert_eq!(of(json!({ "max_hint_window": "1d" })), SignedDuration::from_hours(24));
        assert_eq!(of(json!({ "max_hint_window_in_ms": 60000 })), SignedDuration::from_mins(1));
        assert_eq!(of(json!({ "max_hint_window": "soon" })), SignedDuration::from_hours(3));
        assert_eq!(of(json!({ "hinted_handoff_enabled": false })), SignedDuration::ZERO);
    }

    #[test]
    fn where_the_room_for_hints_is_limited_they_cover_nothing() {
        let of = |size: Value| super::of(&[(HINTS_SIZE.to_string(), size)].into());
        for none in [json!("0MiB"), json!(0), json!(-1), json!("-1"), json!(null)] {
            assert_eq!(of(none), SignedDuration::from_hours(3));
        }
        for limit in [json!("1GiB"), json!("512MiB"), json!(128), json!("1.5GiB"), json!("much")] {
            assert_eq!(of(limit), SignedDuration::ZERO);
        }
    }
}
