//! What is set after `WITH`: by whole settings, of which some are taken out or changed.

use super::cursor::Cursor;
use super::token::{Kind, Source};
use crate::words::schema::{Expected, Unread};
use std::ops::Range;

/// What Cassandra uses where nothing is said (`TableParams.DEFAULT_GC_GRACE_SECONDS`).
const GC_GRACE_SECONDS: u64 = 864_000;

/// `name = value`, `CLUSTERING ORDER BY (…)` or `COMPACT STORAGE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// Its first word, in lower case.
    pub name: String,
    /// Its tokens, without `WITH` and `AND`.
    pub tokens: Range<usize>,
}

/// Takes the rest of a statement, which is nothing or what is set.
pub(super) fn take(cursor: &mut Cursor<'_>) -> Result<Vec<Setting>, Unread> {
    let mut settings = Vec::new();
    if cursor.peek().is_none() {
        return Ok(settings);
    }
    cursor.need_words(&["with"])?;
    loop {
        let from = cursor.at();
        let name = cursor.name()?;
        let mut depth = 0_i32;
        while let Some(token) = cursor.peek() {
            if depth == 0 && cursor.is_words(&["and"]) {
                break;
            }
            match token.kind {
                Kind::Sign('(' | '{' | '[') => depth += 1,
                Kind::Sign(')' | '}' | ']') => depth -= 1,
                Kind::Word | Kind::Quoted | Kind::Text | Kind::Sign(_) => {}
            }
            cursor.next();
        }
        if cursor.at() == from + 1 || depth != 0 {
            return Err(cursor.unexpected(Expected::Value));
        }
        settings.push(Setting { name, tokens: from..cursor.at() });
        if cursor.peek().is_none() {
            return Ok(settings);
        }
        cursor.need_words(&["and"])?;
    }
}

/// The place of the value of a setting that is one token.
pub(super) fn value(settings: &[Setting], name: &str) -> Option<usize> {
    let setting = settings.iter().find(|setting| setting.name == name)?;
    (setting.tokens.len() == 3).then(|| setting.tokens.end - 1)
}

/// What is set, or Cassandra's default; none if it is no number.
pub(super) fn gc_grace_seconds(settings: &[Setting], source: &Source) -> Option<u64> {
    if settings.iter().all(|setting| setting.name != "gc_grace_seconds") {
        return Some(GC_GRACE_SECONDS);
    }
    let token = source.tokens.get(value(settings, "gc_grace_seconds")?)?;
    source.written(token).parse().ok()
}
