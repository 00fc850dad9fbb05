//! Change data capture: what waits for readers, as a story says it, and what an agent reports of
//! it. What a server keeps open is not simulated: it counts as no segment until it is complete, or
//! its server has ended after a leave.

use super::agent::{Agent, Reach};
use jiff::Timestamp;
use palladion_agent::cdc::told::{self, Now};
use palladion_agent::cdc::{Rest, Seen, rest};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// What waits, by member.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// Complete segments, and since when the oldest is.
    pub waiting: BTreeMap<String, (u32, Timestamp)>,
    /// Segments that servers of members, by name, have open when these have left.
    pub open: BTreeMap<String, u32>,
    /// Do readers read?
    pub readers: Readers,
}

/// See [`Segments`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readers {
    /// All that is complete, at once.
    #[default]
    Read,
    /// Nothing.
    Stopped,
}

/// As Cassandra's default.
const SEGMENT: u64 = 32 << 20;

impl Agent {
    /// What it reports of change data capture.
    pub(super) fn follow_cdc(&mut self, reach: &mut Reach<'_>) {
        let Some(total_mib) = self.configuration.keeps_mib() else {
            self.cdc = None;
            return;
        };
        let spec = self.saved.as_ref().map(|saved| &saved.spec);
        let rest = rest(&self.process, self.ledger(), spec);
        let (all, member) = (&mut reach.ring.segments, self.pod.key.name.as_str());
        if rest == Rest::Ended
            && let Some(open) = all.open.remove(member)
        {
            all.waiting.entry(member.to_string()).or_insert((0, reach.now)).0 += open;
        }
        if all.readers == Readers::Read {
            all.waiting.remove(member);
        }
        let seen = match all.waiting.get(member) {
            None => Seen::default(),
            Some((count, since)) => Seen {
                segments: *count,
                complete: *count,
                bytes: u64::from(*count) * SEGMENT,
                largest: SEGMENT,
                oldest: Some(clock(*since)),
            },
        };
        let (total, now) = (total_mib << 20, clock(reach.now));
        let status = told::status(&Now { seen: Some(&seen), total, rest, now }, self.cdc.as_ref());
        // How often figures are told is a matter of the agent's own clock, and not of a story.
        self.cdc = Some(status);
    }
}

fn clock(at: Timestamp) -> SystemTime {
    let seconds = u64::try_from(at.as_second()).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}
