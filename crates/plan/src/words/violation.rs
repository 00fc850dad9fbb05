//! Why a plan is not carried out.

use jiff::Timestamp;

palladion_api::sentences! {
    /// Why a plan may not be carried out.
    pub enum Violation {
        /// A deletion that does not say which object it means.
        DeletionWithoutUid { doing: String } => "a deletion has no UID precondition: {doing}";
        /// A step that could hurt and would do so however old it is.
        VersionMissing { doing: String } =>
            "a hazardous step has no resourceVersion precondition: {doing}";
        /// A claim or a pod deleted as if nothing could be lost.
        LossNotStated { kind: &'static str, doing: String } =>
            "the deletion of a {kind} does not state what may be lost: {doing}";
        /// A step that could hurt without a proof.
        ProofMissing { doing: String } => "a hazardous step has no proof: {doing}";
        /// A proof of a kind that does not allow the step.
        ProofOfAnotherKind { kind: &'static str, doing: String } =>
            "a proof of kind {kind} does not permit this step: {doing}";
        /// A proof about somebody else than the step.
        ProofAboutAnother { about: String, doing: String } =>
            "the proof of this step is not about {about:?}: {doing}";
        /// A proof that may be true no more, or that is of a time that has not come.
        ProofOutOfTime { as_of: Timestamp, now: Timestamp, doing: String } =>
            "the proof of this step, dated {as_of}, is not valid at {now}: {doing}";
        /// A step of a turn in a ring that regions share, without their lock.
        WithoutLock { doing: String } =>
            "a step of a turn does not carry the region lock that is held: {doing}";
        /// More than one process stopped in one plan.
        TwoDisruptions { first: String, second: String } =>
            "the plan has more than one disruptive step: {first}; {second}";
    }
}

impl std::error::Error for Violation {}
