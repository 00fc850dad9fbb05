//! How a node is asked: its management API on the loopback interface, which costs a
//! node two milliseconds, and the command line of its image, which costs a second of a
//! processor (R19 of the experiments in `docs/sources.md`). Every answer is bounded in
//! size, and every question in time.

pub mod ctl;
mod error;
pub mod http;

pub use ctl::Ctl;
pub use error::Error;
pub use http::Management;
