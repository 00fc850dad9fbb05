//! What proves that a step may be taken: fresh views of the ring by other
//! members, and records that need nobody's word. Only this folder makes proofs.

pub mod absence;
mod answer;
mod ask;
mod datacenters;
pub mod given;
mod heard;
mod held;
mod idle;
pub mod left_running;
pub mod lost;
pub mod marks;
mod moved;
mod proof;
mod prove;
mod purpose;
mod quiet;
pub mod records;
mod stranger;
#[cfg(test)]
mod tests;
pub mod unnoticed;
mod verdict;
mod witness;

pub use absence::is_untouched;
pub use ask::ask;
pub use datacenters::{Elsewhere, is_back_or_gone};
pub use heard::{ask_who_has_heard, unheard_by};
pub use held::wait_for_ring;
pub use idle::{has_ended, is_drained, runs_no_server, serves_nothing, stands_stopped};
pub use lost::lost;
pub use moved::is_given_up;
pub use proof::Proof;
pub use prove::{Unproven, is_out_already, prove, refused};
pub use purpose::Purpose;
pub use quiet::{
    elsewhere_is_quiet, is_quiet_for, is_quiet_without, nobody_moves, others_are_quiet,
    rest_is_quiet, ring_is_quiet, ring_is_quiet_but,
};
pub use stranger::{Who, may_be_nobody, who_was_it};
pub use witness::{others, rest_of, seen_up_by};
