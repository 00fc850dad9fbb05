//! Orders of members for backups and restores, which share one place in the spec of a
//! member: what users ask for, how orders are given and withdrawn, what a member makes of
//! them, and how that is reported.

mod answers;
mod asked;
mod orders;
mod report;
mod ring;
mod said;

pub use answers::{Answer, answer, identity, ordered, short};
pub use asked::{Asked, Found, Kind, is_over, of_uid, open};
pub use orders::{Whose, fenced, give, take_from};
pub use report::{Standing, conditions, step};
pub use ring::{full_members, moves};
pub use said::{Said, given_up, recorded};
