//! What is due for repair, while a schedule covers the ring: looked at again when
//! schema, ring or coverage have changed, whatever the server is at, and told when something was repaired.

use super::state::{Agent, Done};
use crate::repair::Repairs;
use crate::repair::due::due_ranges;
use crate::repair::outlook::outlook;
use crate::repair::survey::{Survey, calm_ring, survey};
use crate::words::repair::Unclear;
use crate::words::work::Trouble;
use jiff::Timestamp;
use palladion_api::repair::{AutoRepair, Coverage, RepairStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What could not be read is tried again after this.
const AGAIN: Duration = Duration::from_secs(60);
/// While a repair runs, figures are told this often.
const EVERY: Duration = Duration::from_secs(60);

/// What a survey was made for: schema version and members of the ring.
pub type Of = (Option<String>, String);

/// What the agent knows of it between turns.
#[derive(Default)]
pub struct Outlook {
    /// What the last survey was made for that was noted.
    of: Option<Of>,
    /// When the last one was begun.
    tried: Option<Instant>,
    /// Is one under way?
    is_under_way: bool,
    /// Why the last one failed.
    problem: Option<String>,
    /// When metrics were told last.
    counted: Option<Instant>,
    /// What is told, for which version of the memory, and since when.
    told: Option<(RepairStatus, u64, Coverage, Instant)>,
    /// Does the server repair by itself, as it said last?
    auto_repair: Option<AutoRepair>,
}

impl Agent {
    /// What was repaired, as it is on the volume.
    pub(super) fn open_repairs(&mut self) -> Option<Arc<Repairs>> {
        if let (None, Some(volume), true) = (&self.repairs, &self.volume, self.ledger().is_some()) {
            self.repairs = Some(Arc::new(Repairs::open(volume)));
        }
        self.repairs.clone()
    }

    /// What the schedule covers that covers the ring.
    pub(super) fn coverage(&self) -> Option<&Coverage> {
        self.saved.as_ref()?.spec.repair.as_ref()
    }

    /// Look again where something has changed.
    pub(super) fn follow_repairs(&mut self) {
        if self.coverage().is_none() {
            self.outlook = Outlook::default();
            return;
        }
        if let Some(repairs) = self.open_repairs()
            && let Err(error) = repairs.doubt(Timestamp::now().as_second())
        {
            self.trouble = Some(Trouble::Repairs { why: format!("{error:#}") }.into());
        }
        let (Some(_), Some(admin)) = (self.open_repairs(), self.admin.clone()) else {
            return;
        };
        let reading = self.reading().filter(|r| r.serves() && r.schema_agreed == Some(true));
        let Some((reading, ring)) = reading.and_then(|r| Some((r.clone(), calm_ring(r).ok()?)))
        else {
            return;
        };
        let of = (reading.schema_version.clone(), ring);
        let waits = self.outlook.tried.is_some_and(|tried| tried.elapsed() < AGAIN);
        let is_known = self.outlook.of.as_ref() == Some(&of);
        if is_known || self.outlook.is_under_way || waits {
            return;
        }
        let version = reading.schema_version.clone().unwrap_or_default();
        let Some(schema) = self.schema.of(&version).cloned() else {
            let why = self.schema.failure(&version).map(|why| Unclear::Schema { why: why.into() });
            self.cannot_look(why.map(|why| why.to_string()));
            return;
        };
        let done = self.done.clone();
        (self.outlook.is_under_way, self.outlook.tried) = (true, Some(Instant::now()));
        tokio::spawn(async move {
            let found = survey(admin.as_ref(), schema, &reading).await;
            let found = found.map_err(|why| why.to_string());
            let _ = done.send(Done::Surveyed { of, found }).await;
        });
    }

    /// Note what a survey has found.
    pub(super) fn note_survey(&mut self, of: Of, found: Result<Survey, String>) {
        self.outlook.is_under_way = false;
        let Some(repairs) = self.repairs.clone() else {
            return;
        };
        let found = match found {
            Ok(found) => found,
            Err(why) => return self.cannot_look(Some(why)),
        };
        let now = Timestamp::now().as_second();
        match repairs.change(|memory| found.observed_by(memory, now)) {
            Ok(()) => {
                self.outlook.of = Some(of);
                if self.outlook.problem.take().is_some() {
                    self.outlook.told = None;
                }
            }
            Err(error) => {
                self.trouble = Some(Trouble::Repairs { why: format!("{error:#}") }.into());
            }
        }
    }

    /// Why it is not known what there is to repair, if there is a reason.
    fn cannot_look(&mut self, why: Option<String>) {
        if why.is_some() && why != self.outlook.problem {
            self.outlook.problem = why;
            self.outlook.told = None;
        }
    }

    /// The figures of metrics, which change as time passes.
    pub(super) fn count_repairs(&mut self, told: Option<&RepairStatus>) {
        if self.outlook.counted.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.outlook.counted = Some(Instant::now());
        let now = Timestamp::now().as_second();
        let cover = self.coverage().cloned();
        let due =
            self.repairs.as_ref().zip(cover).map_or(0, |(repairs, cover)| {
                repairs.read(|memory| due_ranges(memory, &cover, now))
            });
        self.metrics.note_repair(told, due, now);
    }

    /// What is told of it.
    pub(super) fn told_repair(&mut self) -> Option<RepairStatus> {
        if let Some(reading) = self.reading() {
            let enabled = reading.auto_repair == Some(true);
            self.outlook.auto_repair = enabled.then_some(AutoRepair::Enabled);
        }
        let auto_repair = self.outlook.auto_repair;
        Some(RepairStatus { auto_repair, ..self.figures()? })
    }

    /// The figures: the same until something was repaired.
    fn figures(&mut self) -> Option<RepairStatus> {
        let cover = self.coverage()?.clone();
        let repairs = self.open_repairs()?;
        // Who has not looked yet has nothing to say, least of all that nothing is due.
        if self.outlook.problem.is_none() && repairs.read(|memory| memory.host_id.is_none()) {
            return None;
        }
        let version = repairs.version();
        let is_at_work = self.task.is_some();
        if let Some((status, of, covers, since)) = &self.outlook.told
            && *covers == cover
            && (*of == version || (is_at_work && since.elapsed() < EVERY))
        {
            return Some(status.clone());
        }
        let mut status = repairs.read(|memory| outlook(memory, &cover));
        status.message = self.outlook.problem.as_ref().map(|why| why.chars().take(1024).collect());
        self.outlook.told = Some((status.clone(), version, cover, Instant::now()));
        Some(status)
    }
}
