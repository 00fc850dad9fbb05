//! ConfigMaps and Secrets that the template refers to.

use jiff::Timestamp;

palladion_plan::sentences! {
    /// What is waited for while configuration changes.
    pub enum Waiting {
        More { since: Timestamp } => GatheringConfig,
            "the configuration has changed; a rollout with this and any further changes starts in a few seconds";
    }

    /// Why configuration is not known.
    pub enum Unread {
        Missing { object: String } => ConfigMissing,
            "{object} does not exist, but the template refers to it; create it, or set `optional: true` on every reference to it";
        Unreadable { object: String, why: String } => ConfigUnreadable,
            "the content of {object} is unknown: {why}; configuration changes are not rolled out until it can be read";
        Unwatched { object: String } => ConfigUnreadable,
            "the content of {object} is unknown: the operator is not watching it yet; configuration changes are not rolled out until it can be read";
    }
}
