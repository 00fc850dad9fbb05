//! What people read of a `ZonedStatefulSet`: every sentence, by subject.

pub mod active;
pub mod config;
pub mod evidence;
pub mod objects;
pub mod refusal;
pub mod rollout;
pub mod status;

palladion_plan::vocabulary![active, config, evidence, objects, refusal, rollout, status];
