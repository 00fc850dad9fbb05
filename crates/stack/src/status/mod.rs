//! What is so, what is being done, and what is waited for and since when:
//! observations only, no decision is taken from them.

pub mod child;
pub mod common;
pub mod component;
pub mod group;
pub mod registration;
mod service;
pub mod stack;
