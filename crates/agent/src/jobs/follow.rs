//! A repair that the server has given a number, from its call until it is over.

use super::bench::{Bench, Halt, Step};
use super::stop::Asked;
use crate::admin::{RepairState, RepairTicket};
use crate::words::work::Failed;
use palladion_api::member::JobCause;
use palladion_api::words::Names;
use tokio::time::Instant;

/// Looks that fail in a row before a repair counts as lost.
const LOOKS: u32 = 30;

/// Wait until it is over; it is ended where somebody asks for that.
pub(super) async fn follow(bench: &Bench, ticket: &RepairTicket) -> Step<()> {
    let (since, mut silent) = (Instant::now(), 0);
    let mut asked = Asked::default();
    let keyspace = || ticket.keyspace.clone();
    loop {
        match bench.asked() {
            None => bench.pause(bench.pace.repair).await,
            // Its threads may begin sessions after the first call to end it.
            Some(_) => tokio::time::sleep(bench.pace.stop).await,
        }
        if bench.asked().is_some() {
            asked.end(bench, &ticket.keyspace, || Names::of([ticket.number])).await?;
        }
        match bench.admin.repair_state(ticket).await {
            Ok(RepairState::Running) => silent = 0,
            Ok(RepairState::Completed) => return Ok(()),
            Ok(RepairState::Failed(why)) => {
                bench.may_stop()?;
                let why = Failed::RepairFailed { keyspace: keyspace(), why };
                return Err(bench.failed_by_itself(JobCause::ServerError, why).await);
            }
            Ok(RepairState::Unknown) if since.elapsed() < bench.pace.early => {}
            Ok(RepairState::Unknown) => {
                let why = Failed::RepairForgotten { keyspace: keyspace() };
                return Err(bench.failed_by_itself(JobCause::ServerError, why).await);
            }
            Err(_) if silent >= LOOKS => return Err(Halt::Lost),
            Err(_) => silent += 1,
        }
    }
}
