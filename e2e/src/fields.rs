//! Names and words of the API that stories look for and that are likely to be
//! renamed: one line each. Reasons are `palladion_api::reasons::Reason`.

/// Of a member's spec: repair and cleanup that it still needs.
pub const PENDING_MAINTENANCE: &str = "pendingMaintenance";
/// Of a cluster's status: the start of a new ring, while it goes on.
pub const INITIALIZATION: &str = "initialization";
/// Of a cluster's status: the newest release line that has run.
pub const HIGHEST_RELEASE_LINE: &str = "highestReleaseLine";
/// Of a start in a member's history: it began a new ring.
pub const CAUSE_INITIALIZE: &str = "Initialize";
/// The same: it went on leaving.
pub const CAUSE_RESUME_LEAVE: &str = "ResumeLeave";
/// Of a turn: a member is being replaced.
pub const STEP_REPLACE: &str = "Replace";
/// The same: the others remove a member.
pub const STEP_REMOVE: &str = "Remove";
/// Whoever writes another field of a member is told this.
pub const MEMBER_FIELDS_FOR_PEOPLE: &str =
    "users may change only `wanted`, `allowStaleStart` and `pendingMaintenance` of a member";
/// The answer to who changes whose a member is.
pub const BELONGING: &str = "only the operator writes ownerReferences, finalizers and the identifying labels and annotations of a member";
/// The answer to who adds an entry.
pub const ONLY_TAKEN_OUT: &str = "users may remove entries of `pendingMaintenance`";
