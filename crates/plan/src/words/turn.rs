//! The one turn of a clustered service: what is said of it, whatever it is for.

use palladion_api::ids::MemberName;
use palladion_api::service::ServiceStep;

palladion_api::sentences! {
    /// What a turn is for.
    pub enum Work {
        Initialize => "initialization";
        Join => "join";
        Leave => "leave";
        Replace => "replacement";
        Restart => "restart";
        Rescue => "rescue";
        Remove => "removal";
    }

    /// Waiting within a turn.
    pub enum Waiting {
        UnknownPermit { member: MemberName } => FactUnknown,
            "member {member} has a permit of a newer operator, which this one does not understand: upgrade the operator";
    }

    /// Steps.
    pub enum Doing {
        RaiseEpoch => "take over as the new leader";
        End { member: MemberName, work: Work, why: String } => "end the {work} of member {member}: {why}";
        Finish { member: MemberName, work: Work } => "record that the {work} of member {member} is complete";
        Resume { member: MemberName, work: Work } => "resume the {work} of member {member}";
        Permit { member: MemberName, work: Work } => "permit the {work} of member {member}";
        Withdraw { member: MemberName } => "withdraw the permit of member {member}";
    }
}

impl From<ServiceStep> for Work {
    fn from(step: ServiceStep) -> Self {
        match step {
            ServiceStep::Initialize => Work::Initialize,
            ServiceStep::Join => Work::Join,
            ServiceStep::Leave => Work::Leave,
            ServiceStep::Replace => Work::Replace,
            ServiceStep::Restart => Work::Restart,
            ServiceStep::Rescue => Work::Rescue,
            ServiceStep::Remove => Work::Remove,
        }
    }
}
