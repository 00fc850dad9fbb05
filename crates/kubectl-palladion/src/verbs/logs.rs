//! `logs`: what a member's server writes.

use crate::exit::{Exit, Trouble};
use crate::place::Where;
use crate::session::Session;
use crate::words::trouble::Said;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::engine::ArgValueCandidates;
use futures::io::{AsyncRead, AsyncReadExt};
use jiff::SignedDuration;
use palladion_engine::door::logs::{Log, Run, Until};
use std::io::Write;

/// Read in pieces of this size.
const PIECE: usize = 16 * 1024;

/// The log of the container that runs agent and server.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl palladion logs demo-dc1-a-1 --tail 100 -f")]
pub struct Logs {
    /// The member
    #[arg(add = ArgValueCandidates::new(crate::candidates::members), value_parser = NonEmptyStringValueParser::new())]
    member: String,
    /// Go on for as long as the container runs
    #[arg(short, long)]
    follow: bool,
    /// Only so many lines, from the end
    #[arg(long, value_name = "LINES")]
    tail: Option<u32>,
    /// Only what is younger
    #[arg(long, value_name = "DURATION", value_parser = crate::time::parse)]
    since: Option<SignedDuration>,
    /// The run of the container before this one
    #[arg(short, long, conflicts_with = "follow")]
    previous: bool,
    #[command(flatten)]
    at: Where,
}

impl Logs {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.at.open(session).await?;
        let member = place.member(&self.member).await?;
        let ring = place.ring(&member.ring).await?;
        let log = Log {
            container: ring.container(),
            tail: self.tail,
            since_seconds: self.since.map(|s| s.unsigned_abs().as_secs()),
            run: if self.previous { Run::Previous } else { Run::Current },
            until: if self.follow { Until::Ended } else { Until::Now },
        };
        let stream = place.door.log(place.namespace(), &self.member, &log).await?;
        pour(stream, session.out, &self.member).await
    }
}

/// All of it, as it comes.
async fn pour(
    mut from: impl AsyncRead + Unpin,
    to: &mut (dyn Write + Send),
    member: &str,
) -> Result<Exit, Trouble> {
    let mut piece = vec![0; PIECE];
    loop {
        let length = from.read(&mut piece).await.map_err(|error| {
            let said = Said::LogCut { member: member.to_string(), why: error.to_string() };
            Trouble::new(Exit::NoConnection, said)
        })?;
        if length == 0 {
            return Ok(Exit::Done);
        }
        to.write_all(&piece[..length])?;
        to.flush()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::TryStreamExt;
    use std::io::{Error, ErrorKind};

    #[tokio::test]
    async fn a_log_that_is_cut_off_is_no_trouble_of_the_output() {
        let pieces = [Ok("one line"), Err(Error::from(ErrorKind::ConnectionReset))];
        let from = futures::stream::iter(pieces).into_async_read();
        let mut out = Vec::new();
        let cut = pour(from, &mut out, "a-0").await.unwrap_err();
        assert_eq!(cut.exit, Exit::NoConnection);
        assert_eq!(out, b"one line");
    }
}
