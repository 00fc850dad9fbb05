//! What a server is asked before repair: its tables, and its ranges.

use super::batches::Copies;
use super::memory::{Memory, Own};
use super::schema::Schema;
use super::segments::Held;
use crate::admin::jobs::Holders;
use crate::admin::{Reading, ServerAdmin};
use crate::ranges::Range;
use crate::report::ring;
use crate::words::repair::Unclear;
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::MemberState;

/// What there is.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Of whom.
    pub host_id: HostId,
    /// Tables, and how keyspaces are replicated.
    pub schema: Schema,
    /// The ranges that this member repairs.
    pub own: Own,
    /// Tokens of which it has a copy.
    pub held: Held,
    /// Who has copies of its own ranges.
    pub copies: Copies,
}

impl Survey {
    /// Fit what is remembered to it.
    pub fn observed_by(&self, memory: &mut Memory, now: i64) {
        memory.observe(&self.host_id, &self.schema, &self.own, now);
    }
}

/// The members of a ring in which nobody joins, leaves or moves, as this one sees it.
pub fn calm_ring(reading: &Reading) -> Result<String, Unclear> {
    let members = reading.members.as_ref().ok_or(Unclear::NoRing)?;
    let moves = members.iter().find(|member| member.state != MemberState::Normal);
    if let Some(member) = moves {
        return Err(Unclear::Moves { address: member.address.clone() });
    }
    ring::summary(reading).map(|summary| summary.hash).ok_or(Unclear::NoRing)
}

/// Ask it all, of a server with this schema.
pub async fn survey(
    admin: &dyn ServerAdmin,
    schema: Schema,
    reading: &Reading,
) -> Result<Survey, Unclear> {
    let host_id = reading.host_id.clone().ok_or(Unclear::NoRing)?;
    let mut members = reading.members.iter().flatten();
    let address = members.find(|m| m.host_id == host_id).map(|m| m.address.clone());
    let address = address.ok_or(Unclear::NoRing)?;
    let server = |error: crate::admin::Error| Unclear::Server { why: error.to_string() };
    let jobs = admin.jobs().ok_or(Unclear::NoRing)?;
    let (mut own, mut held, mut copies) = (Own::new(), Held::new(), Copies::new());
    for keyspace in admin.keyspaces().await.map_err(server)? {
        let ranges = jobs.ranges(&keyspace).await.map_err(server)?;
        let (mine, tokens) = of_member(&ranges, &address)?;
        copies.insert(keyspace.clone(), copies_of(&ranges, &address, reading)?);
        own.insert(keyspace.clone(), mine);
        held.insert(keyspace, tokens);
    }
    Ok(Survey { host_id, schema, own, held, copies })
}

/// The ranges whose first copy is this member's and that have another one, and the
/// tokens of all of which it has a copy.
pub fn of_member(all: &[Holders], member: &StaticAddress) -> Result<(Vec<Range>, u64), Unclear> {
    let (mut own, mut tokens) = (Vec::new(), 0_u64);
    for range in all {
        let parsed = Range::parse(&range.start, &range.end);
        let parsed = parsed.ok_or_else(|| Unclear::Token { token: range.end.clone() })?;
        if range.members.contains(member) {
            tokens = tokens.saturating_add(parsed.tokens());
        }
        if range.members.first() == Some(member) && range.members.len() > 1 {
            own.push(parsed);
        }
    }
    own.sort();
    Ok((own, tokens))
}

/// Of each own range with another copy: who has one, by host ID.
fn copies_of(
    all: &[Holders],
    member: &StaticAddress,
    reading: &Reading,
) -> Result<Vec<(Range, Vec<HostId>)>, Unclear> {
    let host_of = |address: &StaticAddress| {
        let mut known = reading.members.iter().flatten();
        let found = known.find(|m| m.address == *address && m.host_id != HostId::default());
        found.map(|m| m.host_id.clone()).ok_or(Unclear::NoRing)
    };
    let own = all.iter().filter(|r| r.members.first() == Some(member) && r.members.len() > 1);
    own.map(|range| {
        let parsed = Range::parse(&range.start, &range.end);
        let parsed = parsed.ok_or_else(|| Unclear::Token { token: range.end.clone() })?;
        let mut hosts = range.members.iter().map(host_of).collect::<Result<Vec<_>, _>>()?;
        hosts.sort();
        Ok((parsed, hosts))
    })
    .collect()
}
