//! The minds of staged services: `Component`, `NodeAgentGroup`, `Registration`,
//! `Stack`. Pure functions from what was observed to what is to be done. No I/O, no clock, no
//! randomness.

// `clippy.toml` lists them: clock, randomness, environment, files, network, output.
#![cfg_attr(
    not(test),
    forbid(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)
)]

pub mod build;
pub mod decide;
pub mod facts;
pub mod gate;
pub mod groups;
pub mod hazards;
pub mod minds;
pub mod owner;
pub mod registration;
pub mod reload;
pub mod render;
pub mod resources;
pub mod rights;
pub mod status;
pub mod validate;
pub mod words;

pub use minds::{ComponentMind, GroupMind, RegistrationMind, StackMind};
