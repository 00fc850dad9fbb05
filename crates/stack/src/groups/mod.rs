//! What only groups of node agents have: profiles that are merged, and nodes
//! that more than one group selects.

pub mod overlap;
pub mod profiles;
