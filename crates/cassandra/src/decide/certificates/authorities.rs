//! The authorities of a ring: the one that signs, and for a time its successor
//! or predecessor, which clients trust besides. A successor signs when clients
//! have had time to learn of it.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::certificates::{Doing, Happened};
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::Authority;
use palladion_plan::{Event, Step};
use serde_json::{Value, json};

/// How long an authority is valid: ten years.
pub const LIFE: SignedDuration = SignedDuration::from_hours(24 * 3650);
/// It gets a successor when so much of its life is left: more than the longest
/// life of a certificate, and the time that clients have.
pub const LAST_PART: SignedDuration = SignedDuration::from_hours(24 * 730);
/// Clients have so long to learn of a successor before it signs.
pub const OVERLAP: SignedDuration = SignedDuration::from_hours(24 * 30);
/// How their names begin; a number follows.
const NAME: &str = "client-";

/// An authority with its name and number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known<'a> {
    /// Its name.
    pub name: &'a str,
    number: u32,
    /// What is on record of it.
    pub record: &'a Authority,
}

impl Known<'_> {
    /// When it expires.
    pub fn end(&self) -> Timestamp {
        self.record.not_after.0
    }

    fn signs_from(&self) -> Timestamp {
        self.record.made_at.0.saturating_add(OVERLAP).unwrap_or(Timestamp::MAX)
    }

    fn succeeded_from(&self) -> Timestamp {
        self.end().saturating_sub(LAST_PART).unwrap_or(Timestamp::MIN)
    }
}

/// Those that have not expired, the oldest first.
pub fn valid<'a>(facts: &'a Facts<'_>) -> Vec<Known<'a>> {
    let mut all = on_record(facts);
    all.retain(|known| known.end() > facts.now());
    all
}

fn on_record<'a>(facts: &'a Facts<'_>) -> Vec<Known<'a>> {
    let known = facts.status.authorities.iter().filter_map(|(name, record)| {
        let number = name.strip_prefix(NAME)?.parse().ok()?;
        Some(Known { name, number, record })
    });
    let mut all: Vec<Known<'a>> = known.collect();
    all.sort_by_key(|known| known.number);
    all
}

/// The one that signs now: the newest that clients have had time to learn of, or
/// else the oldest.
pub fn signer<'a>(facts: &'a Facts<'_>) -> Option<Known<'a>> {
    let all = valid(facts);
    let known = all.iter().rev().find(|known| known.signs_from() <= facts.now());
    known.or(all.first()).copied()
}

/// What clients trust: all that are valid.
pub fn trust(facts: &Facts<'_>) -> String {
    let ends = |text: &str| format!("{}\n", text.trim_end());
    valid(facts).iter().map(|known| ends(&known.record.certificate)).collect()
}

/// Have the first one made, or a successor, and drop those that have expired.
pub(super) fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    let all = valid(facts);
    let newest = all.last();
    if newest.is_none_or(|newest| newest.succeeded_from() <= facts.now()) {
        let number = on_record(facts).last().map_or(0, |last| last.number).saturating_add(1);
        let name = format!("{NAME}{number}");
        let doing = Doing::MakeAuthority { authority: name.clone() };
        let made = Event::normal(Happened::AuthorityMade { authority: name.clone() });
        let step = Step::make_authority(kinds::CLUSTER, owner, &name, LIFE, doing);
        draft.steps.push(step.announced(made));
    }
    let over = on_record(facts).into_iter().filter(|known| known.end() <= facts.now());
    let over: serde_json::Map<String, Value> =
        over.map(|known| (known.name.to_string(), Value::Null)).collect();
    if !over.is_empty() && newest.is_some() {
        let gone = json!({ "status": { "authorities": over } });
        draft.steps.push(Step::patch_status(kinds::CLUSTER, owner, gone, Doing::DropAuthorities));
    }
    wake(facts, &all, draft);
}

/// When something of it changes next.
fn wake(facts: &Facts<'_>, all: &[Known<'_>], draft: &mut Draft) {
    let of_each = all.iter().flat_map(|k| [k.signs_from(), k.succeeded_from(), k.end()]);
    let next = of_each.filter(|time| *time > facts.now()).min();
    if let Some(next) = next {
        draft.wake_at(next);
    }
}
