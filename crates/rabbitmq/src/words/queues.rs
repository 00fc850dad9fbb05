//! Queues, in a sentence: how many, and which.

use palladion_api::service_member::QueueNames;
use palladion_plan::words::{Count, Names};

palladion_plan::sentences! {
    /// Some queues.
    pub enum Queues {
        None => "no queue";
        All { count: Count, names: Names } => "{count} ({names})";
        Some { count: Count, names: Names } => "{count} ({names} among them)";
    }
}

impl From<&QueueNames> for Queues {
    fn from(queues: &QueueNames) -> Self {
        let known = u32::try_from(queues.names.len()).unwrap_or(u32::MAX);
        let (count, names) = (Count::of(queues.count, "queue"), Names::of(&queues.names));
        match queues.count {
            0 => Queues::None,
            all if all <= known => Queues::All { count, names },
            _ => Queues::Some { count, names },
        }
    }
}
