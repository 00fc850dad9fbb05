//! When the server on this volume was last seen as a full member, and what it
//! missed before: beside the ledger, so that writing it so often cannot harm that one.

use super::ledger::{Ledger, Start};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::{
    CassandraMemberSpec, Debt, DebtKind, Missed, PermitKind, RepairRanges,
};
use serde::{Deserialize, Serialize};

/// It is written this often.
const EVERY: SignedDuration = SignedDuration::from_mins(1);
/// Restarts are shorter; whether hints covered a longer absence the operator knows.
const ABSENCE: SignedDuration = SignedDuration::from_mins(10);

/// The last sign of life of a server.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Heartbeat {
    /// When.
    pub last_ran_at: Time,
    /// When it was down before that and has not caught up since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<Missed>,
    /// The smallest `gc_grace_seconds` of a table of users, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_gc_grace_seconds: Option<u32>,
    /// When the server ran last by the record of the member: this volume does not hold what it
    /// took until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_until: Option<Time>,
}

impl Heartbeat {
    /// Of a server that runs now and has missed nothing.
    pub fn at(now: Timestamp) -> Self {
        let last_ran_at = super::seconds(now);
        Self { last_ran_at, missed: None, smallest_gc_grace_seconds: None, ran_until: None }
    }

    /// Is it time to write it again?
    pub fn is_due(&self, now: Timestamp) -> bool {
        // A clock that was ahead and is set right must not stop it.
        now.duration_since(self.last_ran_at.0).abs() >= EVERY
    }
}

/// What is known of the last sign of life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Known {
    /// None was ever written.
    #[default]
    Never,
    /// This one.
    At(Heartbeat),
    /// There is one that cannot be read.
    Unreadable,
}

impl Known {
    /// The sign of life of a server that is a full member now, by the spec as
    /// read live; `None` if it need not be written yet.
    pub fn next(
        &self,
        ledger: &Ledger,
        live: Option<&CassandraMemberSpec>,
        now: Timestamp,
    ) -> Option<Heartbeat> {
        // Until the start is noted as a success, it is not known how long the server was down.
        normal_at(ledger)?;
        let missed = self.missed(ledger);
        let missed = missed.filter(|m| !live.is_some_and(|spec| has_caught_up(spec, m)));
        let is_due = match self {
            Known::At(heartbeat) => heartbeat.is_due(now) || heartbeat.missed != missed,
            Known::Never | Known::Unreadable => true,
        };
        let smallest_gc_grace_seconds = self.smallest_gc_grace_seconds();
        is_due.then(|| Heartbeat { missed, smallest_gc_grace_seconds, ..Heartbeat::at(now) })
    }

    /// The smallest `gc_grace_seconds` of a table of users, as it was last known.
    pub fn smallest_gc_grace_seconds(&self) -> Option<u32> {
        match self {
            Known::At(heartbeat) => heartbeat.smallest_gc_grace_seconds,
            Known::Never | Known::Unreadable => None,
        }
    }

    /// When the server was down and has not caught up since: as noted with the
    /// last sign of life, and the absence between that and the last start.
    pub fn missed(&self, ledger: &Ledger) -> Option<Missed> {
        let start = ledger.last_start()?;
        if streams_all(start) {
            return None;
        }
        let last = match self {
            Known::Never => return None,
            Known::Unreadable => return may_have_missed(ledger),
            Known::At(last) => last,
        };
        // However short it was: what an older volume lacks nobody has hints for.
        let shortest = if last.ran_until.is_some() { SignedDuration::ZERO } else { ABSENCE };
        let is_absence = |back: &Timestamp| {
            *back > last.last_ran_at.0 && back.duration_since(last.last_ran_at.0) >= shortest
        };
        let Some(back) = normal_at(ledger).filter(is_absence) else {
            return last.missed.clone();
        };
        let earlier = last.missed.as_ref();
        let ran_until = last.ran_until.as_ref().or(earlier.and_then(|m| m.ran_until.as_ref()));
        Some(Missed {
            since: earlier.map_or(&last.last_ran_at, |m| &m.since).clone(),
            until: super::seconds(back),
            absences: earlier.map_or(0, |m| m.absences).saturating_add(1),
            ran_until: ran_until.cloned(),
        })
    }

