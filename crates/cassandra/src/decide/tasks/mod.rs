//! What people ask for by a `CassandraTask`.

mod replace;
mod task;

pub use replace::decide;
