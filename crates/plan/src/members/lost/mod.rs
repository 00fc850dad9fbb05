//! Volumes that are lost: the record of it, who says so, and how the claim and the pod
//! of one make room for another. Who takes its place, and when, decides the mind.

mod marked;
mod marks;
mod node_gone;
mod room;

pub use marked::decide as marked;
pub use marks::{has_old_claim, mark, unmark};
pub use node_gone::decide as node_gone;
pub use room::{is_needed, make};