    /// The same with the note that the server ran until this time by the record of the member,
    /// which this volume does not show; `None` if that is noted.
    pub fn set_back(&self, ran_until: Timestamp) -> Option<Heartbeat> {
        let Known::At(last) = self else { return None };
        let ran_until = Some(super::seconds(ran_until));
        let mut noted = last.clone();
        match &mut noted.missed {
            // It is up already, and what it has missed was noted without that.
            Some(missed) if ran_until.as_ref().is_some_and(|t| t.0 <= last.last_ran_at.0) => {
                missed.ran_until = ran_until;
            }
            Some(_) | None => noted.ran_until = ran_until,
        }
        (noted != *last).then_some(noted)
    }
}

/// What was noted cannot be read: each restart that is on the ledger, since its
/// data was last streamed from the others, may have been such an absence.
fn may_have_missed(ledger: &Ledger) -> Option<Missed> {
    let until = normal_at(ledger)?;
    let own = ledger.starts.iter().take_while(|start| !streams_all(start)).count();
    let known = ledger.starts.iter().take(own + 1);
    let ran = known.filter_map(|start| start.record.normal_at.as_ref()).map(|at| at.0);
    let (first, restarts) = ran.fold((until, 0_u32), |(first, n), at| (first.min(at), n + 1));
    let absences = restarts.saturating_sub(1);
    let since = super::seconds(first);
    (absences > 0).then(|| Missed {
        since,
        until: super::seconds(until),
        absences,
        ran_until: None,
    })
}

/// When the last start made a full member of the server.
fn normal_at(ledger: &Ledger) -> Option<Timestamp> {
    Some(ledger.last_start()?.record.normal_at.as_ref()?.0)
}

/// Does a server that is started so get its data from the others?
fn streams_all(start: &Start) -> bool {
    let kinds = [PermitKind::Initialize, PermitKind::Join, PermitKind::Replace];
    kinds.iter().any(|kind| start.record.cause == format!("{kind:?}"))
}

/// The operator has taken this very absence into account, and the repair that
/// it called for is done, or was never needed. One that a person took back is not done.
fn has_caught_up(spec: &CassandraMemberSpec, missed: &Missed) -> bool {
    let is_counted = spec.counted_until.as_ref() == Some(&missed.until);
    let is_owed = spec.repair_owed_until.as_ref() == Some(&missed.until);
    let mut pending = spec.pending_maintenance.iter().chain(&spec.owes);
    is_counted && !is_owed && !pending.any(may_be_repair)
}

