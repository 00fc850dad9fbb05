//! Who is who in an ensemble of ZooKeeper: the number of a server, and the
//! number by which ZooKeeper orders transactions and configurations.

use crate::ids::Malformed;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// The number of a server in its ensemble (`myid`). It names one volume for life.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(transparent)]
pub struct ServerId(i64);

impl ServerId {
    /// Numbers that an operator gives. ZooKeeper takes 255, too, but not together
    /// with nodes that expire (`extendedTypesEnabled`).
    pub const LEAST: i64 = 1;
    /// See [`ServerId::LEAST`].
    pub const MOST: i64 = 254;

    /// As an object of the API or a configuration has it: not checked, so that an
    /// odd one does not make the whole ensemble unreadable.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// As a server says it: checked to be a number.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let what = "server ID";
        let malformed = || Malformed { text: text.into(), what, wanted: "it is a number" };
        text.trim().parse().map(Self).map_err(|_| malformed())
    }

    /// The number.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// May an operator give it to a volume?
    pub const fn can_be_given(self) -> bool {
        self.0 >= Self::LEAST && self.0 <= Self::MOST
    }

    /// The next higher one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl schemars::JsonSchema for ServerId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        i64::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        i64::json_schema(generator)
    }
}

/// The number of a transaction, and of the configuration that it committed:
/// the epoch of the leader in the upper half, a counter in the lower. In JSON it
/// is hexadecimal text, as ZooKeeper itself writes the version of a
/// configuration: JSON's numbers are not exact for all of them in every reader.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zxid(u64);

impl Zxid {
    /// What the schema asks of the text.
    pub const PATTERN: &str = "^[0-9a-f]{1,16}$";

    /// Of a number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// As ZooKeeper writes it: hexadecimal, with or without `0x`.
    ///
    /// # Errors
    /// It is no such number.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let digits = text.trim();
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        // `from_str_radix` takes a sign.
        let is_one = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let number = is_one.then(|| u64::from_str_radix(digits, 16).ok()).flatten();
        let wanted = "it is a hexadecimal number of at most 16 digits";
        let malformed = || Malformed { text: text.into(), what: "zxid", wanted };
        number.map(Self).ok_or_else(malformed)
    }

    /// The number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The epoch of the leader that gave it.
    pub const fn epoch(self) -> u64 {
        self.0 >> 32
    }
}

impl fmt::Display for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl fmt::Debug for Zxid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Zxid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Zxid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The schema lets no other text into an object.
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for Zxid {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Zxid".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "maxLength": 16, "pattern": Self::PATTERN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_zxid_is_read_as_zookeeper_writes_it_and_compared_as_a_number() {
        let of = |text: &str| Zxid::parse(text).expect("it is one");
        assert_eq!(of("0x100000003\n"), of("100000003"));
        assert!(of("9") < of("10"), "as texts they stand the other way round");
        assert_eq!(of("20000000a").epoch(), 2);
        assert_eq!(json!(of("0x10000000A")), json!("10000000a"));
        assert_eq!(serde_json::from_value::<Zxid>(json!("10")).ok(), Some(Zxid::new(16)));
        for wrong in ["", "0x", "-1", "+1", "g", "10000000000000000"] {
            assert!(Zxid::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_server_id_is_a_number_of_which_254_can_be_given() {
        assert_eq!(ServerId::parse(" 3\n"), Ok(ServerId::new(3)));
        assert!(ServerId::parse("").is_err());
        let can = |number| ServerId::new(number).can_be_given();
        assert_eq!([can(0), can(1), can(254), can(255)], [false, true, true, false]);
        assert_eq!(json!(ServerId::new(3).next()), json!(4));
    }
}
