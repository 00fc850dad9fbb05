//! A decision in the making: what the deciders have found so far.

pub use palladion_plan::draft::is_upkeep;
pub use palladion_plan::members::Draft;