/// Is it a repair of all ranges, or may it be one, by a word of a newer operator?
fn may_be_repair(debt: &Debt) -> bool {
    match (debt.kind, debt.ranges) {
        (DebtKind::Repair, RepairRanges::All | RepairRanges::Unknown(_))
        | (DebtKind::Unknown(_), _) => true,
        (DebtKind::Repair, RepairRanges::Primary)
        | (DebtKind::Cleanup | DebtKind::Rebuild | DebtKind::UpgradeSstables, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::member::Word;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// A ledger whose last start was a success at this second.
    fn started(cause: &str, normal: i64) -> Ledger {
        let mut ledger = Ledger::new("v".into(), None);
        ledger.begin_start("t", cause, &[], at(normal));
        ledger.starts[0].record.normal_at = Some(super::super::seconds(at(normal)));
        ledger
    }

    fn back_after(seconds: i64) -> Known {
        let ledger = started("Autonomous", seconds);
        Known::At(Known::At(Heartbeat::at(at(0))).next(&ledger, None, at(seconds)).unwrap())
    }

    #[test]
    fn it_is_written_again_after_a_minute() {
        let heartbeat = Heartbeat::at(at(0));
        assert!(!heartbeat.is_due(at(59)));
        assert!(heartbeat.is_due(at(60)));
        assert!(heartbeat.is_due(at(-60)));
    }

    #[test]
    fn one_of_an_older_agent_is_read() {
        let read: Heartbeat =
            serde_json::from_str(r#"{ "lastRanAt": "1970-01-01T00:00:00Z" }"#).unwrap();
        assert_eq!(read, Heartbeat::at(at(0)));
    }

    #[test]
    fn absences_add_up_and_a_restart_is_none() {
        let restart = back_after(599);
        assert_eq!(restart.missed(&started("Autonomous", 599)), None);
        let (first, second) = (back_after(600), started("Autonomous", 2000));
        let missed = first.missed(&second).unwrap();
        assert_eq!((missed.since.0, missed.until.0, missed.absences), (at(0), at(2000), 2));
        assert_eq!(first.missed(&started("Replace", 2000)), None, "its data is from the others");
    }

    /// Nobody has hints for what the member took before it was set back.
    #[test]
    fn a_volume_that_was_set_back_has_missed_something_however_short_it_was_down() {
        let known = Known::At(Known::At(Heartbeat::at(at(0))).set_back(at(300)).unwrap());
        assert_eq!(known.set_back(at(300)), None, "it is noted");
        assert_eq!(known.missed(&started("Autonomous", 0)), None, "it was not started since");
        let ledger = started("Autonomous", 400);
        let missed = known.missed(&ledger).unwrap();
        assert_eq!((missed.since.0, missed.until.0), (at(0), at(400)));
        assert_eq!(missed.ran_until.map(|t| t.0), Some(at(300)));
        let beat = Known::At(known.next(&ledger, None, at(400)).unwrap());
        assert_eq!(beat.missed(&ledger), known.missed(&ledger), "it is noted with the next one");
    }

    #[test]
    fn that_a_volume_was_set_back_is_noted_of_a_server_that_is_up_already() {
        let known = back_after(7200);
        let missed = Known::At(known.set_back(at(3600)).unwrap());
        let missed = missed.missed(&started("Autonomous", 7200)).unwrap();
        assert_eq!(missed.ran_until.map(|t| t.0), Some(at(3600)));
    }

    #[test]
    fn each_restart_may_have_been_an_absence_where_the_last_sign_of_life_cannot_be_read() {
        let mut ledger = started("Initialize", 100);
        let missed = |ledger: &Ledger| {
            let missed = Known::Unreadable.missed(ledger);
            missed.map(|m| (m.since.0.as_second(), m.until.0.as_second(), m.absences))
        };
        let mut again = |cause: &str, normal: i64| {
            ledger.begin_start(&normal.to_string(), cause, &[], at(normal));
            ledger.starts[0].record.normal_at = Some(super::super::seconds(at(normal)));
            ledger.clone()
        };
        assert_eq!(missed(&started("Initialize", 100)), None, "there was no restart");
        assert_eq!(missed(&again("Autonomous", 500)), Some((100, 500, 1)));
        let last = again("Autonomous", 900);
        assert_eq!(missed(&last), Some((100, 900, 2)));
        let noted = Known::Unreadable.next(&last, None, at(900)).unwrap();
        assert_eq!(Known::At(noted).missed(&last), Known::Unreadable.missed(&last), "it is noted");
        assert_eq!(missed(&again("Replace", 1000)), None, "its data is from the others");
        assert_eq!(missed(&again("Autonomous", 1100)), Some((1000, 1100, 1)));
    }

    #[test]
    fn a_start_that_is_not_noted_yet_does_not_hide_an_absence() {
        let mut ledger = started("Autonomous", 2000);
        ledger.starts[0].record.normal_at = None;
        assert_eq!(Known::At(Heartbeat::at(at(0))).next(&ledger, None, at(2000)), None);
    }

    #[test]
    fn it_has_caught_up_when_this_very_absence_is_counted_and_no_repair_is_pending() {
        let (known, ledger) = (back_after(600), started("Autonomous", 600));
        let missed = |spec: &CassandraMemberSpec| {
            known.next(&ledger, Some(spec), at(660)).unwrap().missed.is_some()
        };
        let mut spec = CassandraMemberSpec::default();
        assert!(missed(&spec), "nobody has counted it");
        spec.counted_until = Some(super::super::seconds(at(599)));
        assert!(missed(&spec), "that was another one");
        spec.counted_until = Some(super::super::seconds(at(600)));
        assert!(!missed(&spec));
        let (kind, ranges) = (DebtKind::Repair, RepairRanges::All);
        spec.pending_maintenance.push(Debt { kind, ranges, reason: "an outage".into() });
        assert!(missed(&spec), "the repair is pending");
        spec.pending_maintenance[0].kind = DebtKind::Unknown(Word::new("Mend"));
        assert!(missed(&spec), "that may be a repair");
        spec.pending_maintenance[0].kind = DebtKind::Cleanup;
        assert!(!missed(&spec));
        spec.repair_owed_until = Some(super::super::seconds(at(600)));
        assert!(missed(&spec), "a person took the repair back");
        spec.repair_owed_until = Some(super::super::seconds(at(599)));
        assert!(!missed(&spec), "that was another one");
    }
}
