//! One replica by itself: its share of a table, range by range, each answer
//! with a proof that its own data gave it.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use scylla::client::session::Session;
use scylla::statement::Consistency;
use scylla::statement::unprepared::Statement;
use uuid::Uuid;

use super::places::Range;
use super::scan;
use super::trace::{self, Event, Shown};
use super::{pinned, schema};
use crate::judge::{Found, Member, Table};
use crate::report::Proofs;

/// How often a range is read until the trace shows that the member itself answered.
const TRIES: usize = 30;
/// Between tries: a snitch scores replicas ten times a second.
const PAUSE: Duration = Duration::from_millis(150);
/// A member that was started a moment ago remembers how slow it was. It would
/// ask others for as long as it hears no better of itself, which reads at ALL
/// make it: they are answered by itself too. They mend nothing.
const REMINDERS: usize = 20;
/// Traces are written after the answer.
const TRACE_PATIENCE: Duration = Duration::from_secs(5);
const TRACE_POLL: Duration = Duration::from_millis(15);

/// A member, as this module speaks to it.
#[derive(Clone, Debug)]
pub struct Replica {
    /// As it is reported.
    pub member: Member,
    /// As the driver knows it.
    pub host_id: Uuid,
}

impl Replica {
    /// All that it holds of a table in these ranges.
    ///
    /// # Errors
    /// If an answer cannot be had, or cannot be proven to be its own.
    pub async fn read(
        &self,
        session: &Session,
        keyspace: &str,
        table: Table,
        ranges: &BTreeSet<Range>,
    ) -> Result<(Found, Proofs)> {
        let address: IpAddr = self.member.address.parse().context("reading its address")?;
        self.ensure_it_is(session).await?;
        let (mut found, mut proofs) = (Found::new(), Proofs::default());
        for range in ranges {
            let name = schema::name(keyspace, table);
            let text = format!("{} FROM {name} {}", scan::columns(table), range.condition());
            let answer = self
                .read_proven(session, &text, address, &mut proofs)
                .await
                .with_context(|| format!("reading {name} from {} by itself", self.member))?;
            found.extend(scan::states(table, answer)?);
        }
        Ok((found, proofs))
    }

    /// That who answers at its address is the member with its host ID.
    async fn ensure_it_is(&self, session: &Session) -> Result<()> {
        let text = "SELECT host_id FROM system.local";
        let result = session
            .query_unpaged(self.statement(text), ())
            .await
            .with_context(|| format!("asking {} who it is", self.member))?;
        let rows = result.into_rows_result().context("reading a host ID")?;
        let (host_id,) = rows.single_row::<(Uuid,)>().context("reading a host ID")?;
        ensure!(
            host_id == self.host_id,
            "at the address of {} answers a server with host ID {host_id}",
            self.member
        );
        Ok(())
    }

    async fn read_proven(
        &self,
        session: &Session,
        text: &str,
        address: IpAddr,
        proofs: &mut Proofs,
    ) -> Result<scylla::response::query_result::QueryRowsResult> {
        for _ in 0..TRIES {
            let mut statement = self.statement(text);
            statement.set_tracing(true);
            let result = session.query_unpaged(statement, ()).await.context("reading a range")?;
            let coordinator = result.request_coordinator().node().host_id;
            let id = result.tracing_id().context("the server returned no trace")?;
            if coordinator == self.host_id && shown_in_time(session, id, address).await? {
                proofs.proven += 1;
                return result.into_rows_result().context("reading rows");
            }
            proofs.discarded += 1;
            self.remind(session, text).await?;
            tokio::time::sleep(PAUSE).await;
        }
        bail!(
            "in {TRIES} tries its trace never showed that its own data answered; hint: its dynamic snitch prefers another replica, which `dynamic_snitch: false` in the ring's `config` ends"
        )
    }

    /// Let it find out how fast its own data answers.
    async fn remind(&self, session: &Session, text: &str) -> Result<()> {
        let mut statement = self.statement(text);
        statement.set_consistency(Consistency::All);
        for _ in 0..REMINDERS {
            session.query_unpaged(statement.clone(), ()).await.context("reading at ALL")?;
        }
        Ok(())
    }

    fn statement(&self, text: &str) -> Statement {
        let mut statement = Statement::new(text);
        statement.set_consistency(Consistency::One);
        statement.set_load_balancing_policy(Some(pinned(self.host_id)));
        statement
    }
}

/// Whether the trace shows, within a time, that the coordinator's own data answered.
async fn shown_in_time(session: &Session, id: Uuid, coordinator: IpAddr) -> Result<bool> {
    let end = Instant::now() + TRACE_PATIENCE;
    loop {
        match trace::shown(coordinator, &events(session, id).await?) {
            Shown::Itself => return Ok(true),
            Shown::Another => return Ok(false),
            Shown::NotYet if Instant::now() > end => return Ok(false),
            Shown::NotYet => tokio::time::sleep(TRACE_POLL).await,
        }
    }
}

async fn events(session: &Session, id: Uuid) -> Result<Vec<Event>> {
    let mut statement =
        Statement::new("SELECT source, activity FROM system_traces.events WHERE session_id = ?");
    statement.set_consistency(Consistency::One);
    let rows = session
        .query_unpaged(statement, (id,))
        .await
        .context("reading a trace")?
        .into_rows_result()
        .context("reading a trace")?;
    let events = rows.rows::<(IpAddr, String)>().context("reading a trace")?.map(|row| {
        let (source, activity) = row.context("reading a trace")?;
        Ok(Event { source, activity })
    });
    events.collect()
}
