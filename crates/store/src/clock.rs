//! The time by the clock of a store of objects: the header `Date` of its answers.
//! The client does not show headers, so they are read where its requests pass.

use jiff::fmt::rfc2822::DateTimeParser;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// No answer has had a date.
const UNKNOWN: i64 = i64::MIN;

/// The date of the last answer.
#[derive(Clone, Debug)]
pub struct Clock(Arc<AtomicI64>);

impl Default for Clock {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(UNKNOWN)))
    }
}

impl Clock {
    /// Forget it, so that only a later answer is read.
    pub fn forget(&self) {
        self.0.store(UNKNOWN, Ordering::SeqCst);
    }

    /// In seconds since 1970.
    pub fn read(&self) -> Option<i64> {
        let seconds = self.0.load(Ordering::SeqCst);
        (seconds != UNKNOWN).then_some(seconds)
    }

    fn note(&self, date: Option<&str>) {
        let read = date.and_then(|date| DateTimeParser::new().parse_timestamp(date).ok());
        self.0.store(read.map_or(UNKNOWN, |at| at.as_second()), Ordering::SeqCst);
    }
}

/// Requests whose answers set the clock.
#[derive(Debug)]
pub struct Dated(pub Clock);

impl HttpConnector for Dated {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Service { client, clock: self.0.clone() }))
    }
}

#[derive(Debug)]
struct Service {
    client: HttpClient,
    clock: Clock,
}

#[async_trait::async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = self.client.execute(request).await?;
        self.clock.note(answer.headers().get("date").and_then(|date| date.to_str().ok()));
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_an_answer_is_read_and_none_is_unknown() {
        let clock = Clock::default();
        assert_eq!(clock.read(), None);
        clock.note(Some("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(clock.read(), Some(784_111_777));
        for other in [None, Some("yesterday")] {
            clock.note(other);
            assert_eq!(clock.read(), None);
        }
    }
}
