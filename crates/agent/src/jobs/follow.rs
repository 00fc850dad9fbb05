//! A repair that the server has given a number, from its call until it is over, or until
//! it has taken too long.

use super::bench::{Bench, Halt, Step};
use super::stop::Asked;
use crate::admin::{RepairState, RepairTicket};
use crate::words::work::Failed;
use palladion_api::member::JobCause;
use palladion_api::words::Names;
use std::time::Duration;
use tokio::time::Instant;

/// How a repair is over that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// It has done its work.
    Done,
    /// It was ended: it had taken too long.
    TooLong,
}

/// Wait until it is over, however long that takes; it is ended where somebody asks for that.
pub(super) async fn follow(bench: &Bench, ticket: &RepairTicket) -> Step<()> {
    match follow_within(bench, ticket, None).await? {
        Followed::Done | Followed::TooLong => Ok(()),
    }
}

/// The same, but it is ended too where it has not ended within this time.
pub(super) async fn follow_within(
    bench: &Bench,
    ticket: &RepairTicket,
    limit: Option<Duration>,
) -> Step<Followed> {
    let since = Instant::now();
    let mut heard = since;
    let mut asked = Asked::default();
    let keyspace = || ticket.keyspace.clone();
    loop {
        let is_late = limit.is_some_and(|limit| since.elapsed() >= limit);
        match bench.asked() {
            None if !is_late => bench.pause(bench.pace.repair_look(since.elapsed())).await,
            // Its threads may begin sessions after the first call to end it.
            Some(_) | None => tokio::time::sleep(bench.pace.stop).await,
        }
        if bench.asked().is_some() || is_late {
            asked.end(bench, &ticket.keyspace, || Names::of([ticket.number])).await?;
        }
        match bench.admin.repair_state(ticket).await {
            Ok(RepairState::Running) => heard = Instant::now(),
            Ok(RepairState::Completed) => return Ok(Followed::Done),
            Ok(RepairState::Failed(why)) => {
                bench.may_stop()?;
                if is_late {
                    return Ok(Followed::TooLong);
                }
                let why = Failed::RepairFailed { keyspace: keyspace(), why };
                return Err(bench.failed_by_itself(JobCause::ServerError, why).await);
            }
            Ok(RepairState::Unknown) if since.elapsed() < bench.pace.early => {}
            Ok(RepairState::Unknown) => {
                let why = Failed::RepairForgotten { keyspace: keyspace() };
                return Err(bench.failed_by_itself(JobCause::ServerError, why).await);
            }
            Err(_) if heard.elapsed() >= bench.pace.repair_silence() => return Err(Halt::Lost),
            Err(_) => {}
        }
    }
}
