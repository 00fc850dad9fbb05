//! When each part of a member's ranges was repaired last: pieces that do not
//! overlap, in the order of their tokens.

use crate::ranges::{Range, Span};
use serde::{Deserialize, Serialize};

/// Times are kept to the minute, the earlier one: so that neighbours that were
/// repaired one after the other become one piece, and no range looks newer than it is.
pub const MINUTE: i64 = 60;

/// A clock may be ahead by so many seconds when a time that it has set is read.
pub const AHEAD: i64 = 60;

/// A part of the ring with one history.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its first token.
    pub first: i64,
    /// Its last token.
    pub last: i64,
    /// Since when this member has it, in seconds since 1970.
    pub since: i64,
    /// When the last full repair of it that ended began; none: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
}

impl Piece {
    /// Where it is.
    pub fn span(&self) -> Span {
        Span { first: self.first, last: self.last }
    }

    fn at_span(self, span: Span) -> Self {
        Self { first: span.first, last: span.last, ..self }
    }
}

fn whole_minute(seconds: i64) -> i64 {
    seconds.div_euclid(MINUTE) * MINUTE
}

/// The same pieces, for these ranges: what is in none of them is forgotten, and
/// what is in no piece was never repaired. A time ahead of now is none.
pub fn fit(pieces: &[Piece], ranges: &[Range], now: i64) -> Vec<Piece> {
    let mut spans: Vec<Span> = ranges.iter().flat_map(|range| range.spans()).collect();
    spans.sort();
    let mut fitted = Vec::new();
    for span in spans {
        let mut next = Some(span.first);
        for piece in pieces {
            let (Some(first), Some(common)) = (next, piece.span().overlap(span)) else { continue };
            fitted.extend(gap(first, common.first.checked_sub(1), now));
            fitted.push(doubted(piece.at_span(common), now));
            next = common.last.checked_add(1).filter(|next| *next <= span.last);
        }
        fitted.extend(next.and_then(|first| gap(first, Some(span.last), now)));
    }
    joined(fitted)
}

fn gap(first: i64, last: Option<i64>, now: i64) -> Option<Piece> {
    let last = last.filter(|last| first <= *last)?;
    Some(Piece { first, last, since: whole_minute(now), at: None })
}

/// The same pieces, never repaired; they are as late as they were.
pub fn unrepaired(pieces: &[Piece]) -> Vec<Piece> {
    let since = |piece: &Piece| piece.at.unwrap_or(piece.since);
    joined(pieces.iter().map(|piece| Piece { at: None, since: since(piece), ..*piece }).collect())
}

fn doubted(piece: Piece, now: i64) -> Piece {
    let at = piece.at.filter(|at| *at <= now + AHEAD);
    Piece { at, since: piece.since.min(whole_minute(now)), ..piece }
}

/// The same pieces; a time ahead of now is none.
pub fn doubt(pieces: &[Piece], now: i64) -> Vec<Piece> {
    joined(pieces.iter().map(|piece| doubted(*piece, now)).collect())
}

/// These tokens were repaired, by a repair that began then.
pub fn note(pieces: &[Piece], span: Span, at: i64) -> Vec<Piece> {
    let mut noted = Vec::new();
    for piece in pieces {
        let Some(common) = piece.span().overlap(span) else {
            noted.push(*piece);
            continue;
        };
        if piece.first < common.first {
            noted.push(Piece { last: common.first - 1, ..*piece });
        }
        noted.push(Piece { at: Some(whole_minute(at)), ..piece.at_span(common) });
        if common.last < piece.last {
            noted.push(Piece { first: common.last + 1, ..*piece });
        }
    }
    joined(noted)
}

/// The same pieces with times to this step, the earlier one.
pub fn coarser(pieces: &[Piece], step: i64) -> Vec<Piece> {
    let at = |piece: &Piece| piece.at.map(|at| at.div_euclid(step) * step);
    joined(pieces.iter().map(|piece| Piece { at: at(piece), ..*piece }).collect())
}

/// Have these one history?
pub fn are_alike(a: &[Piece], b: &[Piece]) -> bool {
    let is_same = |(a, b): (&Piece, &Piece)| a.span() == b.span() && same(a, b);
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}

/// Neighbours with one history are one piece.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if last.last.checked_add(1) == Some(piece.first) && same(last, &piece) => {
                last.last = piece.last;
                last.since = last.since.min(piece.since);
            }
            Some(_) | None => joined.push(piece),
        }
    }
    joined
}

/// Since when one is ours matters only while it was never repaired.
fn same(a: &Piece, b: &Piece) -> bool {
    match (a.at, b.at) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.since == b.since,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
