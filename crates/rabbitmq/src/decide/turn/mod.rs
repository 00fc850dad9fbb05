//! The one turn of the cluster: the lock, the permit of its member, and what members are
//! ordered to do in it.

pub mod failing;
pub mod lock;
pub mod order;
pub mod orders;
pub mod permit;
pub mod postponed;
pub mod yet_to_grow;
