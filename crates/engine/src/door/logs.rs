//! The log of a container, as it is or as it grows.

use super::Door;
use super::rights::{Attempt, Refusal};
use crate::error::ApiError;
use crate::request::path::{encode, object_path};
use futures::io::AsyncBufRead;
use palladion_api::rights::Verb;
use palladion_plan::{ObjectKey, kinds};

/// Which part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The container.
    pub container: String,
    /// Lines from the end; all, if absent.
    pub tail: Option<u32>,
    /// Only what is younger than so many seconds.
    pub since_seconds: Option<u64>,
    /// Which run of the container.
    pub run: Run,
    /// Until when it is read.
    pub until: Until,
}

/// Which run of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// The one that runs now.
    #[default]
    Current,
    /// The one before.
    Previous,
}

/// Until when a log is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// Until its end of now.
    #[default]
    Now,
    /// For as long as the container runs.
    Ended,
}

impl Door {
    /// The log of a pod, as a stream of bytes.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn log(
        &self,
        namespace: &str,
        pod: &str,
        log: &Log,
    ) -> Result<impl AsyncBufRead + use<>, Refusal> {
        let attempt = Attempt::on_object(Verb::Get, kinds::POD, namespace, pod).part("log");
        let refused = |answer: ApiError| Refusal { attempt: attempt.clone(), answer };
        let path = path(&ObjectKey::new(kinds::POD, namespace, pod), log);
        let request = super::request(attempt.method(), &path, None).map_err(refused)?;
        self.within(self.client.request_stream(request)).await.map_err(refused)
    }
}

fn path(pod: &ObjectKey, log: &Log) -> String {
    let mut path = format!("{}/log?container={}", object_path(pod), encode(&log.container));
    if let Some(lines) = log.tail {
        path.push_str(&format!("&tailLines={lines}"));
    }
    if let Some(seconds) = log.since_seconds {
        path.push_str(&format!("&sinceSeconds={seconds}"));
    }
    match log.run {
        Run::Current => {}
        Run::Previous => path.push_str("&previous=true"),
    }
    match log.until {
        Until::Now => {}
        Until::Ended => path.push_str("&follow=true"),
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_asks_for_what_was_said_and_nothing_else() {
        let pod = ObjectKey::new(kinds::POD, "ns", "a-0");
        let plain = Log { container: "cassandra".into(), ..Log::default() };
        assert_eq!(path(&pod, &plain), "/api/v1/namespaces/ns/pods/a-0/log?container=cassandra");
        let all = Log {
            tail: Some(5),
            since_seconds: Some(60),
            run: Run::Previous,
            until: Until::Ended,
            ..plain
        };
        let end = "&tailLines=5&sinceSeconds=60&previous=true&follow=true";
        assert!(path(&pod, &all).ends_with(end));
    }
}
