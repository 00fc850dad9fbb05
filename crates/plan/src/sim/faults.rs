//! What goes wrong, and at which write.

/// A fault at one write of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process dies before the request is sent.
    DieBefore,
    /// The process dies after the server has done what was asked.
    DieAfter,
    /// The server does what was asked, and the answer is lost.
    AnswerLost,
    /// The server does nothing and says 503.
    Unavailable,
    /// The process is frozen before the request is sent, and wakes up later.
    Freeze,
    /// The process is frozen when all was looked at and the request is ready:
    /// what it sends when it wakes up is as old as that.
    FreezeInFlight,
}

/// Counts writes and says what becomes of each.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    writes: usize,
    planned: Option<(usize, Fault)>,
}

impl Faults {
    /// Writes so far.
    pub fn writes(&self) -> usize {
        self.writes
    }

    /// Plan one fault at write number `at`, counted from 0.
    pub fn plan(&mut self, at: usize, fault: Fault) {
        self.planned = Some((at, fault));
    }

    /// Has the planned fault happened?
    pub fn is_over(&self) -> bool {
        self.planned.is_none()
    }

    /// The fault of the write that comes now, without counting it.
    pub(super) fn take(&mut self) -> Option<Fault> {
        match self.planned {
            Some((at, fault)) if at == self.writes => {
                self.planned = None;
                Some(fault)
            }
            Some(_) | None => None,
        }
    }

    /// One more write was sent.
    pub(super) fn count(&mut self) {
        self.writes += 1;
    }
}
