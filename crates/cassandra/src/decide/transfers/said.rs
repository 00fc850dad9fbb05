//! A sentence with its reason, and as it goes on record.

use super::short;
use crate::facts::Facts;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::GivenUp;
use palladion_api::reasons::Reason;
use palladion_api::words::{Message, Reasoned};

/// A sentence with its reason.
#[derive(Clone)]
pub struct Said(pub Reason, pub Message);

impl<S: Reasoned> From<S> for Said {
    fn from(sentence: S) -> Self {
        Self(sentence.reason(), sentence.into())
    }
}

/// What is given up for this, as of now.
pub fn given_up(facts: &Facts<'_>, why: &Said) -> GivenUp {
    GivenUp {
        reason: why.0.as_str().into(),
        message: short(why.1.to_string()),
        since: Time(facts.now()),
    }
}

/// The reason of a sentence, as it was recorded.
pub fn recorded(reason: &str, or: Reason) -> Reason {
    Reason::read(reason).unwrap_or(or)
}
