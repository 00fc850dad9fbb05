//! One table: every key as every reader finds it, against its line.

use std::collections::BTreeMap;

use super::line::{Line, Place};
use super::observed::{Found, Member, Observed, Table};
use super::verdict::{Kind, Share, Verdict};
use super::{AtOne, Claims, Judgement};
use crate::history::Micros;
use crate::level::Level;

/// What is needed to judge a table.
pub(super) struct Judge<'a> {
    pub table: Table,
    pub lines: &'a BTreeMap<i64, Line>,
    pub observed: &'a Observed,
    pub claims: Claims,
    pub begin: Micros,
}

impl Judge<'_> {
    pub fn judge(&self) -> Judgement {
        let mut verdicts = Vec::new();
        for (key, line) in self.lines {
            verdicts.extend(self.at_quorum(*key, line));
            verdicts.extend(self.at_all(*key, line));
            verdicts.extend(self.on_replicas(*key, line));
        }
        verdicts.extend(self.unknown_keys());
        let shares = self.shares();
        verdicts.extend(self.incomplete(&shares));
        Judgement { verdicts, shares }
    }

    fn at_quorum(&self, key: i64, line: &Line) -> Vec<Verdict> {
        let floor = line.acknowledged(Level::Quorum);
        let readers = self.observed.quorum.iter();
        let faults = readers.filter_map(|(member, found)| {
            let reader = format!("a read at QUORUM through {member}");
            self.fault(key, line, floor, found, &reader, Some(member))
        });
        faults.collect()
    }

    fn at_all(&self, key: i64, line: &Line) -> Option<Verdict> {
        let floor = match self.claims.at_one {
            AtOne::MustBeKept => line.acknowledged(Level::One),
            AtOne::MayBeLost => line.acknowledged(Level::Quorum),
        };
        self.fault(key, line, floor, &self.observed.all, "a read at ALL", None)
    }

    /// What is wrong with what a reader found, who must be at `floor` or later.
    fn fault(
        &self,
        key: i64,
        line: &Line,
        floor: Place,
        found: &Found,
        reader: &str,
        member: Option<&Member>,
    ) -> Option<Verdict> {
        let found = found.get(&key).map(String::as_str);
        let kind = match line.place_of(found) {
            None => Kind::WrongValue,
            Some(place) if place >= floor => return None,
            Some(_) if line.holds_something(floor) => Kind::Lost,
            Some(_) => Kind::Resurrected,
        };
        let message = format!(
            "{} {key}: {}; {reader} found {}",
            self.table.one(),
            line.told(floor, self.begin),
            found.unwrap_or("nothing")
        );
        Some(self.verdict(kind, Some(key), member, message))
    }

    fn on_replicas(&self, key: i64, line: &Line) -> Vec<Verdict> {
        let Some(replicas) = self.observed.replicas.get(&key) else {
            let message = format!("{} {key} has no replica", self.table.one());
            return vec![self.verdict(Kind::HeldByTooFew, Some(key), None, message)];
        };
        let (everywhere, quorum) =
            (line.acknowledged(Level::All), line.acknowledged(Level::Quorum));
        let nothing = Found::new();
        let (mut verdicts, mut holders) = (Vec::new(), Vec::new());
        for member in replicas {
            let found = self.observed.alone.get(member).unwrap_or(&nothing);
            let reader = format!("{member} by itself");
            let fault = self.fault(key, line, everywhere, found, &reader, Some(member));
            verdicts
                .extend(fault.map(|verdict| Verdict { kind: on_replica(verdict.kind), ..verdict }));
            let place = line.place_of(found.get(&key).map(String::as_str));
            if place.is_some_and(|place| place >= quorum) {
                holders.push(member.address.as_str());
            }
        }
        let quorum_of_replicas = replicas.len() / 2 + 1;
        if replicas.len() - holders.len() >= quorum_of_replicas {
            let message = format!(
                "{} {key}: {}; of its {} replicas it is held by {} only ({}): a read at QUORUM may miss it",
                self.table.one(),
                line.told(quorum, self.begin),
                replicas.len(),
                holders.len(),
                if holders.is_empty() { "none".to_owned() } else { holders.join(", ") }
            );
            verdicts.push(self.verdict(Kind::HeldByTooFew, Some(key), None, message));
        }
        verdicts
    }

    /// Keys that were found and that no attempt ever named.
    fn unknown_keys(&self) -> Vec<Verdict> {
        // One that is not linearizable has no line, and is known all the same.
        let known =
            |key: &i64| self.lines.contains_key(key) || self.observed.replicas.contains_key(key);
        let strangers = self.observed.all.iter().filter(|(key, _)| !known(key));
        let verdicts = strangers.map(|(key, state)| {
            let message = format!("{} {key}: nobody wrote it; {state} was found", self.table.one());
            self.verdict(Kind::WrongValue, Some(*key), None, message)
        });
        verdicts.collect()
    }

    fn shares(&self) -> Vec<Share> {
        let shares = self.observed.alone.iter().map(|(member, found)| {
            let (mut expected, mut held) = (0, 0);
            for (key, line) in self.lines {
                let mine = self.observed.replicas.get(key).is_some_and(|r| r.contains(member));
                let newest = line.acknowledged(Level::One);
                // Where nothing may be right, finding nothing says nothing.
                if mine && line.place_of(None).is_none_or(|place| place < newest) {
                    expected += 1;
                    let place = line.place_of(found.get(key).map(String::as_str));
                    held += usize::from(place.is_some_and(|place| place >= newest));
                }
            }
            Share { member: member.clone(), table: self.table, expected, held }
        });
        shares.collect()
    }

    fn incomplete(&self, shares: &[Share]) -> Vec<Verdict> {
        let Claims { replica_percent: percent, in_flight, .. } = self.claims;
        let below = shares.iter().filter(|share| share.is_below(percent, in_flight));
        let verdicts = below.map(|share| {
            let message = format!(
                "{} by itself holds {} of the {} {}s that it is a replica of, less than {percent} %",
                share.member,
                share.held,
                share.expected,
                self.table.one()
            );
            self.verdict(Kind::ReplicaIncomplete, None, Some(&share.member), message)
        });
        verdicts.collect()
    }

    fn verdict(
        &self,
        kind: Kind,
        key: Option<i64>,
        member: Option<&Member>,
        message: String,
    ) -> Verdict {
        Verdict { kind, table: self.table, key, member: member.cloned(), message }
    }
}

/// What one replica lacks is not lost yet.
fn on_replica(kind: Kind) -> Kind {
    match kind {
        Kind::Lost | Kind::Resurrected => Kind::MissingFromReplica,
        Kind::WrongValue
        | Kind::NotLinearizable
        | Kind::HeldByTooFew
        | Kind::MissingFromReplica
        | Kind::ReplicaIncomplete => kind,
    }
}
