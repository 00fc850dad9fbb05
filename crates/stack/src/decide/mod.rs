//! What is decided, one folder for each kind of owner. Proofs are made in
//! `evidence/` only.

pub mod component;
pub mod draft;
pub mod evidence;
