//! The authorities of a ring, for each purpose: the one that signs, and for a time
//! its successor or predecessor, which is trusted besides. A successor signs when
//! those who trust it have had time to learn of it; of members it is known whether
//! they have.

use super::rotation;
use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::certificates::{Doing, Happened};
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::{Authority, RotationStep};
use palladion_api::ids::MemberName;
use palladion_api::member::{CertificateStatus, Purpose};
use palladion_plan::{Event, Step};
use serde_json::{Value, json};

/// How long an authority is valid: ten years.
pub const LIFE: SignedDuration = SignedDuration::from_hours(24 * 3650);
/// It gets a successor when so much of its life is left: more than the longest
/// life of a certificate, and the time that clients have.
pub const LAST_PART: SignedDuration = SignedDuration::from_hours(24 * 730);
/// Clients have so long to learn of a successor before it signs.
pub const OVERLAP: SignedDuration = SignedDuration::from_hours(24 * 30);
/// Other datacenters are written down by people: they have so long, of the two years for which
/// the former one can still sign for a year.
pub const OVERLAP_ELSEWHERE: SignedDuration = SignedDuration::from_hours(24 * 300);
/// The last line of each in a text.
const END_OF_CERTIFICATE: &str = "-----END CERTIFICATE-----";

/// An authority with its name and number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its number, which its name ends in.
    number: u32,
    /// What is on record of it.
    pub record: &'a Authority,
}

impl Known<'_> {
    /// When it expires.
    pub fn end(&self) -> Timestamp {
        self.record.not_after.0
    }

    fn signs_from(&self, overlap: SignedDuration) -> Timestamp {
        self.record.made_at.0.saturating_add(overlap).unwrap_or(Timestamp::MAX)
    }

    fn succeeded_from(&self) -> Timestamp {
        self.end().saturating_sub(LAST_PART).unwrap_or(Timestamp::MIN)
    }
}

/// Those that have not expired, the oldest first.
pub fn valid<'a>(facts: &'a Facts<'_>, purpose: Purpose) -> Vec<Known<'a>> {
    let mut all = on_record(facts, purpose);
    all.retain(|known| known.end() > facts.now());
    all
}

/// All that are on record, the oldest first.
pub fn on_record<'a>(facts: &'a Facts<'_>, purpose: Purpose) -> Vec<Known<'a>> {
    let known = facts.status.authorities.iter().filter_map(|(name, record)| {
        let number = name.strip_prefix(purpose.name())?.strip_prefix('-')?.parse().ok()?;
        Some(Known { name, number, record })
    });
    let mut all: Vec<Known<'a>> = known.collect();
    all.sort_by_key(|known| known.number);
    all
}

/// The one that signs now: the newest that all have had time to learn of, or
/// else the oldest. For members none signs that not all of them trust yet: whoever
/// showed what it signs would be cut off from the others.
pub fn signer<'a>(facts: &'a Facts<'_>, purpose: Purpose) -> Option<Known<'a>> {
    match rotation::under_way(facts, purpose) {
        Some(rotation) if rotation.record.step == RotationStep::Certificates => Some(rotation.to),
        Some(rotation) => signer_of(facts, purpose, &rotation.former),
        None => signer_of(facts, purpose, &valid(facts, purpose)),
    }
}

/// The one of these that signs.
pub fn signer_of<'a>(
    facts: &'a Facts<'_>,
    purpose: Purpose,
    all: &[Known<'a>],
) -> Option<Known<'a>> {
    let all: Vec<Known<'a>> =
        all.iter().filter(|known| known.end() > facts.now()).copied().collect();
    let is_trusted = |known: &&Known<'_>| match purpose {
        Purpose::Client => true,
        Purpose::Internode => doubter(facts, known).is_none(),
    };
    let overlap = overlap(facts, purpose);
    let signs = |k: &&Known<'_>| k.signs_from(overlap) <= facts.now();
    let known = all.iter().rev().filter(is_trusted).find(signs);
    known.or(all.first().filter(is_trusted)).copied()
}

/// How long those that trust it have to learn of a successor.
fn overlap(facts: &Facts<'_>, purpose: Purpose) -> SignedDuration {
    match purpose {
        Purpose::Internode if !facts.additional_trust.is_empty() => OVERLAP_ELSEWHERE,
        Purpose::Internode | Purpose::Client => OVERLAP,
    }
}

/// A member whose server does not take for certain what the newest authority would sign, while
/// none signs.
pub fn holds_up<'a>(facts: &'a Facts<'_>) -> Option<&'a MemberName> {
    if signer(facts, Purpose::Internode).is_some() {
        return None;
    }
    let all = valid(facts, Purpose::Internode);
    all.last().and_then(|known| doubter(facts, known)).map(|member| &member.name)
}

/// A member that would not take the certificates that the authority signs, also where it has no
/// pod now: its server may run somewhere, and starts with what is on its volume. One that has no
/// certificate itself speaks to nobody yet.
fn doubter<'a>(facts: &'a Facts<'_>, known: &Known<'_>) -> Option<&'a MemberFact> {
    let is_known = |by: &String| is_known(facts, by);
    facts.members.values().filter(|member| !member.is_gone()).find(|member| {
        held(member).is_some_and(|held| {
            // Of a certificate that nobody is told to take: a server is not started with it.
            let may_run = member.status.server.as_ref().is_none_or(|s| s.state.may_run());
            let is_void = !may_run && held.issuer.as_ref().is_some_and(|by| !is_known(by));
            !held.trusts.contains(&known.record.fingerprint) && !is_void
        })
    })
}

