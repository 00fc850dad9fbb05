//! What racks and zones have in common: pure helpers over pod templates and
//! pods, used by every mind that makes StatefulSets.

pub mod config;
pub mod environment;
pub mod pod;
pub mod zone;
