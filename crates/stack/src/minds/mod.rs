//! The minds, as the engine has them: each a table of rooms.

mod component;

pub use component::ComponentMind;
