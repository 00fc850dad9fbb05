//! What a check comes to, and the order of checks: the first one that fails is
//! the reason why a ring is not well, so what explains others stands before them.

use palladion_api::cluster::CheckResult;
use palladion_api::reasons::Reason;
use palladion_plan::words::{Message, Reasoned};

/// The checks in their order, by name.
pub const ORDER: [Reason; 10] = [
    Reason::MembersExist,
    Reason::SeedsLive,
    Reason::MembersHealthy,
    Reason::MembersNormal,
    Reason::AgentsSpeak,
    Reason::ServersRun,
    Reason::ViewsAgree,
    Reason::SchemaAgrees,
    Reason::TopologyStill,
    Reason::LinesSame,
];

/// What a check comes to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its name.
    pub check: Reason,
    /// What it has found.
    pub result: CheckResult,
    /// Why it does not pass, or under what assumption it does.
    pub message: Option<Message>,
}

impl Outcome {
    /// It passes.
    pub fn pass(check: Reason) -> Self {
        Outcome { check, result: CheckResult::Pass, message: None }
    }

    /// It passes under this assumption.
    pub fn given(sentence: impl Reasoned) -> Self {
        Self::because(CheckResult::Pass, sentence)
    }

    /// It fails.
    pub fn fail(sentence: impl Reasoned) -> Self {
        Self::because(CheckResult::Fail, sentence)
    }

    /// Nothing is known of it.
    pub fn unclear(sentence: impl Reasoned) -> Self {
        Self::because(CheckResult::Unknown, sentence)
    }

    /// It was not asked.
    pub fn unchecked(check: Reason) -> Self {
        Outcome { check, result: CheckResult::Unknown, message: None }
    }

    fn because(result: CheckResult, sentence: impl Reasoned) -> Self {
        Outcome { check: sentence.reason(), result, message: Some(sentence.into()) }
    }
}
