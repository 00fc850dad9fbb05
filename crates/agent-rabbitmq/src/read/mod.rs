//! What a node shows: answers parsed into types, and what they add up to.

mod api;
mod flags;
pub mod listing;
mod queues;
pub mod reading;
pub mod replicas;
mod signs;
pub mod terms;

pub use api::{Health, Listener, Node, Overview, Queue, QueueKind};
pub use flags::{Flag, feature_flags};
pub use queues::{name, on_node, queues_view};
pub use reading::Reading;
pub use replicas::{Awaited, CatchUp, QueueReplicas};
pub use signs::Sign;
