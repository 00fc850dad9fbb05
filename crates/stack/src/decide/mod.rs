//! What is decided: one folder for each kind of owner, and what they share.
//! Proofs are made in `evidence/` only.

mod behind;
pub mod component;
pub mod dependencies;
pub mod draft;
pub mod evidence;
pub mod gates;
pub mod group;
pub mod kept;
mod mounted;
pub mod registration;
pub mod rollout;
pub mod settle;
pub mod stack;
pub mod startable;
mod text;
