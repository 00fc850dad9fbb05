//! The minds, as the engine has them: each a table of rooms.

mod component;
mod group;
mod registration;
mod stack;

pub use component::ComponentMind;
pub use group::GroupMind;
pub use registration::RegistrationMind;
pub use stack::StackMind;
