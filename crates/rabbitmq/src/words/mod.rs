//! Everything that this mind says to people: one file per work, an enum per subject, a
//! variant per sentence. What is said of members of any service stands in `plan`.

pub mod evidence;
pub mod join;
pub mod leave;
pub mod maintain;
pub mod queues;
pub mod refusal;
pub mod replace;
pub mod restart;
pub mod status;
pub mod turn;

palladion_api::vocabulary![
    evidence, join, leave, maintain, queues, refusal, replace, restart, status, turn
];
