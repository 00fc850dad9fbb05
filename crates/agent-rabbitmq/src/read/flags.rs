//! Feature flags, as `rabbitmqctl list_feature_flags name state stability` lists them. The
//! management API shows them to administrators alone (R18 of the experiments in
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
}

impl Flag {
    /// Is it enabled?
    pub fn is_enabled(&self) -> bool {
        self.state == "enabled"
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
    FeatureFlags { enabled: names(Flag::is_enabled), stable_disabled: names(Flag::is_due) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_flags_that_are_not_enabled_are_due_and_experimental_ones_never() {
        let text = r#"[
            {"name":"quorum_queue","state":"enabled","stability":"stable"},
            {"name":"khepri_db","state":"disabled","stability":"experimental"},
            {"name":"stream_queue","state":"disabled","stability":"stable"},
            {"name":"of_a_newer_node","state":"unavailable","stability":"stable"},
            {"name":"later","state":"disabled"}
        ]"#;
        let flags = feature_flags(&serde_json::from_str::<Vec<Flag>>(text).unwrap());
        assert_eq!(flags.enabled, ["quorum_queue"]);
        assert_eq!(flags.stable_disabled, ["stream_queue"]);
    }
}
