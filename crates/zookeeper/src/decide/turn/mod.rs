//! The one turn of the ensemble: the lock, the permit of its member, the server IDs that it gives, and the changes of the configuration
//! that it makes.

pub mod change;
pub mod lock;
pub mod orders;
pub mod permit;
pub mod refused;
pub mod server_id;
