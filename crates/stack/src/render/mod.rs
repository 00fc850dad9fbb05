//! The texts of pods, made from templates. A template sees what is in
//! [`Variables`] and nothing else; one that fails says in which file and line.

mod compared;
mod placeholder;
mod templates;
#[cfg(test)]
mod tests;
mod variables;

pub use placeholder::{NODE, address, placeholders};
pub use templates::{Problem, Templates};
pub use variables::{OfGroup, Own, Peer, Variables, dependency};

/// Work that the template of one file may cause: its instructions, and a
/// sixty-fourth of the bytes that it makes.
pub const FUEL: u64 = 50_000;

/// Bytes of one text at the most.
pub const LONGEST_TEXT: usize = 256 * 1024;

/// Bytes of all texts of a ConfigMap at the most: the API server takes 1 MiB,
/// and the metadata needs some of it.
pub const LARGEST_MAP: usize = 900 * 1024;
