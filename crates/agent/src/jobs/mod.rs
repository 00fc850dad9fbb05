//! Jobs of a member, as they are carried out. [`crate::decide::operation`] and
//! [`crate::decide::job`] decide when one begins.

mod adopt;
mod answer;
mod bench;
mod book;
mod course;
mod due;
mod flush;
mod follow;
mod goes_on;
mod granted;
mod intensity;
mod levels;
mod missed;
mod numbers;
mod orphan;
mod pace;
mod patience;
mod plan;
mod rebuild;
mod remove_datacenter;
mod repair;
mod replication;
mod rewrite;
mod run;
mod segments;
mod snapshot;
mod stop;
mod tries;
mod unwritten;
mod work;

pub use bench::Bench;
pub use book::{Book, Live};
pub use goes_on::over;
pub use levels::give_back;
pub use orphan::{Waited, settle};
pub use pace::Pace;
pub use run::{Outcome, Tools, run};
pub use unwritten::Unwritten;
pub use work::work;

#[cfg(test)]
pub(crate) mod kill;
#[cfg(test)]
pub(crate) mod place;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
