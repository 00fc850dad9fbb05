//! What the API server answered when it did not do what was asked, and which
//! class of failure that is.

use crate::words::Unanswered;
use kube::core::Status;
use palladion_api::answers;
use palladion_plan::FailureClass;
use std::time::Duration;

/// A request to the API server that failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// HTTP status code; none when there was no answer.
    pub code: Option<u16>,
    /// Kubernetes' reason, for example `Conflict`; empty when there was no answer.
    pub reason: String,
    /// The answer, for people.
    pub message: String,
    /// When the server wants to be asked again.
    pub retry_after: Option<Duration>,
    /// The fields that the server names as causes.
    fields: Vec<String>,
    /// Does the answer name the object?
    names_object: bool,
    is_of_the_future: bool,
    #[source]
    source: Option<Box<kube::Error>>,
}

/// How the API server begins when it cannot make a patch out of what is applied:
/// a mistake in the object, though it answers with 500 as if it were its own.
const NO_SUCH_FIELD: &str = "failed to create typed patch object";

/// Bytes of an answer at the most.
const LONGEST: usize = 4096;

impl ApiError {
    /// No answer in time.
    pub fn timeout(limit: Duration) -> Self {
        Self::unanswered(&Unanswered::Late { seconds: limit.as_secs() })
    }

    /// No answer that can be used.
    pub fn unanswered(why: &Unanswered) -> Self {
        Self::local(why.to_string())
    }

    /// An answer that cannot be what was asked for, or no answer.
    pub fn local(message: String) -> Self {
        Self {
            code: None,
            reason: String::new(),
            message,
            retry_after: None,
            fields: Vec::new(),
            names_object: false,
            is_of_the_future: false,
            source: None,
        }
    }

    /// The error that a watch reported inside its stream.
    pub fn from_status(status: Status) -> Self {
        let details = status.details.as_ref();
        let retry = details.map_or(0, |d| d.retry_after_seconds);
        Self {
            code: Some(status.code),
            retry_after: (retry > 0).then(|| Duration::from_secs(u64::from(retry))),
            fields: details
                .map(|d| d.causes.iter().map(|c| c.field.clone()).collect())
                .unwrap_or_default(),
            names_object: details.is_some_and(|d| !d.name.is_empty()),
            is_of_the_future: answers::is_of_the_future(&status),
            reason: status.reason,
            message: shortened(status.message),
            source: None,
        }
    }

    /// Does the object (or the kind) not exist?
    pub fn is_not_found(&self) -> bool {
        self.code == Some(404)
    }

    /// Does the server say that the object does not exist? Of a kind or a version that it does
    /// not serve it answers with the same code, and names no object.
    pub fn says_absent(&self) -> bool {
        self.is_not_found() && self.names_object
    }

    /// Has the watch's resourceVersion been forgotten by the server?
    pub fn is_gone(&self) -> bool {
        self.code == Some(410) || self.reason == "Expired"
    }

    /// Does the server say that it has too much to do, or not answer at all? 500 is
    /// not among them: so it answers as well where a webhook of one kind is broken.
    pub fn is_overload(&self) -> bool {
        matches!(self.code, None | Some(429 | 503 | 504)) && !self.is_of_the_future()
    }

    /// Has the server not reached the resourceVersion yet that was asked for? It lags
    /// behind another one, or its store was restored from a backup.
    pub fn is_of_the_future(&self) -> bool {
        self.is_of_the_future
    }

    /// What to do about it.
    pub fn class(&self) -> FailureClass {
        match self.code {
            // A stale uid is answered as an invalid field by some verbs.
            Some(422) if self.fields.iter().any(|f| f == "metadata.uid") => FailureClass::Conflict,
            Some(404 | 409 | 410 | 412) => FailureClass::Conflict,
            // An apply with a field that the kind does not have.
            Some(500) if self.message.starts_with(NO_SUCH_FIELD) => FailureClass::Refused,
            // 401: the token may be renewed on disk at this moment.
            None | Some(0 | 401 | 408 | 429 | 500..=599) => FailureClass::Transient,
            Some(_) => FailureClass::Refused,
        }
    }
}

/// An answer as it may stand in a status: the API server quotes the value that it refuses,
/// which may be as long as an object.
fn shortened(mut answer: String) -> String {
    if answer.len() > LONGEST {
        let ends = (0..=LONGEST).rev().find(|at| answer.is_char_boundary(*at));
        answer.truncate(ends.unwrap_or_default());
        answer.push('…');
    }
    answer
}

impl From<kube::Error> for ApiError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::from_status(*status),
            other => {
                let why = Unanswered::Unusable { cause: root(&other) };
                Self { source: Some(Box::new(other)), ..Self::unanswered(&why) }
            }
        }
    }
}

/// The innermost cause says what happened; the outer ones only name layers.
fn root(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(code: u16) -> ApiError {
        ApiError::from_status(Status { code, ..Status::default() })
    }

    #[test]
    fn every_answer_has_a_class_by_what_to_do_about_it() {
        for code in [404, 409, 410, 412] {
            assert_eq!(answer(code).class(), FailureClass::Conflict, "{code}");
        }
        for code in [401, 408, 429, 500, 503, 504] {
            assert_eq!(answer(code).class(), FailureClass::Transient, "{code}");
        }
        for code in [400, 403, 413, 422] {
            assert_eq!(answer(code).class(), FailureClass::Refused, "{code}");
        }
        let misspelled = ApiError::from_status(Status {
            code: 500,
            message: format!("{NO_SUCH_FIELD} (ns/a; apps/v1, Kind=StatefulSet): .spec.x"),
            ..Status::default()
        });
        assert_eq!(misspelled.class(), FailureClass::Refused);
        assert_eq!(ApiError::timeout(Duration::from_secs(1)).class(), FailureClass::Transient);
    }

    #[test]
    fn an_answer_that_quotes_a_whole_object_is_cut() {
        let answer =
            |message: String| ApiError::from_status(Status { message, ..Status::default() });
        assert_eq!(answer("short".into()).message, "short");
        let long = answer(format!("a{}", "ä".repeat(300_000))).message;
        assert!(long.starts_with("aä") && long.ends_with("ä…") && long.len() < 5000);
    }
}
