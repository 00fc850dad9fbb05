//! The members of the ring get the tokens of the backup, and start. Who takes whose place is on
//! record before anybody starts, and stays; that the tokens are right is seen twice, by the
//! agent before the start and here after it.

use super::super::answers::{Answer, One, answer, waits};
use super::super::course::write;
use super::super::create::hash;
use super::super::give_up;
use super::super::orders::{self, UnderWay, give};
use super::super::read::Restore;
use super::places::{Ring, places};
use super::{begin, reach, taken};
use crate::decide::draft::Draft;
use crate::decide::transfers::{Said, ordered, take_from};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::restores::{Failed, Member, Pending, Phase, Refused};
use palladion_api::backup::{
    CatalogWork, Cataloged, NEVER_STARTED, TokensWork, TransferStatus, TransferWork,
};
use palladion_api::cluster::{RestoredPlace, WholeRing};
use palladion_api::ids::{HostId, VolumeId};
use palladion_api::member::VolumeState;
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase, RestoreRepair};
use palladion_plan::words::Names;

/// The name of an order to read which members the backup has.
const RING: &str = "ring";
/// What the names of orders to note tokens begin with.
const TOKENS: &str = "tokens-";

/// Go on until all of them are in the ring.
pub fn start(facts: &Facts<'_>, valid: &Valid, under_way: &UnderWay<'_, '_>, draft: &mut Draft) {
    let UnderWay { restore, active, .. } = under_way;
    match &active.record.whole_ring {
        None => give_up::because(facts, restore, &Failed::Forgotten.into(), draft),
        Some(whole) if whole.places.is_empty() => read(facts, valid, under_way, draft),
        Some(whole) => follow(facts, under_way, whole, draft),
    }
}

/// A member that has never started, as orders name it.
struct New<'a> {
    member: &'a MemberFact,
    host: HostId,
    volume: &'a VolumeId,
}

impl<'a> New<'a> {
    fn of(member: &'a MemberFact) -> Option<Self> {
        let volume = &member.volume()?.volume_id;
        Some(Self { member, host: HostId::new(NEVER_STARTED), volume })
    }

    fn one(&self) -> One<'_> {
        (self.member, &self.host, self.volume)
    }
}

/// One of them reads which members the backup has.
fn read(facts: &Facts<'_>, valid: &Valid, under_way: &UnderWay<'_, '_>, draft: &mut Draft) {
    let UnderWay { restore, active, own } = under_way;
    let id = active.order(RING);
    let there = || begin::all(facts, valid).filter_map(|(_, member)| New::of(member?));
    let has = |new: &New<'_>| ordered(new.member).is_some_and(|order| order.id == id);
    let Some(new) = there().find(has).or_else(|| there().next()) else {
        return write(facts, restore, restore.status.clone(), Member::None, draft);
    };
    let said = answer(new.member, &id);
    match &said {
        Answer::Failed(why) => give_up::because(facts, restore, why, draft),
        Answer::Done(told) => found(facts, valid, under_way, (new.member, told), draft),
        Answer::None | Answer::Going(_) => {
            let work = CatalogWork {
                manifest_hash: hash(restore).or(active.record.source.manifest_hash.clone()),
                tables: Vec::new(),
                whole_ring: true,
                to: restore.spec.point_in_time.clone(),
                auth: Some(restore.spec.auth.unwrap_or_default()),
            };
            let work = TransferWork { catalog: Some(work), ..TransferWork::default() };
            give(facts, (active, Some(own)), new.one(), (id, work), draft);
            let why = match &said {
                Answer::Going(Some(why)) => why.clone(),
                _ => Phase::Reading.into(),
            };
            write(facts, restore, restore.status.clone(), why, draft);
        }
    }
}

/// The manifest is pinned, then the places are on record.
fn found(
    facts: &Facts<'_>,
    valid: &Valid,
    UnderWay { restore, active, .. }: &UnderWay<'_, '_>,
    (member, told): (&MemberFact, &TransferStatus),
    draft: &mut Draft,
) {
    let (Some(manifest), Some(cataloged)) = (&told.manifest_hash, &told.cataloged) else {
        let why = Failed::NoResult { member: member.name.clone() };
        return give_up::because(facts, restore, &why.into(), draft);
    };
    if cataloged.tables.is_empty() {
        return give_up::because(facts, restore, &Refused::Unnamed.into(), draft);
    }
    if let Some(why) = without_repair(restore, cataloged) {
        return give_up::because(facts, restore, &why.into(), draft);
    }
    if let Some(to) = &restore.spec.point_in_time
        && let Err(why) = reach::reaches(facts, to, cataloged)
    {
        return give_up::because(facts, restore, &why.into(), draft);
    }
    if hash(restore).as_ref() != Some(manifest) {
        let mut source =
            restore.status.source.clone().unwrap_or_else(|| active.record.source.clone());
        source.manifest_hash = Some(manifest.clone());
        source.from = Some(cataloged.from.clone());
        let status = CassandraRestoreStatus { source: Some(source), ..restore.status.clone() };
        return write(facts, restore, status, Phase::Reading, draft);
    }
    match ring(facts, valid, &restore.spec.datacenters, cataloged) {
        Ok(places) => orders::record_places(active, &places, draft),
        Err(Unfit::Never(why)) => give_up::because(facts, restore, &why, draft),
        Err(Unfit::NotYet(why)) => {
            write(facts, restore, restore.status.clone(), why, draft);
        }
    }
}

