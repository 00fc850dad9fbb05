//! Schemas as Cassandra 4.0, 4.1 and 5.0 describe them, restored into rings of other schemas.

mod choosing;
mod comparing;
mod creating;
mod finishing;
mod generated;
mod reading;

use super::{Chosen, Described, Ids, Mapping, NotChosen, Statement, TableName, There};
use std::collections::{BTreeMap, BTreeSet};

/// What Cassandra prints, with all that is hard in it.
const SHOP: &str = include_str!("shop.cql");
/// A table that Cassandra shows in a comment only.
const COMPACT: &str = include_str!("compact.cql");

fn read(text: &str) -> Described {
    Described::parse(text).unwrap_or_else(|unread| panic!("{unread}\n{text}"))
}

/// `from` or `from=to`, by commas.
fn mapping(text: &str) -> Vec<Mapping> {
    let entries = text.split(',').filter(|entry| !entry.is_empty());
    let pair = |entry: &str| match entry.split_once('=') {
        Some((from, to)) => Mapping { from: from.to_owned(), to: Some(to.to_owned()) },
        None => Mapping { from: entry.to_owned(), to: None },
    };
    entries.map(pair).collect()
}

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

fn names(texts: &[&str]) -> BTreeSet<TableName> {
    texts.iter().map(|text| name(text)).collect()
}

/// A restore of a schema into a ring.
struct Restore {
    backup: Described,
    mapping: Vec<Mapping>,
    chosen: Vec<Chosen>,
    /// The schema of the ring, which grows by what is executed.
    ring: String,
    gc_grace: Option<u64>,
    ids: Ids,
    datacenters: BTreeMap<String, String>,
}

impl Restore {
    fn of(backup: &str, ring: &str, places: &str) -> Self {
        let (backup, mapping) = (read(backup), mapping(places));
        let chosen = super::chosen(&backup, &mapping).unwrap();
        let (ring, datacenters) = (ring.to_owned(), BTreeMap::new());
        Self { backup, mapping, chosen, ring, gc_grace: None, ids: Ids::New, datacenters }
    }

    fn there(&self, to: &str) -> There {
        let chosen = self.chosen.iter().find(|chosen| chosen.to == name(to)).unwrap();
        super::there(&self.backup, &read(&self.ring), chosen)
    }

    fn differs(&self, to: &str) -> Option<String> {
        match self.there(to) {
            There::Absent => panic!("{to} is absent"),
            There::Table { differs, .. } => differs,
        }
    }

    fn creating(&self) -> Result<Vec<Statement>, NotChosen> {
        let (ring, gc_grace) = (read(&self.ring), self.gc_grace);
        let (mapping, datacenters) = (&self.mapping, &self.datacenters);
        super::creating(
            &self.backup,
            &ring,
            &self.chosen,
            mapping,
            datacenters,
            (gc_grace, self.ids),
        )
    }

    fn finishing(&self, created: &BTreeSet<TableName>) -> Vec<Statement> {
        super::finishing(&self.backup, &read(&self.ring), &self.chosen, &self.mapping, created)
    }

    /// As the ring would: what is executed is in its schema.
    fn execute(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.ring.push_str(&statement.cql);
            self.ring.push_str(";\n\n");
        }
        read(&self.ring);
    }

    /// Creates all, then what comes when all is loaded; all statements.
    fn run(&mut self) -> Vec<Statement> {
        let mut all = self.creating().unwrap();
        self.execute(&all);
        let created = self.chosen.iter().map(|chosen| chosen.to.clone()).collect();
        let last = self.finishing(&created);
        self.execute(&last);
        all.extend(last);
        all
    }
}

fn abouts(statements: &[Statement]) -> Vec<&str> {
    statements.iter().map(|statement| statement.about.as_str()).collect()
}

fn cql(statements: &[Statement]) -> String {
    statements.iter().map(|statement| format!("{};\n", statement.cql)).collect()
}
