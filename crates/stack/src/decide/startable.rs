//! Whether pods of a template could start at all: a change to one whose ConfigMap is
//! missing is not carried out, and what runs goes on running. What is carried out already
//! is only reported.

use crate::facts::named;
use crate::words::objects::Problem;
use crate::words::refusal::{Refusal, Unknown};
use palladion_plan::Snapshot;
use serde_json::Value;

/// Has the stored set this template?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// Yes.
    CarriedOut,
    /// It has another, or there is no set.
    New,
}

impl Template {
    /// By the hash of what it is made from, and by that of what the set has.
    pub fn of(wanted: &str, stored: Option<&str>) -> Self {
        if stored == Some(wanted) { Self::CarriedOut } else { Self::New }
    }
}

/// Why a template is not carried out now.
#[derive(Clone, Debug)]
pub enum Hindrance {
    /// A person has to act.
    Refused(Refusal),
    /// It is not known whether something is in the way.
    Unknown(Unknown),
}

/// What needs a person although the template is carried out.
///
/// # Errors
/// Why it is not.
pub fn check(
    snapshot: &Snapshot,
    template: &Value,
    is: Template,
) -> Result<Option<Problem>, Hindrance> {
    let (names, most) = (named::count(&snapshot.owner), named::MOST);
    if names > most {
        return Err(Hindrance::Refused(Refusal::TooManyNames { names, most }));
    }
    match (named::missing(snapshot, template), is) {
        (Ok(None), _) | (Err(_), Template::CarriedOut) => Ok(None),
        (Ok(Some(map)), Template::CarriedOut) => Ok(Some(Problem::NoConfigMap { map })),
        (Ok(Some(map)), Template::New) => Err(Hindrance::Refused(Refusal::NoConfigMap { map })),
        (Err(why), Template::New) => Err(Hindrance::Unknown(Unknown::Fact { why })),
    }
}
