//! Restores that users ask for by a `CassandraRestore`: a table of contents. One at a time of
//! a ring is under way, and no backup beside it; it stands in the cluster's `status.restore`,
//! and how far it is in its own status. Each decision is made from what is stored there.

mod abandon;
mod answers;
mod assign;
mod begin;
mod compare;
mod course;
mod create;
mod deleted;
mod finish;
mod give_up;
mod hold;
mod judge;
mod load;
mod orders;
mod read;
mod source;
mod whole;

use crate::decide::draft::Draft;
use crate::decide::turn::epoch;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::restores::Failed;
pub use begin::is_ready;
pub use deleted::{end_all, end_one, say_without_cluster};
pub use hold::hold;
pub use orders::Active;
use orders::UnderWay;
use palladion_api::restore::RestorePhase;
pub use read::is_over;
use read::{Found, Restore};

/// Go on with the restore that is under way, or begin the next one.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if epoch::is_behind(facts) {
        return;
    }
    let waiting = read::open(facts);
    let Some(active) = Active::read(facts) else {
        return begin::next(facts, valid, &waiting, draft);
    };
    match read::of_uid(facts, active.uid()) {
        Found::Deleted => deleted::end(facts, valid, &active, draft),
        Found::Unreadable => {}
        // Its ring stays closed, which the cluster says; nothing else is restored into it.
        Found::There(restore)
            if read::is_over(restore.object) && whole::keeps_closed(facts, &active) => {}
        Found::There(restore) if read::is_over(restore.object) => orders::release(&active, draft),
        Found::There(restore) => advance(facts, valid, (&restore, &active), draft),
    }
    let others = waiting.iter().filter(|restore| restore.uid() != active.uid());
    begin::say_queued(facts, others, &active.record.restore, draft);
}

fn advance(
    facts: &Facts<'_>,
    valid: &Valid,
    (restore, active): (&Restore<'_>, &Active),
    draft: &mut Draft,
) {
    if whole::goes_on(facts, (restore, active, valid.backup.as_ref()), draft) {
        return;
    }
    if let Some(given_up) = &restore.status.given_up {
        return abandon::abandon(facts, valid, (restore, active, given_up), draft);
    }
    if give_up::taken_back(facts, restore, draft) {
        return;
    }
    if let Some(member) = whole::lost(facts, active) {
        let why = Failed::PlaceLost { member: member.clone() };
        return give_up::because(facts, restore, &why.into(), draft);
    }
    let Some(own) = &valid.backup else {
        let why = Failed::NoStore { cluster: valid.name.clone() };
        return give_up::because(facts, restore, &why.into(), draft);
    };
    let under_way = UnderWay { restore, active, own };
    let is_of_this = restore.status.id.as_ref() == Some(&active.record.id);
    match restore.status.phase {
        None | Some(RestorePhase::Pending) => begin::record(facts, &under_way, draft),
        Some(RestorePhase::Starting | RestorePhase::Comparing | RestorePhase::Confirming)
            if !is_of_this =>
        {
            begin::record(facts, &under_way, draft);
        }
        Some(RestorePhase::Starting) => whole::start(facts, valid, &under_way, draft),
        Some(RestorePhase::Comparing) => compare::compare(facts, &under_way, draft),
        // Whoever is to say yes may take days: backups are taken meanwhile.
        Some(RestorePhase::Confirming) => orders::release(active, draft),
        Some(RestorePhase::Creating) => create::create(facts, &under_way, draft),
        Some(RestorePhase::Loading) => load::load(facts, &under_way, draft),
        Some(RestorePhase::Replaying) => whole::replay(facts, &under_way, draft),
        Some(RestorePhase::Finishing) => finish::finish(facts, &under_way, draft),
        Some(RestorePhase::LoadingRoles | RestorePhase::Opening | RestorePhase::Repairing) => {
            match whole::of(active) {
                Some(ring) => whole::end(facts, &under_way, ring, draft),
                None => {
                    let why = Failed::Forgotten;
                    give_up::because(facts, restore, &why.into(), draft);
                }
            }
        }
        // Asked above.
        Some(RestorePhase::Complete | RestorePhase::Failed | RestorePhase::Aborted) => {}
    }
}
