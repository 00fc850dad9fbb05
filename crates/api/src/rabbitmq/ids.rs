//! Who is who in a cluster of RabbitMQ: the name of a node.

use crate::ids::MemberName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a RabbitMQ node: `rabbit@<host>`, with the whole domain name of its
/// pod, as the addresses of pods change and Mnesia knows nodes by name alone. A new
/// volume of the same member has the same name: what tells both apart is the volume
/// ID, and that the others have forgotten the old one before the new one joins.
#[derive(Serialize, Deserialize, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(transparent)]
pub struct NodeName(String);

impl NodeName {
    /// Characters at the most: so many has an atom of Erlang.
    pub const LONGEST: usize = 255;

    /// As an object of the API or a server has it: not checked, so that an odd name does
    /// not make the whole cluster unreadable.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name of a member's node. Erlang takes 255 characters: the schemas of the
    /// cluster's name and domain leave no more.
    pub fn of(member: &MemberName, service: &str, namespace: &str, domain: &str) -> Self {
        Self(format!("rabbit@{member}.{service}.{namespace}.svc.{domain}"))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host: what stands behind the `@`.
    pub fn host(&self) -> Option<&str> {
        self.0.split_once('@').map(|(_, host)| host)
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

// By hand: a derived one would put our comment in every field's schema.
impl schemars::JsonSchema for NodeName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NodeName".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "minLength": 1, "maxLength": Self::LONGEST })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_is_one_that_erlang_takes() {
        let set = format!("{}-rmq", "c".repeat(crate::names::STATEFUL_SET_NAME_MAX - 4));
        let member = crate::names::member(&set, 6);
        let service = crate::names::nodes_service(&set);
        let name = NodeName::of(&member, &service, &"n".repeat(63), &"d".repeat(63));
        assert!(name.as_str().len() <= NodeName::LONGEST, "{}", name.as_str().len());
        assert!(name.host().is_some_and(|host| host.starts_with("ccc")));
    }
}
