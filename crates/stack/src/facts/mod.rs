//! From objects to facts: typed pictures of owners and of what they depend on.
//! Nothing is decided here.

pub mod claims;
pub mod component;
pub mod dependencies;
pub mod graph;
pub mod group;
pub mod named;
pub mod reach;
pub mod registration;
pub mod rejected;
pub mod stack;

pub use component::Facts;
pub use group::GroupFacts;
pub use registration::RegistrationFacts;
pub use stack::StackFacts;
