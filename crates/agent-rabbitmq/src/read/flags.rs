//! Feature flags, as `rabbitmqctl list_feature_flags name state stability provided_by` lists
//! them. The management API shows them to administrators alone (R18 of the experiments in
//! `docs/sources.md`).

use palladion_api::service_member::FeatureFlags;
use serde::Deserialize;

/// A feature flag.
#[derive(Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its name.
    pub name: String,
    /// `enabled`, `disabled`, `state_changing`, `unavailable`.
    pub state: String,
    /// `stable`, `experimental`, `required`. Without the word it is no stable one.
    #[serde(default)]
    pub stability: String,
    /// The application that brings it in.
    #[serde(default)]
    pub provided_by: String,
}

/// The applications that run on a node which joins: it has no plugin but the one that the
/// agent needs. A flag that none of them defines would make its boot fail
/// (`incompatible_feature_flags`); a plugin that is enabled later takes its flags from the
/// cluster.
const OF_JOINER: [&str; 3] = ["rabbit", "rabbitmq_management", "rabbitmq_management_agent"];

impl Flag {
    /// Is it enabled?
    pub fn is_enabled(&self) -> bool {
        self.state == "enabled"
    }

    /// Is it enabled, and can a node that joins start with it?
    pub fn is_of_joiner(&self) -> bool {
        self.is_enabled() && OF_JOINER.contains(&self.provided_by.as_str())
    }

    /// May it be enabled, and is it not? An experimental one is for a person to enable, and
    /// one that some node does not know (`unavailable`, between two lines) is for later.
    pub fn is_due(&self) -> bool {
        self.state == "disabled" && matches!(self.stability.as_str(), "stable" | "required")
    }
}

/// As they are reported.
pub fn feature_flags(all: &[Flag]) -> FeatureFlags {
    let names = |wanted: fn(&Flag) -> bool| {
        let mut names: Vec<String> =
            all.iter().filter(|flag| wanted(flag)).map(|flag| flag.name.clone()).collect();
        names.sort();
        names
    };
    FeatureFlags { enabled: names(Flag::is_of_joiner), stable_disabled: names(Flag::is_due) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_flags_that_are_not_enabled_are_due_and_experimental_ones_never() {
        let text = r#"[
            {"name":"quorum_queue","state":"enabled","stability":"stable","provided_by":"rabbit"},
            {"name":"khepri_db","state":"disabled","stability":"experimental",
             "provided_by":"rabbit"},
            {"name":"stream_queue","state":"disabled","stability":"stable"},
            {"name":"of_a_newer_node","state":"unavailable","stability":"stable"},
            {"name":"later","state":"disabled"}
        ]"#;
        let flags = feature_flags(&serde_json::from_str::<Vec<Flag>>(text).unwrap());
        assert_eq!(flags.enabled, ["quorum_queue"]);
        assert_eq!(flags.stable_disabled, ["stream_queue"]);
    }

    /// Those of `rabbitmq_mqtt` are as 3.12 defines them (`rabbit_mqtt_ff`).
    #[test]
    fn flags_of_plugins_are_enabled_with_the_others_and_no_joiner_is_told_them() {
        let text = r#"[
            {"name":"delete_ra_cluster_mqtt_node","state":"enabled","stability":"stable",
             "provided_by":"rabbitmq_mqtt"},
            {"name":"rabbit_mqtt_qos0_queue","state":"disabled","stability":"stable",
             "provided_by":"rabbitmq_mqtt"},
            {"name":"drop_unroutable_metric","state":"enabled","stability":"stable",
             "provided_by":"rabbitmq_management_agent"}
        ]"#;
        let flags = feature_flags(&serde_json::from_str::<Vec<Flag>>(text).unwrap());
        assert_eq!(flags.enabled, ["drop_unroutable_metric"]);
        assert_eq!(flags.stable_disabled, ["rabbit_mqtt_qos0_queue"]);
    }
}
