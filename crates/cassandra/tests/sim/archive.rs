//! Archives of commit logs: what an agent reports of `spec.archive`. Segments are not simulated;
//! windows are, and a story says until when members have archived.

use super::agent::{Agent, Reach};
use jiff::Timestamp;
use palladion_agent::admin::Reading;
use palladion_agent::volume::seconds;
use palladion_api::backup::{ArchiveGap, ArchiveState, ArchiveStatus};
use std::collections::BTreeMap;

/// What a story says of them, and the windows by disk.
#[derive(Clone, Debug, Default)]
pub struct Archives {
    /// Until when members have archived; none is when their windows opened.
    pub until: Option<Timestamp>,
    /// Why members are behind.
    pub behind: Option<String>,
    /// Members whose next window is another one, and why.
    pub breaks: BTreeMap<String, String>,
    /// When tables were altered.
    pub altered: Option<Timestamp>,
    windows: BTreeMap<String, Window>,
}

#[derive(Clone, Debug)]
struct Window {
    number: u64,
    since: Timestamp,
    gap: Option<(Timestamp, String)>,
}

impl Agent {
    /// What it reports of its archive.
    pub(super) fn follow_archive(&mut self, reach: &mut Reach<'_>) {
        let order = self.saved.as_ref().and_then(|saved| saved.spec.archive.clone());
        let Some(order) = order else {
            self.archive = None;
            return;
        };
        let waits = ArchiveStatus {
            state: ArchiveState::Waiting,
            since: None,
            schema_since: None,
            until: None,
            window: 0,
            local_bytes: 0,
            gap: None,
            message: None,
        };
        let is_noted = self.repository.as_ref() == Some(&order.repository.id);
        if !is_noted || !self.reading().is_some_and(Reading::is_full_member) {
            self.archive.get_or_insert(waits);
            return;
        }
        let (now, all) = (self.clock_at(reach.now), &mut reach.ring.archives);
        let opened = |gap| Window { number: order.window, since: now, gap };
        let member = self.pod.key.name.as_str();
        let breaks = all.breaks.remove(member);
        let (until, altered) = (all.until, all.altered);
        let window = all.windows.entry(self.pod.disk.clone()).or_insert_with(|| opened(None));
        let why = (window.number != order.window).then(|| "a restore".to_string()).or(breaks);
        if let Some(why) = why {
            *window = opened(Some((until.unwrap_or(window.since), why)));
        }
        let gap = window.gap.clone().map(|(at, why)| ArchiveGap { at: seconds(at), why });
        let state = match &all.behind {
            Some(_) => ArchiveState::Behind,
            None => ArchiveState::Current,
        };
        self.archive = Some(ArchiveStatus {
            state,
            since: Some(seconds(window.since)),
            schema_since: altered.map(seconds),
            until: Some(seconds(until.unwrap_or(window.since).max(window.since))),
            window: window.number,
            gap,
            message: all.behind.clone(),
            ..waits
        });
    }
}
