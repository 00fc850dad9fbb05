//! Segments in the order in which they are tried: each once, and what has failed again
//! when all others are done.

use crate::admin::jobs::Segment;

/// A segment that is to be tried.
#[derive(Clone, Debug)]
pub struct Try {
    /// Which.
    pub segment: Segment,
    /// So often it has failed, or what it is a piece of.
    pub failures: u32,
    size: Size,
}

/// Was it cut already, to spare the server?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    AsPlanned,
    Half,
}

impl Try {
    /// One that has failed so often.
    pub fn of(segment: Segment, failures: u32) -> Self {
        Self { segment, failures, size: Size::AsPlanned }
    }

    /// In halves, which are not cut again to spare the server.
    pub fn spared(&self) -> Option<[Self; 2]> {
        let (first, second) = match self.size {
            Size::AsPlanned => self.segment.halves()?,
            Size::Half => return None,
        };
        let half = |segment| Self { segment, failures: self.failures, size: Size::Half };
        Some([half(first), half(second)])
    }

    /// The same, where this is left of its segment.
    pub fn reduced_to(&self, segment: Segment) -> Self {
        Self { segment, ..self.clone() }
    }

    /// The same once more, after a failure.
    pub fn again(&self) -> Self {
        Self { failures: self.failures.saturating_add(1), ..self.clone() }
    }

    /// Halves of one that took too long, which counts as a failure.
    pub fn halves(&self) -> Vec<Self> {
        let Some((first, second)) = self.segment.halves() else {
            return vec![self.again()];
        };
        let half = |segment| Self { segment, ..self.again() };
        vec![half(first), half(second)]
    }
}