/// Does the member have a certificate that others take, or does its server show one?
pub fn is_usable(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let by = |held: &CertificateStatus| held.issuer.as_ref().is_none_or(|by| is_known(facts, by));
    held(member).is_some_and(by)
}

/// May others trust this authority: because it is on record, or because former ones still are in
/// what members were told to trust?
fn is_known(facts: &Facts<'_>, authority: &String) -> bool {
    is_on_record(facts, authority) || !former(facts).is_empty()
}

fn is_on_record(facts: &Facts<'_>, authority: &String) -> bool {
    let valid = valid(facts, Purpose::Internode);
    valid.iter().any(|known| known.record.fingerprint == *authority)
}

/// What a member has of the certificate that it shows to others.
fn held(member: &MemberFact) -> Option<&CertificateStatus> {
    let status = member.status.tls.as_ref()?.of(Purpose::Internode)?;
    status.stored.is_some().then_some(status)
}

/// Authorities that members were told to trust and that no record names any more.
fn former<'a>(facts: &'a Facts<'_>) -> Vec<&'a str> {
    let valid = valid(facts, Purpose::Internode);
    let is_of_record = |text: &str| {
        valid.iter().any(|k| k.record.certificate.trim() == text)
            || facts.additional_trust.iter().any(|known| known.certificate == text)
    };
    let orders = facts.members.values().filter_map(|m| m.spec.as_ref()?.tls.as_ref());
    let trusted = orders.filter_map(|tls| tls.of(Purpose::Internode));
    let mut all: Vec<&str> = Vec::new();
    for text in trusted.flat_map(|order| order.trust.split_inclusive(END_OF_CERTIFICATE)) {
        let text = text.trim();
        if !text.is_empty() && !is_of_record(text) && !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// What is trusted: all that are valid, and for members those of other datacenters and those
/// that some members still show a certificate of, although no record names them any more.
pub fn trust(facts: &Facts<'_>, purpose: Purpose) -> String {
    let valid = valid(facts, purpose);
    let mut all: Vec<&str> = valid.iter().map(|known| known.record.certificate.trim()).collect();
    if purpose == Purpose::Internode {
        all.extend(lost(facts));
        // Nobody is asked to sign by what others trust.
        if !all.is_empty() {
            all.extend(facts.additional_trust.iter().map(|known| known.certificate.as_str()));
        }
    }
    all.into_iter().map(|text| format!("{text}\n")).collect()
}

/// Former authorities of members that may still show their certificates.
fn lost<'a>(facts: &'a Facts<'_>) -> Vec<&'a str> {
    // Nobody knows what a server shows that has not read a change for certain.
    let may_show_former = |member: &MemberFact| {
        let held = held(member).filter(|_| !member.is_gone());
        held.is_some_and(|held| !held.issuer.as_ref().is_some_and(|by| is_on_record(facts, by)))
    };
    // What a rotation has removed stays removed, whatever a member has that is to be replaced.
    let is_rotated = rotation::under_way(facts, Purpose::Internode).is_some();
    let counts = |member: &&MemberFact| !is_rotated || marks::of(member).is_none();
    match facts.members.values().filter(counts).any(may_show_former) {
        true => former(facts),
        false => Vec::new(),
    }
}

/// Is an authority still trusted that was lost: because members may show its certificates?
pub fn has_former(facts: &Facts<'_>, purpose: Purpose) -> bool {
    purpose == Purpose::Internode && !lost(facts).is_empty()
}

/// The name of the next one.
pub fn next_name(facts: &Facts<'_>, purpose: Purpose) -> String {
    let last = on_record(facts, purpose).last().map_or(0, |last| last.number);
    format!("{}-{}", purpose.name(), last.saturating_add(1))
}

/// Have the first one made, or a successor, and drop those that have expired.
pub(super) fn decide(facts: &Facts<'_>, purpose: Purpose, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    let all = valid(facts, purpose);
    let newest = all.last();
    if newest.is_none_or(|newest| newest.succeeded_from() <= facts.now()) {
        let name = next_name(facts, purpose);
        let doing = Doing::MakeAuthority { authority: name.clone() };
        let made = Event::normal(Happened::AuthorityMade { authority: name.clone() });
        let step = Step::make_authority(kinds::CLUSTER, owner, &name, LIFE, doing);
        draft.steps.push(step.announced(made));
    }
    let over = on_record(facts, purpose).into_iter().filter(|known| known.end() <= facts.now());
    let over: serde_json::Map<String, Value> =
        over.map(|known| (known.name.to_string(), Value::Null)).collect();
    if !over.is_empty() && newest.is_some() {
        let gone = json!({ "status": { "authorities": over } });
        draft.steps.push(Step::patch_status(kinds::CLUSTER, owner, gone, Doing::DropAuthorities));
    }
    wake(facts, purpose, &all, draft);
}

/// When something of it changes next.
fn wake(facts: &Facts<'_>, purpose: Purpose, all: &[Known<'_>], draft: &mut Draft) {
    let overlap = overlap(facts, purpose);
    let of_each = all.iter().flat_map(|k| [k.signs_from(overlap), k.succeeded_from(), k.end()]);
    let next = of_each.filter(|time| *time > facts.now()).min();
    if let Some(next) = next {
        draft.wake_at(next);
    }
}
