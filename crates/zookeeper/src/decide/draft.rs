//! A decision in the making: what the deciders have found so far.

use palladion_api::service::Ask;
pub use palladion_plan::draft::is_upkeep;

/// A decision in the making.
pub type Draft = palladion_plan::Draft<Notes>;

/// What the status says besides.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// What only a user may allow.
    pub ask: Option<Ask>,
}