/// What a member of the backup had that was left out of it comes back by the repair alone.
fn without_repair(restore: &Restore<'_>, found: &Cataloged) -> Option<Refused> {
    if restore.spec.repair != Some(RestoreRepair::None) {
        return None;
    }
    let left_out = || found.members.iter().filter(|member| member.left_out);
    let members = Names::of(left_out().map(|member| &member.host_id));
    left_out().next().map(|_| Refused::LeftOutUnrepaired { members })
}

enum Unfit {
    NotYet(Said),
    Never(Said),
}

fn ring(
    facts: &Facts<'_>,
    valid: &Valid,
    datacenters: &std::collections::BTreeMap<String, String>,
    found: &Cataloged,
) -> Result<Vec<RestoredPlace>, Unfit> {
    let mut members = Vec::new();
    for (name, member) in begin::all(facts, valid) {
        let new = member.and_then(New::of);
        let is_empty = |new: &New<'_>| {
            new.member.volume().is_some_and(|volume| volume.state == VolumeState::Empty)
        };
        let Some(new) = new.filter(is_empty) else {
            return Err(Unfit::NotYet(Pending::Volume { member: name }.into()));
        };
        members.push((new.member.rack.clone(), name, new.volume.clone()));
    }
    let ring = Ring::of(valid, members);
    places(&found.members, &ring, datacenters)
        .map_err(|why| Unfit::Never(Refused::OtherTopology { why: why.to_string() }.into()))
}

/// Each notes its tokens; their starts are given by turn, as joins are.
fn follow(facts: &Facts<'_>, under_way: &UnderWay<'_, '_>, whole: &WholeRing, draft: &mut Draft) {
    let UnderWay { restore, .. } = under_way;
    let (mut done, mut why) = (0, None);
    // Nobody is ordered anything in a decision that gives up.
    let mut orders = Draft::default();
    for place in &whole.places {
        match taken(facts, place) {
            Some((member, ..)) => match has_tokens(member, place) {
                Some(true) => {
                    let is_of_before = ordered(member)
                        .is_some_and(|order| order.host_id == HostId::new(NEVER_STARTED));
                    if is_of_before {
                        take_from(facts, member, &mut orders);
                    }
                    done += 1;
                }
                Some(false) => {
                    let other = Failed::OtherTokens { member: place.member.clone() };
                    return give_up::because(facts, restore, &other.into(), draft);
                }
                None => {}
            },
            None => match note(facts, under_way, place, &mut orders) {
                Ok(waits) => why = why.or(waits),
                Err(failed) => return give_up::because(facts, restore, &failed, draft),
            },
        }
    }
    draft.take(orders);
    let members = whole.places.len();
    let mut status = restore.status.clone();
    if done == members && facts.turn().is_none() {
        status.phase = Some(RestorePhase::Comparing);
        return write(facts, restore, status, Phase::Comparing, draft);
    }
    let said = why.unwrap_or_else(|| Phase::Starting { done, members }.into());
    write(facts, restore, status, said, draft);
}

/// Does its server say that it has the tokens of its place?
fn has_tokens(member: &MemberFact, place: &RestoredPlace) -> Option<bool> {
    let server = member.reported_server().filter(|_| member.is_normal())?;
    let hash = server.tokens_hash.as_ref()?;
    Some(*hash == place.tokens_hash && server.closed)
}

/// Have it note its tokens; what it waits for.
fn note(
    facts: &Facts<'_>,
    UnderWay { restore, active, own }: &UnderWay<'_, '_>,
    place: &RestoredPlace,
    orders: &mut Draft,
) -> Result<Option<Said>, Said> {
    let Some(new) = facts.members.get(&place.member).and_then(New::of) else {
        return Ok(Some(Pending::Volume { member: place.member.clone() }.into()));
    };
    if new.member.has_tokens_of(place) {
        return Ok(None);
    }
    let id = active.order(&format!("{TOKENS}{}", place.source));
    let said = answer(new.member, &id);
    if let Answer::Failed(why) = said {
        return Err(why);
    }
    if let Answer::Done(_) = said {
        return Err(Failed::NoResult { member: place.member.clone() }.into());
    }
    let Some(manifest_hash) = hash(restore) else {
        return Err(Failed::Forgotten.into());
    };
    let work = TokensWork { manifest_hash, source: place.source.clone() };
    let work = TransferWork { tokens: Some(work), ..TransferWork::default() };
    give(facts, (active, Some(own)), new.one(), (id, work), orders);
    Ok(match &said {
        Answer::Going(Some(_)) => waits(facts, new.member, &said),
        _ => None,
    })
}
