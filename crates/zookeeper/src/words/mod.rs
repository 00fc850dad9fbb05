//! Everything that this mind says to people: one file per work, an enum per
//! subject, a variant per sentence.

pub mod evidence;
pub mod join;
pub mod leave;
pub mod refusal;
pub mod remove;
pub mod replace;
pub mod rescue;
pub mod restart;
pub mod status;
pub mod turn;

palladion_api::vocabulary![
    evidence, join, leave, refusal, remove, replace, rescue, restart, status, turn
];
