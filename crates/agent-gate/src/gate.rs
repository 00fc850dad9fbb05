//! When the gate of a pod opens. It opens once, by a ticket that is for this
//! start: labels that are left from the pod's last sandbox open nothing.

use crate::labels::Labels;
pub use crate::words::gate::Why;
use palladion_api::gate::{CONFIG, READY, STATUS, TICKET, Ticket};

/// So many seconds a ticket that does not fit is waited for. Then the gate ends,
/// and the kubelet starts another, which gets its own.
pub const PATIENCE: i64 = 180;

/// The gate of one start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// When it started, in seconds since 1970, by the clock of the node.
    start: i64,
    /// The ticket that was there when it started.
    found: Option<String>,
    /// Since when there is a ticket that does not fit.
    unfit: Option<i64>,
}

/// What a look at the labels leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The services may start.
    Open,
    /// They may not yet.
    Wait(Why),
    /// There is no use in waiting: another start is needed.
    End(Why),
}

impl Gate {
    /// A gate that starts at this second, and the labels that it finds.
    pub fn new(start: i64, found: &Labels) -> Self {
        Self { start, found: found.get(TICKET).map(str::to_string), unfit: None }
    }

    /// Look at the labels and at the hash of the mounted files, at this second.
    pub fn look(&mut self, labels: &Labels, mounted: &str, now: i64) -> Verdict {
        let why = match self.closed(labels, mounted) {
            None => return Verdict::Open,
            Some(why) => why,
        };
        match &why {
            Why::NoTicket | Why::OldTicket | Why::Unreadable { .. } => {
                self.unfit = None;
                Verdict::Wait(why)
            }
            Why::OtherStart { .. } | Why::OtherFiles { .. } => {
                let since = *self.unfit.get_or_insert(now);
                if now - since >= PATIENCE { Verdict::End(why) } else { Verdict::Wait(why) }
            }
        }
    }

    fn closed(&self, labels: &Labels, mounted: &str) -> Option<Why> {
        let label = labels.get(TICKET);
        let (Some(READY), Some(text)) = (labels.get(STATUS), label) else {
            return Some(Why::NoTicket);
        };
        if self.found.as_deref() == Some(text) {
            return Some(Why::OldTicket);
        }
        if !text.parse::<Ticket>().is_ok_and(|ticket| ticket.is_for(self.start)) {
            return Some(Why::OtherStart { ticket: text.to_string(), start: self.start });
        }
        let wanted = labels.get(CONFIG).unwrap_or_default();
        let differs = wanted != mounted;
        differs.then(|| Why::OtherFiles { wanted: wanted.into(), mounted: mounted.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i64 = 1_767_225_600;
    const HASH: &str = "abc";

    fn labels(status: &str, ticket: &str, config: &str) -> Labels {
        [(STATUS, status), (TICKET, ticket), (CONFIG, config)].into_iter().collect()
    }

    fn ticket(number: u32, start: i64) -> String {
        Ticket { number, start }.to_string()
    }

    #[test]
    fn a_ticket_for_this_start_and_these_files_opens_the_gate() {
        let mut gate = Gate::new(START, &labels("", "", ""));
        assert_eq!(gate.look(&labels("", "", ""), HASH, START), Verdict::Wait(Why::NoTicket));
        let given = labels(READY, &ticket(1, START + 1), HASH);
        assert_eq!(gate.look(&given, HASH, START + 5), Verdict::Open);
    }

    #[test]
    fn what_the_last_sandbox_has_left_opens_nothing() {
        let left = labels(READY, &ticket(1, START - 10), HASH);
        let mut gate = Gate::new(START, &left);
        for second in [0, 10, 1000, 100_000] {
            assert_eq!(gate.look(&left, HASH, START + second), Verdict::Wait(Why::OldTicket));
        }
        let emptied = labels("", &ticket(1, START - 10), HASH);
        assert_eq!(gate.look(&emptied, HASH, START), Verdict::Wait(Why::NoTicket));
        assert_eq!(gate.look(&labels(READY, &ticket(2, START), HASH), HASH, START), Verdict::Open);
    }

    #[test]
    fn a_ticket_for_another_start_opens_nothing_and_ends_the_gate_in_the_end() {
        let mut gate = Gate::new(START, &labels("", "", ""));
        let other = labels(READY, &ticket(1, START - 100), HASH);
        assert!(matches!(gate.look(&other, HASH, START), Verdict::Wait(Why::OtherStart { .. })));
        let next = labels(READY, &ticket(2, START - 100), HASH);
        assert!(matches!(gate.look(&next, HASH, START + 179), Verdict::Wait(_)), "not yet");
        assert!(matches!(
            gate.look(&next, HASH, START + 180),
            Verdict::End(Why::OtherStart { .. })
        ));
        let none = labels(READY, "soon", HASH);
        let mut gate = Gate::new(START, &labels("", "", ""));
        assert!(matches!(gate.look(&none, HASH, START), Verdict::Wait(Why::OtherStart { .. })));
    }

    #[test]
    fn files_that_come_late_are_waited_for() {
        let mut gate = Gate::new(START, &labels("", "", ""));
        let given = labels(READY, &ticket(1, START), HASH);
        assert!(matches!(
            gate.look(&given, "old", START + 1),
            Verdict::Wait(Why::OtherFiles { .. })
        ));
        assert_eq!(gate.look(&given, HASH, START + 91), Verdict::Open);
    }

    #[test]
    fn a_gate_that_was_closed_again_has_its_time_again() {
        let mut gate = Gate::new(START, &labels("", "", ""));
        let given = labels(READY, &ticket(1, START), HASH);
        assert!(matches!(gate.look(&given, "old", START), Verdict::Wait(_)));
        assert_eq!(
            gate.look(&labels("", "", ""), "old", START + 100),
            Verdict::Wait(Why::NoTicket)
        );
        assert!(matches!(gate.look(&given, "old", START + 190), Verdict::Wait(_)));
    }

    #[test]
    fn no_label_alone_opens_the_gate() {
        let mut gate = Gate::new(START, &labels("", "", ""));
        for wrong in [
            labels("ready!", &ticket(1, START), HASH),
            labels(READY, "", HASH),
            labels(READY, &ticket(1, START), ""),
        ] {
            assert!(matches!(gate.look(&wrong, HASH, START), Verdict::Wait(_)), "{wrong:?}");
        }
    }
}
