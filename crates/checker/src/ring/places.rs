//! Where keys live: members, the ranges of the ring, and who replicates what.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use scylla::client::session::Session;
use scylla::cluster::{ClusterState, Node};
use scylla::routing::Token;
use uuid::Uuid;

use crate::judge::{Member, Table};

/// Tokens from after `after` up to `upto`, between two neighbours on the ring:
/// one range, so that a coordinator asks for it in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// Exclusive; `None` for the least token.
    pub after: Option<i64>,
    /// Inclusive; `None` for the greatest token.
    pub upto: Option<i64>,
}

impl Range {
    /// The condition that a row must meet.
    pub fn condition(self) -> String {
        let bounds = [
            self.after.map(|token| format!("token(key) > {token}")),
            self.upto.map(|token| format!("token(key) <= {token}")),
        ];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        if bounds.is_empty() { String::new() } else { format!("WHERE {}", bounds.join(" AND ")) }
    }
}

/// The ranges between these tokens, in their order. The one that goes round
/// the end is cut there, because no query goes round.
fn ranges(tokens: &BTreeSet<i64>) -> Vec<Range> {
    let bounds: Vec<Option<i64>> =
        std::iter::once(None).chain(tokens.iter().copied().map(Some)).chain([None]).collect();
    bounds.windows(2).map(|pair| Range { after: pair[0], upto: pair[1] }).collect()
}

/// The members, and what a table's replicas are.
#[derive(Debug, Default)]
pub struct Places {
    /// All members, with the driver's name for each.
    pub members: BTreeMap<Member, Uuid>,
    /// Replicas by key.
    pub replicas: BTreeMap<i64, BTreeSet<Member>>,
    /// By member, the ranges that it replicates and that hold one of the keys.
    pub ranges: BTreeMap<Member, BTreeSet<Range>>,
}

/// As the ring is now, for the keys of a table.
pub async fn find(
    session: &Session,
    keyspace: &str,
    table: Table,
    keys: &BTreeSet<i64>,
) -> Result<Places> {
    session.refresh_metadata().await.context("asking for the members and their tokens")?;
    let state = session.get_cluster_state();
    let mut places = Places::default();
    for node in state.get_nodes_info() {
        if !node.is_enabled() {
            bail!("the driver does not talk to {}", node.address);
        }
        places.members.insert(member(node), node.host_id);
    }
    let tokens = state.replica_locator().ring().iter().map(|(token, _)| token.value()).collect();
    let ranges = ranges(&tokens);
    for key in keys {
        place(&state, keyspace, table, *key, &ranges, &mut places)?;
    }
    Ok(places)
}

fn place(
    state: &ClusterState,
    keyspace: &str,
    table: Table,
    key: i64,
    ranges: &[Range],
    places: &mut Places,
) -> Result<()> {
    let token = state
        .compute_token(keyspace, table.name(), &(key,))
        .with_context(|| format!("looking for {} {key} on the ring", table.one()))?;
    let range = ranges
        .iter()
        .find(|range| range.upto.is_none_or(|upto| token.value() <= upto))
        .with_context(|| format!("{} {key} is in no range", table.one()))?;
    for (node, _) in state.get_token_endpoints(keyspace, table.name(), Token::new(token.value())) {
        let member = member(&node);
        places.ranges.entry(member.clone()).or_default().insert(*range);
        places.replicas.entry(key).or_default().insert(member);
    }
    Ok(())
}

fn member(node: &Node) -> Member {
    Member {
        address: node.address.ip().to_string(),
        host_id: node.host_id.to_string(),
        rack: node.rack.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_cover_all_tokens_and_none_goes_round_the_end() {
        let conditions = |tokens: &[i64]| -> Vec<String> {
            ranges(&tokens.iter().copied().collect()).into_iter().map(Range::condition).collect()
        };
        let wanted = [
            "WHERE token(key) <= -5",
            "WHERE token(key) > -5 AND token(key) <= 7",
            "WHERE token(key) > 7",
        ];
        assert_eq!(conditions(&[7, -5]), wanted);
        assert_eq!(conditions(&[]), [""]);
    }
}
