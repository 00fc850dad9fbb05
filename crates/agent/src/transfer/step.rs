//! The steps of a restore: of the server or by a child, each until it is over or the try is ended.

use super::attempt::Talk;
use super::child::{self, End};
use palladion_agent_transfer::settings::Settings;
use palladion_agent_transfer::tell::{Done, Line, ended};
use palladion_agent_transfer::words::stopped::Stopped;

/// Why a try does not go on.
#[derive(Debug, PartialEq, Eq)]
pub enum Halt {
    /// It was ended by us.
    Ended,
    /// It has failed; none where a child did not say why.
    Failed(Option<Line>),
}

impl From<Stopped> for Halt {
    fn from(stopped: Stopped) -> Self {
        Self::Failed(Some(ended(&Err(stopped))))
    }
}

/// What a step has come to.
pub type Step<T> = Result<T, Halt>;

/// Ask the server.
///
/// # Errors
/// It cannot be asked, or the try is ended meanwhile.
pub async fn ask<T>(talk: &mut Talk, asked: impl Future<Output = Result<T, Stopped>>) -> Step<T> {
    tokio::select! {
        biased;
        () = talk.stopped() => Err(Halt::Ended),
        answer = asked => Ok(answer?),
    }
}

/// Have the server do what cannot be ended: the try lasts until it is done, also where it is to
/// end meanwhile.
///
/// # Errors
/// As [`ask`].
pub async fn ask_to_the_end<T>(
    talk: &mut Talk,
    asked: impl Future<Output = Result<T, Stopped>>,
) -> Step<T> {
    let answer = asked.await;
    match *talk.stop.borrow() {
        true => Err(Halt::Ended),
        false => Ok(answer?),
    }
}

/// Have a child do it.
///
/// # Errors
/// It cannot be told or started, or has stopped; or the try is ended meanwhile.
pub async fn child(told: Result<Settings, Stopped>, talk: &mut Talk) -> Step<Done> {
    match child::run(&told?, talk).await? {
        End::Stopped => Err(Halt::Ended),
        End::Said(Some(Line::Done(done))) => Ok(done),
        End::Said(last) => Err(Halt::Failed(last)),
    }
}

/// A child of another version has done something else.
pub fn other() -> Halt {
    Halt::Failed(None)
}
