//! Joins, one at a time: closed to clients first, and open when the node is in the
//! cluster; then it takes replicas, and has caught up.

mod advance;
mod finish;
mod named;
mod next;
mod old_data;
pub mod without_data;

pub use advance::{advance, goes_on, is_begun, permitted};
pub use finish::{announced, complete};
pub use next::{
    adopt_permit, comes_first, go_on_after_permit, is_awaited, is_stranded, next, of_stranded,
    stranded,
};
pub use old_data::off_record;
