//! How long an answer is waited for that the server gives when its work is done. A flush or a
//! snapshot cannot be stopped, and a server whose disk hangs never answers: after a stop it is
//! waited for no longer than a repair that is asked to end, because the ring waits as long.

use super::bench::{Bench, Halt, Step};
use crate::admin::Answer;
use crate::words::calls::Doing;

/// Wait for it. A call that fails means what [`Bench::failed`] says.
pub async fn answered<T>(bench: &Bench, answer: Answer<'_, T>, doing: Doing) -> Step<T> {
    let is_left = async {
        bench.asked_to_stop().await;
        tokio::time::sleep(bench.pace.ends).await;
    };
    tokio::select! {
        answer = answer => match answer {
            Ok(value) => Ok(value),
            Err(error) => Err(bench.failed(doing, error).await),
        },
        () = is_left => Err(Halt::LeftUnanswered { doing }),
    }
}
