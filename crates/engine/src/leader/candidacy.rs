//! Where the candidacy for the Lease runs. In the operator it has a thread, a
//! run time and a connection of its own: the Lease is renewed however long the
//! decisions of the other thread take and however many requests it has open.
//! What a hung process would keep for ever by that, the kubelet's liveness
//! probe ends: the other thread answers it.

use crate::error::ApiError;
use crate::leader::Term;
use crate::leader::run::{Election, Lost};
use futures::future::BoxFuture;
use kube::Client;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long the release of a Lease may take before the process ends without it:
/// longer than one request.
const RELEASE_TIME: Duration = Duration::from_secs(20);

/// Makes a connection to the API server, on the run time that is to serve it.
pub type Connect = Arc<dyn Fn() -> BoxFuture<'static, Result<Client, ApiError>> + Send + Sync>;

/// A candidacy that is under way.
pub struct Candidacy {
    term: oneshot::Receiver<Result<Term, ApiError>>,
    lost: oneshot::Receiver<Lost>,
    resign: Option<oneshot::Sender<()>>,
    released: oneshot::Receiver<()>,
}

/// The candidate's ends of the channels.
struct Ends {
    term: oneshot::Sender<Result<Term, ApiError>>,
    lost: oneshot::Sender<Lost>,
    resign: oneshot::Receiver<()>,
    released: oneshot::Sender<()>,
}

fn channels() -> (Candidacy, Ends) {
    let (term, when_led) = oneshot::channel();
    let (lost, when_lost) = oneshot::channel();
    let (resign, when_resigned) = oneshot::channel();
    let (released, when_released) = oneshot::channel();
    let candidacy = Candidacy {
        term: when_led,
        lost: when_lost,
        resign: Some(resign),
        released: when_released,
    };
    (candidacy, Ends { term, lost, resign: when_resigned, released })
}

impl Candidacy {
    /// On the run time that everything else is on.
    pub fn beside(election: Election) -> Self {
        let (candidacy, ends) = channels();
        tokio::spawn(stand(election, ends));
        candidacy
    }

    /// On a thread of its own, with an election over a connection of its own.
    pub fn apart(
        connect: Connect,
        election: impl FnOnce(Client) -> Election + Send + 'static,
    ) -> std::io::Result<Self> {
        let (candidacy, ends) = channels();
        let run_time = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stand_apart = move || {
            run_time.block_on(async {
                match connect().await {
                    Ok(client) => stand(election(client), ends).await,
                    // Nobody waits for it any more if this is not heard.
                    Err(error) => drop(ends.term.send(Err(error))),
                }
            });
        };
        std::thread::Builder::new().name("lease".to_string()).spawn(stand_apart)?;
        Ok(candidacy)
    }

    /// Wait until we are the leader.
    pub async fn term(&mut self) -> Result<Term, ApiError> {
        (&mut self.term).await.unwrap_or_else(|_| Err(ended()))
    }

    /// Wait until we are no longer.
    pub async fn lost(&mut self) -> Lost {
        (&mut self.lost).await.unwrap_or_else(|_| Lost::Late(ended()))
    }

    /// Give the Lease up, so that a successor need not wait for its end.
    pub async fn resign(mut self) {
        if self.resign.take().is_some_and(|resign| resign.send(()).is_ok())
            && tokio::time::timeout(RELEASE_TIME, self.released).await.is_err()
        {
            tracing::warn!("the lease was not released in time");
        }
    }
}

/// The other end of a channel is gone without a word: its task has panicked.
fn ended() -> ApiError {
    ApiError::local("the task that renews the lease has ended".to_string())
}

/// Acquire, renew, release. Ends when the other side is gone: an engine that is
/// dropped renews nothing.
async fn stand(mut election: Election, ends: Ends) {
    let Ends { mut term, lost, mut resign, released } = ends;
    let led = tokio::select! {
        led = election.acquire() => led,
        () = term.closed() => return,
    };
    if term.send(Ok(led.clone())).is_err() {
        return election.release(&led).await;
    }
    tokio::select! {
        biased;
        resigned = &mut resign => if resigned.is_ok() {
            election.release(&led).await;
            // Whoever resigned may have given up waiting.
            let _ = released.send(());
        },
        why = election.keep(&led) => drop(lost.send(why)),
    }
}
