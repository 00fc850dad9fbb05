//! Ranges of the token ring, of Murmur3's tokens. A range leaves out its start
//! and has its end, as Cassandra's do; a span has both its ends and never goes
//! around, so that it can be cut and compared.

use serde::{Deserialize, Serialize};

/// No key has this token: it is the border of the ring.
const BORDER: i64 = i64::MIN;

/// A range `(start, end]`, around the ring where the end is not behind the start.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// Not part of it.
    pub start: i64,
    /// Part of it.
    pub end: i64,
}

impl Range {
    /// From a server's words; `None` for what is no token of Murmur3.
    pub fn parse(start: &str, end: &str) -> Option<Self> {
        Some(Self { start: start.trim().parse().ok()?, end: end.trim().parse().ok()? })
    }

    /// What it consists of.
    pub fn spans(self) -> impl Iterator<Item = Span> {
        let Self { start, end } = self;
        let pieces = match start < end {
            true => [Span::of(start, end), None],
            false => [Span::of(start, i64::MAX), Span::of(BORDER, end)],
        };
        pieces.into_iter().flatten()
    }

    /// Has it a token in common with this?
    pub fn overlaps(self, other: Span) -> bool {
        self.spans().any(|span| span.overlap(other).is_some())
    }

    /// So many tokens.
    pub fn tokens(self) -> u64 {
        self.spans().map(Span::tokens).sum()
    }
}

/// Tokens from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first; never the border.
    pub first: i64,
    /// The last.
    pub last: i64,
}

impl Span {
    /// What is behind `start`, up to `end`; `None` where that is nothing.
    fn of(start: i64, end: i64) -> Option<Self> {
        (start < end).then(|| Self { first: start + 1, last: end })
    }

    /// So many tokens.
    pub fn tokens(self) -> u64 {
        self.last.abs_diff(self.first) + 1
    }

    /// As a range.
    pub fn range(self) -> Range {
        Range { start: self.first - 1, end: self.last }
    }

    /// What it has in common with another.
    pub fn overlap(self, other: Self) -> Option<Self> {
        let (first, last) = (self.first.max(other.first), self.last.min(other.last));
        (first <= last).then_some(Self { first, last })
    }

    /// What of it is before another one, and what behind it.
    pub fn without(self, other: Self) -> impl Iterator<Item = Self> {
        let Some(common) = self.overlap(other) else {
            return [Some(self), None].into_iter().flatten();
        };
        // In each case there is a token besides, so that neither goes beyond the borders.
        let before =
            (self.first < common.first).then(|| Self { first: self.first, last: common.first - 1 });
        let behind =
            (common.last < self.last).then(|| Self { first: common.last + 1, last: self.last });
        [before, behind].into_iter().flatten()
    }

    /// In so many pieces of about the same size; fewer where there are not so many tokens.
    pub fn cut(self, pieces: u64) -> Vec<Self> {
        let tokens = u128::from(self.tokens());
        let pieces = u128::from(pieces.max(1)).min(tokens);
        let border = |piece: u128| {
            let behind = i128::try_from(tokens * piece / pieces).unwrap_or_default();
            i64::try_from(i128::from(self.first) + behind).unwrap_or(i64::MAX)
        };
        let last = |piece: u128| match piece == pieces {
            true => self.last,
            false => border(piece) - 1,
        };
        (0..pieces).map(|at| Self { first: border(at), last: last(at + 1) }).collect()
    }
}
