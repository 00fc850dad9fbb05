//! Backups that a rule lets expire and that no member can reach: the ring's store is another one
//! now, or the same one under another name.

use super::read;
use crate::decide::backups::schedules::Schedule;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::retention::Delayed;
use palladion_api::backup::ExpiredBy;
use palladion_api::labels;

/// Those of a schedule. What a user lets expire says so itself.
pub fn of(facts: &Facts<'_>, valid: &Valid, schedule: &Schedule<'_>) -> Option<Delayed> {
    let is_ours = |one: &&read::Asked<'_>| {
        let label = one.backup.object.meta.labels.get(labels::SCHEDULE);
        one.by == ExpiredBy::Schedule
            && !one.is_decided()
            && label.is_some_and(|name| name == schedule.name())
    };
    let all = read::all(facts);
    let cluster = || valid.name.clone();
    let mut ours = all.iter().filter(is_ours);
    let Some(own) = &valid.backup else {
        let first = ours.next()?.backup.name().to_string();
        return Some(Delayed::NoStore { first, cluster: cluster() });
    };
    let away = ours.filter(|one| !read::is_there(facts, own, &one.backup));
    let away: Vec<&str> = away.map(|one| one.backup.name()).collect();
    let first = (*away.first()?).to_string();
    Some(Delayed::Elsewhere { backups: away.len(), first, cluster: cluster() })
}
