//! How a keyspace is replicated, and what a change makes of it: what the change does not name
//! stays as it is (safety rule 7.19). A statement replaces the replication as a whole, so one that
//! names its own datacenter alone would drop the copies in all others.

mod alter;
#[cfg(test)]
mod tests;
mod view;

pub use alter::{Altered, Keyspaces, Schema, alter, look};
pub use view::View;

use crate::cql::{quoted, text};
use crate::words::replication::{InTheWay, Refused};
use palladion_api::words::Names;
use serde_json::Value;
use std::collections::BTreeMap;

/// The strategy that counts copies by datacenter.
const BY_DATACENTER: &str = "NetworkTopologyStrategy";
/// The one that takes the next members of the ring, wherever they are.
const SIMPLE: &str = "SimpleStrategy";
/// The one of data that each server has for itself.
const LOCAL: &str = "LocalStrategy";
/// How many copies `SimpleStrategy` keeps.
const COPIES: &str = "replication_factor";

/// The replication of a keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replication {
    /// Name of the strategy, without its package.
    class: String,
    /// Its options: of `NetworkTopologyStrategy` the copies by datacenter.
    options: BTreeMap<String, String>,
}

/// What is to become of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Copies by datacenter; 0 drops the datacenter. All others stay as they are.
    pub factors: BTreeMap<String, u32>,
    /// What becomes of a keyspace with `SimpleStrategy`.
    pub simple: Simple,
    /// Whether there may be fewer copies than before.
    pub fewer: Fewer,
}

/// What becomes of a keyspace with `SimpleStrategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simple {
    /// It stays as it is, and the change is refused.
    Refused,
    /// It gets `NetworkTopologyStrategy` with what the change names, where the ring has no other
    /// datacenter.
    Replaced,
    /// The same, if it keeps as many copies as it has.
    Converted,
}

/// Whether there may be fewer copies than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fewer {
    /// No.
    Refused,
    /// Yes.
    Allowed,
    /// In the datacenter of this member, and elsewhere those that there are stay: an order for
    /// another datacenter may be older than what its own operator has set since. One that has no
    /// member any more is dropped.
    OwnAlone,
}

impl Replication {
    /// From a row of `system_schema.keyspaces` in JSON; `None` where it is of another form.
    pub fn read(row: &str) -> Option<Self> {
        let row: Value = serde_json::from_str(row).ok()?;
        let mut options = BTreeMap::new();
        for (name, value) in row["replication"].as_object()? {
            options.insert(name.clone(), value.as_str()?.to_string());
        }
        let class = options.remove("class")?;
        let class = class.rsplit('.').next().unwrap_or(&class).to_string();
        Some(Self { class, options })
    }

    /// The statement that gives a keyspace this replication.
    pub fn statement(&self, keyspace: &str) -> String {
        let value = |copies: &String| match copies.parse::<u32>() {
            Ok(copies) => copies.to_string(),
            Err(_) => text(copies),
        };
        let options = self.options.iter().map(|(name, copies)| (text(name), value(copies)));
        let options: String = options.map(|(name, copies)| format!(", {name}: {copies}")).collect();
        let class = text(&self.class);
        let keyspace = quoted(keyspace);
        format!("ALTER KEYSPACE {keyspace} WITH replication = {{'class': {class}{options}}}")
    }

    /// What a change makes of it.
    pub fn changed(&self, change: &Change, view: &View) -> Result<Self, Refused> {
        match self.class.as_str() {
            BY_DATACENTER => self.merged(change, view),
            SIMPLE => self.converted(change, view),
            LOCAL => Err(Refused::Local),
            class => Err(Refused::Class { class: class.into() }),
        }
    }

    fn merged(&self, change: &Change, view: &View) -> Result<Self, Refused> {
        let mut options = self.options.clone();
        for (datacenter, copies) in &change.factors {
            let name = || datacenter.clone();
            let present = match self.options.get(datacenter) {
                None => 0,
                // Transient replication is written as `3/1`; nobody changes what he cannot read.
                Some(present) => present.parse().map_err(|_| Refused::Unreadable {
                    datacenter: name(),
                    found: present.clone(),
                })?,
            };
            match change.fewer {
                Fewer::Refused if *copies < present => {
                    return Err(Refused::Fewer { datacenter: name(), present, wanted: *copies });
                }
                Fewer::OwnAlone if *copies == 0 && view.is_deserted(datacenter) => {}
                // Whoever orders that believes that nobody is there: not done is not done.
                Fewer::OwnAlone if *copies == 0 && present > 0 && !view.is_own(datacenter) => {
                    return Err(Refused::NotDeserted { datacenter: name() });
                }
                Fewer::OwnAlone if *copies < present && !view.is_own(datacenter) => continue,
                Fewer::Refused | Fewer::Allowed | Fewer::OwnAlone => {}
            }
            match copies {
                0 => options.remove(datacenter),
                copies => {
                    view.has_room(datacenter, *copies, present)?;
                    options.insert(name(), copies.to_string())
                }
            };
        }
        match options.is_empty() {
            true => Err(Refused::NoneLeft),
            false => Ok(Self { class: self.class.clone(), options }),
        }
    }

    fn converted(&self, change: &Change, view: &View) -> Result<Self, Refused> {
        let present = self.options.get(COPIES).cloned().unwrap_or_default();
        match change.simple {
            Simple::Refused => {
                return Err(Refused::Simple { of: InTheWay::Simple { present } });
            }
            Simple::Replaced | Simple::Converted => {}
        }
        let others = view.others().ok_or(Refused::NotKnown)?;
        if !others.is_empty() {
            return Err(Refused::Others { datacenters: Names::of(others) });
        }
        if let Some((datacenter, _)) = change.factors.iter().find(|(name, _)| !view.is_own(name)) {
            return Err(Refused::NoMembers { datacenter: datacenter.clone() });
        }
        let mut options = BTreeMap::new();
        for (datacenter, copies) in change.factors.iter().filter(|(_, copies)| **copies > 0) {
            if change.simple == Simple::Converted && copies.to_string() != present {
                return Err(Refused::AnotherNumber { present, wanted: *copies });
            }
            options.insert(datacenter.clone(), copies.to_string());
        }
        match options.is_empty() {
            true => Err(Refused::NoneLeft),
            false => Ok(Self { class: BY_DATACENTER.into(), options }),
        }
    }

    /// How many copies it keeps in a datacenter, where that is a number.
    pub fn copies_in(&self, datacenter: &str) -> Option<u32> {
        self.options.get(datacenter)?.parse().ok()
    }

    /// As people read it.
    pub fn shown(&self) -> String {
        let options = self.options.iter().map(|(name, copies)| format!("{name}: {copies}"));
        format!("{} {{{}}}", self.class, options.collect::<Vec<_>>().join(", "))
    }
}
