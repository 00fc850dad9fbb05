//! Rules of `CassandraTaskSchedule`.

use kube_core::{Reason, Rule};

use super::must;
use crate::task::TaskKind;

/// The tasks of a schedule are those of one ring.
pub fn cluster_is_fixed() -> Rule {
    must(
        "oldSelf.cluster == self.cluster",
        "`cluster` of a schedule is immutable: delete this schedule and create another",
    )
    .reason(Reason::FieldValueForbidden)
    .field_path(".cluster")
}

/// What cron takes; whether it ever matches says the condition `Accepted`.
pub fn schedule_has_five_fields() -> Rule {
    must(
        r"self.matches('^[^ ]+( +[^ ]+){4}$') || self in ['@hourly', '@daily', '@weekly', '@monthly', '@yearly', '@annually']",
        "write five fields with spaces between them (minute, hour, day of the month, month, day of the week), for example `0 2 * * *`",
    )
}

/// One task does one thing. A dead member is replaced once, and by whoever knows that
/// it is dead, and so is a datacenter removed; whoever drains a member restarts it; clients are to know of an authority that is
/// rotated.
pub fn asks_for_one_thing() -> Rule {
    let comes_again = |kind: &&TaskKind| {
        !matches!(
            kind,
            TaskKind::Drain
                | TaskKind::Replace
                | TaskKind::RemoveDatacenter
                | TaskKind::RotateAuthority
        )
    };
    let bodies = || TaskKind::ALL.iter().filter(comes_again).map(|k| k.field());
    let there: Vec<String> = bodies().map(|f| format!("has(self.{f})")).collect();
    let names: Vec<String> = bodies().map(|f| format!("`{f}`")).collect();
    must(
        // The other fields that it does not do are not in its schema.
        format!("!has(self.removeDatacenter) && [{}].exists_one(x, x)", there.join(", ")),
        format!(
            "a task does one thing: set exactly one of {}; a schedule does not `drain`, `replace`, `removeDatacenter` or `rotateAuthority`",
            names.join(", ")
        ),
    )
}

/// What is appended to it for the name of a task leaves a DNS label.
pub fn of_the_whole_object() -> [Rule; 1] {
    [must(
        "size(self.metadata.name) <= 52",
        "the name of a schedule is at most 52 characters long, because those of its tasks begin with it: choose a shorter one",
    )]
}

/// Tasks come by the clock, or as ranges are due.
pub fn schedule_or_cover() -> Rule {
    must(
        "has(self.schedule) != has(self.cover)",
        "set exactly one of `schedule`, which creates tasks at the times of a pattern, and `cover`, which repairs all ranges in time",
    )
}

/// A cover makes its own tasks.
pub fn template_goes_with_a_schedule() -> Rule {
    must(
        "has(self.schedule) == has(self.taskTemplate)",
        "`taskTemplate` is required with `schedule`, and does not go with `cover`, which creates repairs of what is due",
    )
}

/// What would do nothing is refused.
pub fn a_cover_has_no_times() -> Rule {
    must(
        "!has(self.cover) || (self.timeZone == 'Etc/UTC' && self.startingDeadlineSeconds == 3600 && self.concurrencyPolicy == 'Forbid')",
        "`timeZone`, `startingDeadlineSeconds` and `concurrencyPolicy` apply to `schedule` only: remove them",
    )
}
