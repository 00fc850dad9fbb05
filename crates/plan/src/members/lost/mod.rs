//! Volumes that are lost: the record of it, who says so, when it is taken back, and how the claim and the pod
//! of one make room for another. Who takes its place, and when, decides the mind.

mod candidates;
mod marked;
mod marks;
mod node_gone;
mod over;
mod room;
mod taken_back;

pub use candidates::{can_begin, given_way, given_way_after, to_replace};
pub use marked::decide as marked;
pub(super) use marked::named;
pub use marks::{all_server_ids, has_heard, has_old_claim, mark, unmark};
pub use node_gone::decide as node_gone;
pub use over::{Over, over};
pub use room::{PATIENCE, is_another, is_needed, make, waits_for_pod};
pub use taken_back::{decide as taken_back, hold};
