//! `--wait`: until what was asked for has been done, or the time is over.

use crate::backoff::Backoff;
use crate::exit::{Exit, Trouble};
use crate::place::Place;
use crate::words::trouble::Said;
use clap::Args;
use futures::StreamExt;
use jiff::SignedDuration;
use palladion_engine::door::read::Change;
use palladion_engine::request::Selection;
use std::time::Duration;

/// A change may be missed between two watches: it is looked again at the latest
/// after this time.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Not more often than this, however much changes.
const PAUSE: Duration = Duration::from_millis(500);

/// The flag.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Patience {
    /// Wait until it is done, for at most so long; exit code 6 if it is not. Without a value: 1h
    #[arg(
        long,
        value_name = "DURATION",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1h",
        value_parser = crate::time::parse
    )]
    pub wait: Option<SignedDuration>,
}

/// Look until there is an answer. An API server that does not answer for a while
/// is asked again until the time is over.
///
/// # Errors
/// What cannot be read at all, or that the time is over: `what` names it then.
pub async fn until<T>(
    place: &Place,
    limit: SignedDuration,
    what: &str,
    selections: &[Selection],
    mut look: impl AsyncFnMut(&Place) -> Result<Option<T>, Trouble>,
) -> Result<T, Trouble> {
    let mut silence: Option<String> = None;
    let mut backoff = Backoff::default();
    let asked = async {
        loop {
            match once(place, selections, &mut look).await {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => silence = None,
                Err(trouble) if trouble.may_pass() => silence = Some(trouble.said.to_string()),
                Err(trouble) => return Err(trouble),
            }
            tokio::time::sleep(backoff.pause()).await;
        }
    };
    match tokio::time::timeout(limit.unsigned_abs(), asked).await {
        Ok(answer) => answer,
        Err(_) => {
            let (what, waited) = (what.to_string(), crate::time::span(limit));
            let said = match silence {
                None => Said::TimeOut { what, waited },
                Some(why) => Said::TimeOutUnseen { what, waited, why },
            };
            Err(Trouble::new(Exit::TimeOut, said))
        }
    }
}

/// Look for as long as a watch of the changes lasts; no answer if it has ended.
async fn once<T>(
    place: &Place,
    selections: &[Selection],
    look: &mut impl AsyncFnMut(&Place) -> Result<Option<T>, Trouble>,
) -> Result<Option<T>, Trouble> {
    let mut changes = place.door.changes(selections).await?;
    loop {
        if let Some(answer) = look(place).await? {
            return Ok(Some(answer));
        }
        match tokio::time::timeout(LOOK_AGAIN, changes.next()).await {
            Ok(Some(Ok(Change::Something))) | Err(_) => tokio::time::sleep(PAUSE).await,
            Ok(Some(Ok(Change::Over) | Err(_)) | None) => return Ok(None),
        }
    }
}
