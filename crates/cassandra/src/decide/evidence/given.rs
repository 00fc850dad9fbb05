//! What a member was given to do by a task, and what its agent says of it.

use crate::facts::MemberFact;
use jiff::SignedDuration;
use palladion_api::member::{Job, JobStatus};

/// Nobody waits for longer for the end of what a member was granted that does not answer. Its
/// agent ends that by itself when it has not reached the API server for half an hour, and
/// its server may take some minutes to.
pub const GRANT: SignedDuration = SignedDuration::from_hours(1);

/// What a member is asked to do, and what its agent says of it.
pub fn asked(member: &MemberFact) -> Option<&Job> {
    member.spec.as_ref()?.job.as_ref()
}

/// What the agent says of what it is asked.
pub fn answer(member: &MemberFact) -> Option<&JobStatus> {
    let asked = asked(member)?;
    member.status.job.as_ref().filter(|status| status.id == asked.id)
}
