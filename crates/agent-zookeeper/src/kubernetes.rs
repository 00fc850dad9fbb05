//! The one object that the agent shares with the operator: its own
//! `ServiceMember`, and the rights to it.

use palladion_api::rights::{Place, Right, Verb};
use palladion_api::service_member::ServiceMember;

/// What is known of our member.
pub type News = palladion_agent_core::kubernetes::News<ServiceMember>;

/// What every pod of a member may do. Nothing in a member's object is secret.
pub const RIGHTS: &[Right] = &[
    Right::new(
        Place::Watched,
        palladion_api::GROUP,
        "servicemembers",
        &[Verb::List, Verb::Watch],
        "An agent watches its own object",
    ),
    Right::new(
        Place::Watched,
        palladion_api::GROUP,
        "servicemembers",
        &[Verb::Patch],
        "An agent writes the status of its own member; an admission policy enforces that",
    )
    .on("status"),
];
