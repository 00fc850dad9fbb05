//! ConfigMaps and Secrets that the template refers to.

use jiff::Timestamp;

palladion_plan::sentences! {
    /// What is waited for while configuration changes.
    pub enum Waiting {
        More { since: Timestamp } => GatheringConfig,
            "the configuration has changed; pods will be updated once it stops changing";
    }

    /// Why configuration is not known.
    pub enum Unread {
        Missing { object: String } => ConfigMissing,
            "{object} does not exist, but the template refers to it; create it, or mark the reference `optional: true`";
        Unreadable { object: String, why: String } => ConfigUnreadable,
            "cannot read {object}: {why}; pods are not updated until it can be read";
        Unwatched { object: String } => ConfigUnreadable,
            "cannot read {object}: it is not watched yet; pods are not updated until it can be read";
    }
}
