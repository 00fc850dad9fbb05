//! The minds, as the engine has them: each a table of rooms.

mod component;
mod group;

pub use component::ComponentMind;
pub use group::GroupMind;
