//! A member of a datacenter that was added to a ring joins without data, and a client that asks it
//! finds no rows and no error (safety rule 7.18). So its server runs without its native transport
//! until the member has what it lacks and the operator opens it. What it has, and that it is open,
//! is on its volume: without a note every start is closed, also one by itself with the API server
//! away, and with a note that it is closed no configuration opens it.

use super::{Cause, Facts, Process, Source, VolumeFact};
use crate::render::Door;
use crate::volume::ledger::{Ledger, Membership};
use crate::volume::rebuilt::Rebuilt;
use palladion_api::member::{StartPermit, lacking};
use palladion_api::server_config::Opens;
use std::collections::BTreeMap;

/// What is to be done about an order to take clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Nothing,
    /// Note that it takes clients from now on.
    Note,
    /// It is noted: have the server take them.
    Call,
}

/// What is to be done about an order to take no clients any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shut {
    /// Nothing.
    Nothing,
    /// Note that it takes none from now on: then the next start is as this one.
    Note,
    /// It is noted: have the server take none.
    Call,
}

/// How a start is made that is neither sealed nor closed for a restore.
pub fn door(facts: &Facts<'_>, cause: &Cause) -> Door {
    let permit = facts.spec.and_then(|known| known.spec.start.as_ref());
    let noted = noted(facts).cloned().unwrap_or_default();
    // The operator has yet to name the volume of one that was replaced meanwhile: it would be open
    // alone. Who is noted as open is so by an order that was given earlier.
    if is_any_to_close(facts) {
        return Door::AwaitsRebuild;
    }
    match noted_before(facts.opens, cause, permit, noted).closed {
        true => Door::AwaitsRebuild,
        false => Door::Open,
    }
}

/// What is noted before a start. Whoever enters the ring as new has what its permit says, and
/// nothing that was on the volume before. A member that was closed stays so where the configuration
/// does not ask for it any more: an older operator does not know of it.
pub fn noted_before(
    opens: Option<Opens>,
    cause: &Cause,
    permit: Option<&StartPermit>,
    noted: Rebuilt,
) -> Rebuilt {
    let noted = before(cause, permit, noted);
    match opens {
        Some(Opens::WhenRebuilt) => Rebuilt { closed: !noted.open, ..noted },
        None => noted,
    }
}

fn before(cause: &Cause, permit: Option<&StartPermit>, noted: Rebuilt) -> Rebuilt {
    let Cause::Permit { nonce, .. } = cause else { return noted };
    if !cause.enters_as_new() {
        return noted;
    }
    let permit = permit.filter(|permit| permit.nonce == *nonce);
    let has = permit.and_then(|permit| permit.rebuilt.clone());
    let mut rebuilt = Rebuilt { open: has.is_some(), ..Rebuilt::default() };
    has.iter().flatten().for_each(|(keyspace, copies)| rebuilt.note(keyspace, *copies));
    rebuilt
}

/// What keeps a member from taking clients: keyspaces that it lacks, and those with copies here
/// that do not count them by datacenter. Those have other members as soon as they are converted.
pub fn in_the_way<'a>(
    datacenter: &str,
    copies: &'a BTreeMap<String, BTreeMap<String, u32>>,
    uneven: &'a [String],
    rebuilt: &BTreeMap<String, u32>,
) -> Vec<&'a String> {
    let mut all = lacking(datacenter, copies, uneven, rebuilt);
    let is_here = |name: &&String| {
        copies.get(*name).and_then(|of| of.get(datacenter)).is_some_and(|copies| *copies > 0)
    };
    all.extend(uneven.iter().filter(is_here));
    all
}

/// Copies of each keyspace in this datacenter.
pub fn copies_in(
    datacenter: &str,
    copies: &BTreeMap<String, BTreeMap<String, u32>>,
) -> BTreeMap<String, u32> {
    let here = |of: &BTreeMap<String, u32>| of.get(datacenter).copied().unwrap_or(0);
    copies.iter().map(|(name, of)| (name.clone(), here(of))).collect()
}

/// Does the order to take clients hold for this member? `lacks` are the keyspaces that it lacks;
/// nothing where that is not known now.
pub fn opens(facts: &Facts<'_>, ledger: &Ledger, lacks: Option<&[&String]>) -> Next {
    let runs = facts.process == Process::Running && facts.stopping.is_none();
    let is_normal = facts.reading.is_some_and(super::Reading::is_full_member);
    let is_member = ledger.membership == Membership::Joined;
    let is_noted_closed = noted(facts).is_none_or(|noted| noted.closed);
    let is_closed = facts.awaits_rebuild || is_noted_closed;
    if !is_closed || !runs || !is_normal || !is_member || is_any_to_close(facts) {
        return Next::Nothing;
    }
    // Started closed by an order that was taken back before it was noted.
    let is_taken_back = facts.opens.is_none() && !is_noted_closed;
    if noted(facts).is_some_and(|noted| noted.open) || is_taken_back {
        return if facts.awaits_rebuild { Next::Call } else { Next::Nothing };
    }
    let order = facts.spec.filter(|known| known.source == Source::Live);
    let order = order.and_then(|known| known.spec.opening.as_ref());
    let is_ordered = order.is_some_and(|order| order.volume_id == ledger.volume_id);
    match is_ordered && lacks.is_some_and(<[_]>::is_empty) {
        true => Next::Note,
        false => Next::Nothing,
    }
}

/// Does the datacenter of this member leave its ring? Also by a spec that was saved: what closes a
/// member needs no fresh word.
fn is_to_close(facts: &Facts<'_>, ledger: &Ledger) -> bool {
    let order = facts.spec.and_then(|known| known.spec.closing.as_ref());
    order.is_some_and(|order| order.volume_id == ledger.volume_id)
}

/// The same, whatever volume the order names.
fn is_any_to_close(facts: &Facts<'_>) -> bool {
    facts.spec.is_some_and(|known| known.spec.closing.is_some())
}

/// Does the order to take no clients any more hold for this member? A server is closed when its
/// port was seen open before and is not now: one that is yet to open it does nothing when it is
/// called, and one that somebody opens by hand is called again.
pub fn closes(facts: &Facts<'_>, ledger: &Ledger) -> Shut {
    if !is_to_close(facts, ledger) || ledger.membership != Membership::Joined {
        return Shut::Nothing;
    }
    let Some(noted) = noted(facts) else { return Shut::Nothing };
    let runs = facts.process == Process::Running && facts.stopping.is_none();
    let is_to_call = match facts.reading.and_then(|reading| reading.native_transport) {
        Some(true) => true,
        Some(false) => facts.was_open && !facts.awaits_rebuild,
        None => false,
    };
    match (noted.open || !noted.closed, runs && is_to_call) {
        (true, _) => Shut::Note,
        (false, true) => Shut::Call,
        (false, false) => Shut::Nothing,
    }
}

/// Does the server that runs take no clients, since its datacenter leaves its ring?
pub fn leaves(facts: &Facts<'_>) -> bool {
    is_any_to_close(facts) && is_owed(facts)
}

/// Does the server that runs take no clients, since its member is not rebuilt?
pub fn is_owed(facts: &Facts<'_>) -> bool {
    facts.awaits_rebuild && !noted(facts).is_some_and(|noted| noted.open)
}

fn noted<'a>(facts: &'a Facts<'_>) -> Option<&'a Rebuilt> {
    match &facts.volume {
        VolumeFact::Found(found) => Some(&found.rebuilt),
        VolumeFact::Unreadable(_) => None,
    }
}
