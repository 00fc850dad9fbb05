//! What in this mind's steps could hurt, and what must be proven before.

use crate::resources::{POD, STATEFUL_SET};
use palladion_plan::{About, Act, Hazard, ProofKind};

/// Pods that end by our own hand, and sets with all their pods.
pub const HAZARDS: &[Hazard] = &[
    Hazard { resource: POD, act: Act::Deleted, about: About::Object, kinds: &[ProofKind::Idle] },
    Hazard {
        resource: STATEFUL_SET,
        act: Act::Deleted,
        about: About::Object,
        kinds: &[ProofKind::Superseded],
    },
];
