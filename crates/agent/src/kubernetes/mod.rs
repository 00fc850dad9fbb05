//! The one object that the agent shares with the operator: its own
//! `CassandraMember`: the rights to it, and what it is read as.

pub use palladion_agent_core::kubernetes::{Contact, ask, report, watch};

use crate::settings::Settings;
use anyhow::Result;
use kube::Api;
use kube::core::DynamicObject;
use palladion_api::member::CassandraMember;
use palladion_api::rights::{Place, Right, Verb};

/// What is known of our member.
pub type News = palladion_agent_core::kubernetes::News<CassandraMember>;

/// What every pod of a member may do. Nothing in a member's object is secret.
pub const RIGHTS: &[Right] = &[
    Right::new(
        Place::Watched,
        palladion_api::GROUP,
        "cassandramembers",
        &[Verb::List, Verb::Watch],
        "An agent watches its own object",
    ),
    Right::new(
        Place::Watched,
        palladion_api::GROUP,
        "cassandramembers",
        &[Verb::Patch],
        "An agent writes the status of its own member; an admission policy enforces that",
    )
    .on("status"),
];

/// Our member.
pub fn members(settings: &Settings) -> Result<Api<DynamicObject>> {
    let (url, namespace) = (settings.pod.api_url.as_deref(), &settings.pod.namespace);
    palladion_agent_core::kubernetes::members::<CassandraMember>(url, namespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// One value that is not known must not end the watch.
    #[test]
    fn a_member_with_an_order_that_is_not_known_is_read() {
        let object = json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraMember",
            "metadata": { "name": "demo-dc1-a-0", "uid": "u" },
            "spec": {
                "cluster": "c", "ring": "r", "datacenter": "dc1", "rack": "a",
                "run": "Hibernated", "operation": { "id": "o1", "kind": "Scrub" },
            },
        });
        let object = serde_json::from_value(object).expect("an object");
        let News::Present(member) = News::read(object) else { panic!("it is read") };
        assert_eq!(member.spec.unknown(), ["spec.operation.kind", "spec.run"]);
    }
}
