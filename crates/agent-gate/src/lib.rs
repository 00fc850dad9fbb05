//! What the agent does in pods of staged services: the gate that lets the
//! services of a pod start, and what follows when their files change. What is
//! decided is pure and in `gate` and `reload`; files, processes and sockets are apart.

pub mod cli;
pub mod files;
pub mod gate;
pub mod labels;
pub mod probe;
pub mod processes;
pub mod reload;
pub mod run;
pub mod words;

pub use gate::{Gate, Verdict, Why};
pub use labels::Labels;
pub use reload::Reload;
