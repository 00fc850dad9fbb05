//! One try at a transfer, beside the loop: the server is asked, then the child does
//! the work. It is over when the child is, whoever ended it. A restore is many such steps.

use super::step::{Halt, Step};
use super::{Bench, ask, catalog, child, create, load, replay, settle, step, tokens};
use palladion_agent_transfer::assign;
use palladion_agent_transfer::decide::Views;
use palladion_agent_transfer::tell::{Done, Line, Progress, ended};
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::TransferTask;
use tokio::sync::watch;

/// What a try has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// How it ended; none if the child did not say it.
    pub last: Option<Line>,
    /// What the server said of its ring.
    pub ring: Option<Views>,
    /// The member's tokens, if they were asked.
    pub tokens: Vec<String>,
    /// Of a snapshot: what is noted of it for its upload.
    pub kept: Option<ask::Captured>,
}

/// The ends of a try that the loop does not hold.
pub struct Talk {
    /// Is it to end?
    pub stop: watch::Receiver<bool>,
    /// How fast it may be.
    pub rate: watch::Receiver<Option<u64>>,
    /// How far it is.
    pub progress: watch::Sender<Progress>,
}

impl Talk {
    /// Until it is to end.
    pub async fn stopped(&mut self) {
        // Without the loop there is nobody to work for.
        let _ = self.stop.wait_for(|stop| *stop).await;
    }
}

/// Make it; `None` if it was ended by us.
pub async fn attempt(bench: &Bench, mut talk: Talk) -> Option<Attempt> {
    if let Some(step) = restored(bench, &mut talk).await {
        return match step {
            Ok(done) => Some(Attempt { last: Some(Line::Done(done)), ..Attempt::default() }),
            Err(Halt::Failed(last)) => Some(Attempt { last, ..Attempt::default() }),
            Err(Halt::Ended) => None,
        };
    }
    let asked = tokio::select! {
        biased;
        () = talk.stopped() => return None,
        asked = ask::ask(bench) => asked,
    };
    let asked = match asked {
        Ok(asked) => asked,
        Err(stopped) => return Some(failed(stopped)),
    };
    let attempt = Attempt { last: None, ring: asked.ring, tokens: asked.tokens, kept: asked.kept };
    if let Some(TransferTask::Snapshot(_)) = bench.order.work.task() {
        return Some(Attempt { last: Some(Line::Done(Done::Snapshotted)), ..attempt });
    }
    let settings = match assign::settings(&bench.order, &bench.own, asked.said) {
        Ok(settings) => settings,
        Err(stopped) => return Some(failed(stopped)),
    };
    let last = match child::run(&settings, &mut talk).await {
        Ok(child::End::Stopped) => return None,
        Ok(child::End::Said(last)) => last,
        Err(stopped) => Some(ended(&Err(stopped))),
    };
    Some(Attempt { last, ..attempt })
}

/// A restore goes to and fro between server and child; `None` of what is none.
async fn restored(bench: &Bench, talk: &mut Talk) -> Option<Step<Done>> {
    Some(match bench.order.work.task()? {
        TransferTask::Catalog(work) => catalog::catalog(bench, work, talk).await,
        TransferTask::Schema(work) => create::create(bench, work, talk).await,
        TransferTask::Load(work) => load::load(bench, work, talk).await,
        TransferTask::Settle(work) => settle::settle(bench, work, talk).await,
        TransferTask::Tokens(work) => tokens::tokens(bench, work, talk).await,
        TransferTask::Replay(work) => replay::replay(bench, work, talk).await,
        // No try is made: the loop does it.
        TransferTask::Open(_) => Err(step::other()),
        TransferTask::Prepare(_)
        | TransferTask::Snapshot(_)
        | TransferTask::Describe(_)
        | TransferTask::Upload(_)
        | TransferTask::Finish(_)
        | TransferTask::Verify(_)
        | TransferTask::Discard(_)
        | TransferTask::Expire(_)
        | TransferTask::Sweep(_) => return None,
    })
}

fn failed(stopped: Stopped) -> Attempt {
    Attempt { last: Some(ended(&Err(stopped))), ..Attempt::default() }
}
