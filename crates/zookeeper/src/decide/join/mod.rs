//! Joins, one at a time: as an observer first, then a change of the configuration
//! makes it vote.

mod advance;
mod next;
mod old_data;

pub use advance::advance;
pub use next::{adopt_permit, next};
pub use old_data::{is_unknown, off_record};
