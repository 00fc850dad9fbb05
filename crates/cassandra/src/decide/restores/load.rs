//! The rows: what each member of the backup had is loaded by one member of the ring, by all of
//! these at once. A share whose member is lost is loaded by another one from its beginning:
//! loading the same rows twice is the same as once.

use super::answers::{Answer, One, answer, is_lost, there, waits, words};
use super::assign::assign;
use super::course::write;
use super::create::hash;
use super::give_up;
use super::orders::{UnderWay, give};
use super::whole;
use crate::decide::draft::Draft;
use crate::decide::transfers::Said;
use crate::facts::Facts;
use crate::words::restores::{Failed, Member, Phase};
use palladion_api::backup::{LoadWay, LoadWork, TransferStatus, TransferWork};
use palladion_api::ids::MemberName;
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase, RestoreShare};

/// Steps of the progress that are told, in percent: each is a write.
pub const TOLD: usize = 10;

/// What the names of its orders begin with.
pub const LOAD: &str = "load-";

/// A share, as it stands now.
struct Followed {
    share: RestoreShare,
    percent: usize,
    waits: Option<Said>,
}

/// Order what is not loaded, and go on once all is.
pub fn load(facts: &Facts<'_>, under_way: &UnderWay<'_, '_>, draft: &mut Draft) {
    let restore = under_way.restore;
    // Nobody is ordered anything in a decision that gives up.
    let mut orders = Draft::default();
    let shares = restore.status.shares.iter();
    let followed = shares.map(|share| follow(facts, under_way, share, &mut orders));
    let followed: Vec<Followed> = match followed.collect() {
        Ok(followed) => followed,
        Err(why) => return give_up::because(facts, restore, &why, draft),
    };
    draft.take(orders);
    let percent: usize = followed.iter().map(|one| one.percent).sum();
    let why = followed.iter().find_map(|one| one.waits.clone());
    let mut shares: Vec<RestoreShare> = followed.into_iter().map(|one| one.share).collect();
    assign(facts, whole::of(under_way.active), &mut shares);
    let (done, sources) = (shares.iter().filter(|share| share.loaded).count(), shares.len());
    let mut status = CassandraRestoreStatus { shares, ..restore.status.clone() };
    if done == sources && restore.spec.point_in_time.is_some() {
        let to = restore.spec.point_in_time.as_ref().map(|to| to.0.to_string()).unwrap_or_default();
        status.phase = Some(RestorePhase::Replaying);
        status.progress = Some("0%".into());
        let members = whole::of(under_way.active).map_or(0, |ring| ring.places.len());
        return write(facts, restore, status, Phase::Replaying { to, done: 0, members }, draft);
    }
    if done == sources {
        status.phase = Some(RestorePhase::Finishing);
        status.progress = None;
        let member =
            status.coordinator.as_ref().map_or_else(MemberName::default, |who| who.name.clone());
        return write(facts, restore, status, Phase::Finishing { member }, draft);
    }
    status.progress = Some(format!("{}%", percent / sources / TOLD * TOLD));
    let is_idle = status.shares.iter().all(|share| share.loaded || share.member.is_none());
    let nobody = || is_idle.then(|| Said::from(Member::None));
    let said = why.or_else(nobody).unwrap_or_else(|| Phase::Loading { done, sources }.into());
    write(facts, restore, status, said, draft);
}

/// What becomes of a share: its member is ordered to load it, or has, or is lost.
fn follow(
    facts: &Facts<'_>,
    under_way: &UnderWay<'_, '_>,
    share: &RestoreShare,
    orders: &mut Draft,
) -> Result<Followed, Said> {
    let as_it_is = |percent| Followed { share: share.clone(), percent, waits: None };
    let Some(entry) = share.member.as_ref().filter(|_| !share.loaded) else {
        return Ok(as_it_is(if share.loaded { 100 } else { 0 }));
    };
    if is_lost(facts, entry) {
        let share = RestoreShare { member: None, message: None, ..share.clone() };
        return Ok(Followed { share, percent: 0, waits: None });
    }
    let Some(one) = there(facts, entry) else {
        return Ok(as_it_is(0));
    };
    let id = under_way.active.order(&format!("{LOAD}{}", share.source.host_id));
    let said = answer(one.0, &id);
    if let Answer::Failed(why) = said {
        return Err(why);
    }
    if let Answer::Done(told) = said {
        whole(told, &one.0.name, share)?;
        let share = RestoreShare { loaded: true, message: None, ..share.clone() };
        return Ok(Followed { share, percent: 100, waits: None });
    }
    order(facts, under_way, (one, share), id.clone(), orders);
    let waits = waits(facts, one.0, &said);
    let told = one.0.status.transfer.as_ref().filter(|told| told.id == id);
    Ok(Followed {
        share: RestoreShare { message: waits.as_ref().map(words), ..share.clone() },
        percent: told.and_then(|told| told.progress).map_or(0, usize::from).min(99),
        waits,
    })
}

fn order(
    facts: &Facts<'_>,
    UnderWay { restore, active, own }: &UnderWay<'_, '_>,
    (one, share): (One<'_>, &RestoreShare),
    id: String,
    orders: &mut Draft,
) {
    let Some(manifest_hash) = hash(restore) else {
        return;
    };
    let work = LoadWork {
        manifest_hash,
        source: share.source.host_id.clone(),
        tables: restore.spec.tables.clone(),
        way: match whole::of(active) {
            Some(_) => LoadWay::Place,
            None => LoadWay::Stream,
        },
    };
    let work = TransferWork { load: Some(work), ..TransferWork::default() };
    give(facts, (active, Some(own)), one, (id, work), orders);
}

/// All has to be loaded that the backup has.
fn whole(told: &TransferStatus, member: &MemberName, share: &RestoreShare) -> Result<(), Said> {
    let (member, sstables) = (member.clone(), share.source.sstables);
    match told.loaded.as_ref().map(|loaded| loaded.sstables) {
        None => Err(Failed::NoResult { member }.into()),
        Some(loaded) if loaded == sstables => Ok(()),
        Some(loaded) => Err(Failed::OtherCount { member, loaded, sstables }.into()),
    }
}
