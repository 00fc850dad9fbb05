//! The ranges of a ring, as a Cassandra server lists them with those that hold them:
//! `{"[start, end]": ["10.0.0.1:7000", …]}`. With 100 members of 256 ranges each that is some
//! MiB, so it is read entry by entry.

use super::Error;
use super::cassandra::Cassandra;
use super::cassandra_reading::address;
use super::jobs::Holders;
use super::jolokia::Item;
use crate::management::beans::{RANGES, STORAGE_SERVICE};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::json;
use std::fmt;
use std::marker::PhantomData;

/// What is wanted of the list.
trait Wanted: Default {
    /// Of the members that hold a range.
    type Member: DeserializeOwned;
    /// One more range.
    fn note(&mut self, range: &str, members: &[Self::Member]);
}

/// All of it.
#[derive(Default)]
struct All(Vec<Holders>);

impl Wanted for All {
    type Member = String;

    fn note(&mut self, range: &str, members: &[String]) {
        let range = range.trim_matches(['[', ']', '(', ')']);
        let (start, end) = range.split_once(',').unwrap_or((range, ""));
        self.0.push(Holders {
            start: start.trim().into(),
            end: end.trim().into(),
            members: members.iter().map(|endpoint| address(endpoint)).collect(),
        });
    }
}

/// The largest number of members that hold one range.
#[derive(Default)]
struct Most(usize);

impl Wanted for Most {
    type Member = IgnoredAny;

    fn note(&mut self, _: &str, members: &[IgnoredAny]) {
        self.0 = self.0.max(members.len());
    }
}

/// The list as it is read.
struct List<W>(W);

struct Entries<W>(PhantomData<W>);

impl<'de, W: Wanted> Visitor<'de> for Entries<W> {
    type Value = List<W>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplicasByRange")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List<W>, A::Error> {
        let mut wanted = W::default();
        while let Some((range, members)) = map.next_entry::<String, Vec<W::Member>>()? {
            wanted.note(&range, &members);
        }
        Ok(List(wanted))
    }
}

impl<'de, W: Wanted> Deserialize<'de> for List<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl Cassandra {
    async fn list<W: Wanted>(&self, keyspace: &str) -> Result<W, Error> {
        let arguments = vec![json!(keyspace)];
        let item = Item::Exec { mbean: STORAGE_SERVICE, operation: RANGES, arguments };
        let List(wanted) = self.client.list(&item).await?;
        Ok(wanted)
    }

    /// All ranges of a keyspace.
    pub(super) async fn all_ranges(&self, keyspace: &str) -> Result<Vec<Holders>, Error> {
        let All(ranges) = self.list(keyspace).await?;
        Ok(ranges)
    }

    /// How many members hold a range of a keyspace at the most.
    pub(super) async fn most_holders(&self, keyspace: &str) -> Result<u32, Error> {
        let Most(members) = self.list(keyspace).await?;
        Ok(u32::try_from(members).unwrap_or(u32::MAX))
    }
}
