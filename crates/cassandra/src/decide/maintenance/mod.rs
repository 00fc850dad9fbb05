//! What a ring needs from time to time: pending repairs and cleanups,
//! access to the servers, copies of the system keyspaces, seed lists, settings
//! of running servers.

pub mod absences;
pub mod access;
pub mod added;
pub mod asked;
mod asked_in_vain;
mod cut_off;
pub mod debts;
pub mod hinted;
pub mod hints;
pub mod lacking;
mod missed;
mod orders;
pub mod owed;
pub mod pay;
mod rebuild;
pub mod region_down;
pub mod runtime_settings;
pub mod seed_lists;
pub mod stale;
pub mod stopped;
pub mod system_keyspaces;
mod together;
pub mod waived;

use jiff::SignedDuration;

/// The clocks of machines may differ by so much, from each other and from the operator's.
const CLOCKS: SignedDuration = SignedDuration::from_hours(1);
