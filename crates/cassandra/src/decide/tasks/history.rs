//! Tasks that have ended are history: which of them are kept, and for how long.

use super::read::{is_over, kind};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::tasks::Doing;
use jiff::{SignedDuration, Timestamp};
use palladion_api::task::{DEFAULT_TTL, TaskKind};
use palladion_plan::{Loss, Object, Step};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// So many ended tasks of a cluster are kept: every decision looks at each of
/// them, and whoever creates tasks by a script must not slow the ring down.
const MOST: usize = 50;

/// A task that has ended.
struct Ended<'a> {
    object: &'a Object,
    at: Timestamp,
    kind: Option<TaskKind>,
}

impl<'a> Ended<'a> {
    /// One that does not say when it ended is left alone.
    fn read(object: &'a Object) -> Option<Self> {
        let is_ours = is_over(object) && !object.meta.is_terminating();
        let at = object.str_at("/status/endedAt").filter(|_| is_ours)?;
        Some(Self { object, at: at.parse().ok()?, kind: kind(object) })
    }

    /// When it is deleted, unless it is the last of its kind.
    fn due(&self) -> Option<Timestamp> {
        let ttl = self.object.int_at("/spec/ttlSecondsAfterFinished");
        let ttl = SignedDuration::from_secs(ttl.unwrap_or(i64::from(DEFAULT_TTL)));
        self.at.checked_add(ttl).ok()
    }
}

/// Delete what is no longer kept, and look again when the next one is due. The
/// last of each kind stays: it says how that kind of work went.
pub fn tidy(facts: &Facts<'_>, draft: &mut Draft) {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let tasks = facts.objects(kinds::TASK).iter();
    let of_this = tasks.filter(|o| o.str_at("/spec/cluster") == Some(cluster));
    let mut ended: Vec<Ended<'_>> = of_this.filter_map(|o| Ended::read(o)).collect();
    ended.sort_by_key(|task| (Reverse(task.at), &task.object.meta.name));
    let mut seen = BTreeSet::new();
    let (last, older): (Vec<_>, Vec<_>) = ended.into_iter().partition(|t| seen.insert(t.kind));
    for (index, task) in older.iter().enumerate() {
        let due = task.due();
        let is_due = due.is_some_and(|due| due <= facts.now());
        if is_due || index + last.len() >= MOST {
            draft.steps.push(delete(task));
        } else if let Some(due) = due {
            draft.wake_at(due);
        }
    }
}

/// As it was seen: whoever changes the task in that moment keeps it.
fn delete(task: &Ended<'_>) -> Step {
    let meta = &task.object.meta;
    let doing = Doing::Delete { task: meta.name.clone(), ended: task.at };
    Step::delete_as_seen(kinds::TASK, meta, Loss::Nothing, doing)
}
