//! Joins, one at a time: as an observer first, then a change of the configuration
//! makes it vote.

mod advance;
mod next;
mod old_data;

pub use advance::{advance, is_begun};
pub use next::{adopt_permit, comes_first, next, of_stranded};
pub use old_data::{is_unknown, off_record};
