//! How a node that does not run any more is taken out: first its replicas, each answer
//! checked, then the node. In the other order queues would keep a replica that nobody has
//! for ever, without a word: the command that forgets a node ignores what fails.

mod allowed;
mod dead;

pub use allowed::{Asked, ask, is_allowed, nonce_of};
pub use dead::is_forgotten;
