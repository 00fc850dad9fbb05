//! A decision in the making: what the deciders have found so far.

pub use palladion_plan::draft::is_upkeep;

/// A decision in the making.
pub type Draft = palladion_plan::Draft;
