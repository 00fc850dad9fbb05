//! Objects of backups of a schedule that are no longer kept. What is in the store stays.

use super::read::is_over;
use super::schedules::{Schedule, is_complete};
use crate::decide::draft::Draft;
use crate::resources as kinds;
use crate::words::backups::Doing;
use palladion_plan::{Loss, Object, Step};

/// Delete those that have ended, beyond those that are kept. With a retention, complete ones stay
/// until they have expired, or no rule would find them any more; and whatever expires stays until
/// it has.
pub fn tidy(schedule: &Schedule<'_>, backups: &[&Object], draft: &mut Draft) {
    let kept = usize::try_from(schedule.spec.history_limit).unwrap_or(usize::MAX);
    let last_complete = backups.iter().find(|backup| is_complete(backup)).map(|b| &b.meta.uid);
    let expires = schedule.spec.retention.is_some();
    let counts = |backup: &&&Object| {
        is_over(backup) && !backup.meta.is_terminating() && !(expires && is_complete(backup))
    };
    let ended = backups.iter().filter(counts).filter(|backup| !is_expiring(backup));
    for backup in ended.skip(kept).filter(|backup| Some(&backup.meta.uid) != last_complete) {
        let doing = Doing::Delete { backup: backup.meta.name.clone() };
        let step = Step::delete_as_seen(kinds::BACKUP, &backup.meta, Loss::Nothing, doing);
        draft.steps.push(step);
    }
}

/// Has it been decided that it expires, or has a user asked for that?
fn is_expiring(backup: &Object) -> bool {
    let is_asked = backup.at("/spec/expire").is_some_and(|asked| *asked == true);
    let phase = backup.str_at("/status/phase");
    phase == Some("Expiring") || (is_asked && phase != Some("Expired"))
}
