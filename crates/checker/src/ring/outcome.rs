//! What an error says about a write: that it was surely not done, or nothing.

use scylla::errors::{DbError, ExecutionError, RequestAttemptError};

use crate::history::{Action, Outcome};

/// The outcome of an attempt that got an error. Where a server may have begun,
/// and where we do not know, it is unknown.
pub fn of_error(action: &Action, error: &ExecutionError) -> Outcome {
    let cause = error.to_string();
    if was_not_begun(action, error) {
        Outcome::Failed { cause }
    } else {
        Outcome::Unknown { cause }
    }
}

fn was_not_begun(action: &Action, error: &ExecutionError) -> bool {
    match error {
        // Nobody to send it to, or nothing to send.
        ExecutionError::EmptyPlan
        | ExecutionError::BadQuery(_)
        | ExecutionError::ConnectionPoolError(_) => true,
        ExecutionError::LastAttemptError(RequestAttemptError::DbError(error, _)) => {
            was_refused(action, error)
        }
        ExecutionError::LastAttemptError(
            RequestAttemptError::UnableToAllocStreamId
            | RequestAttemptError::SerializationError(_)
            | RequestAttemptError::CqlRequestSerialization(_),
        ) => true,
        // The driver's errors may grow, and what is new is unknown.
        _ => false,
    }
}

/// Whether a server says so before it has sent anything to a replica.
fn was_refused(action: &Action, error: &DbError) -> bool {
    match error {
        DbError::SyntaxError
        | DbError::Invalid
        | DbError::Unauthorized
        | DbError::AuthenticationError
        | DbError::ConfigError
        | DbError::IsBootstrapping => true,
        // A compare-and-set may be unavailable for its commit, when it is decided.
        DbError::Unavailable { .. } => match action {
            Action::Put { .. } | Action::Delete { .. } => true,
            Action::Swap { .. } | Action::Read => false,
        },
        // Overloaded may come after some replicas were sent the write.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use scylla::statement::Consistency;

    use super::*;

    fn answered(error: DbError) -> ExecutionError {
        RequestAttemptError::DbError(error, String::new()).into()
    }

    fn unavailable() -> ExecutionError {
        answered(DbError::Unavailable { consistency: Consistency::All, required: 3, alive: 2 })
    }

    const PUT: Action = Action::Put { version: 1 };

    #[test]
    fn a_time_out_is_unknown_and_never_failed() {
        let times_out = [
            ExecutionError::RequestTimeout(Duration::from_secs(1)),
            answered(DbError::Overloaded),
            answered(DbError::ServerError),
            // CAS_WRITE_UNKNOWN of Cassandra 4.0 and later.
            answered(DbError::Other(0x1700)),
        ];
        for error in &times_out {
            assert!(matches!(of_error(&PUT, error), Outcome::Unknown { .. }), "{error:?}");
        }
    }

    #[test]
    fn what_no_server_began_has_failed() {
        for error in [unavailable(), ExecutionError::EmptyPlan, answered(DbError::IsBootstrapping)]
        {
            assert!(matches!(of_error(&PUT, &error), Outcome::Failed { .. }), "{error:?}");
        }
    }

    #[test]
    fn an_unavailable_compare_and_set_may_be_decided() {
        let swap = Action::Swap { from: None, to: "a".into() };
        assert!(matches!(of_error(&swap, &unavailable()), Outcome::Unknown { .. }));
    }
}
