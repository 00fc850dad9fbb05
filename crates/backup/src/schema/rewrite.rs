//! A statement of the backup with other names in it. What is not changed stays byte for byte.

use super::Ids;
use super::name::quoted;
use super::options::{self, Setting};
use super::token::{Kind, Source};
use std::ops::Range;

/// Changes to one statement.
pub(super) struct Rewrite<'a> {
    source: &'a Source,
    /// Bytes, and what comes in their place. They do not overlap.
    changes: Vec<(Range<usize>, String)>,
}

impl<'a> Rewrite<'a> {
    pub fn of(source: &'a Source) -> Self {
        Self { source, changes: Vec::new() }
    }

    /// Wherever a name is qualified by one keyspace, it is by the other one.
    pub fn keyspace(mut self, from: &str, to: &str) -> Self {
        let is_dot = |at: usize| {
            self.source.tokens.get(at).is_some_and(|token| token.kind == Kind::Sign('.'))
        };
        let names = (0..self.source.tokens.len()).filter(|at| {
            let name = self.source.tokens.get(*at).and_then(|token| self.source.name(token));
            let after_dot = at.checked_sub(1).is_some_and(is_dot);
            name.as_deref() == Some(from) && is_dot(at + 1) && !after_dot
        });
        for at in names.collect::<Vec<_>>() {
            self = self.name(at, to);
        }
        self
    }

    /// Another name at a token; if it is the same, it stays as it is written.
    pub fn name(mut self, at: usize, to: &str) -> Self {
        if let Some(token) = self.source.tokens.get(at)
            && self.source.name(token).as_deref() != Some(to)
        {
            self.changes.push((token.at.clone(), quoted(to)));
        }
        self
    }

    /// Another string at a token.
    pub fn string(mut self, at: usize, to: &str) -> Self {
        if let Some(token) = self.source.tokens.get(at) {
            self.changes.push((token.at.clone(), format!("'{}'", to.replace('\'', "''"))));
        }
        self
    }

    /// A comma before a token.
    pub fn comma(mut self, before: usize) -> Self {
        let end = before.checked_sub(1).and_then(|at| self.source.tokens.get(at));
        self.changes.extend(end.map(|token| (token.at.end..token.at.end, ",".to_owned())));
        self
    }

    /// Without the ID, if it is not kept, and with another `gc_grace_seconds` if one is given.
    pub fn settings(mut self, settings: &[Setting], (gc_grace, ids): (Option<u64>, Ids)) -> Self {
        let id = settings.iter().position(|setting| setting.name == "id");
        if let Some(index) = id.filter(|_| ids == Ids::New) {
            self.changes.extend(self.without(settings, index).map(|bytes| (bytes, String::new())));
        }
        let Some(seconds) = gc_grace else { return self };
        let place = options::value(settings, "gc_grace_seconds");
        if let Some(token) = place.and_then(|at| self.source.tokens.get(at)) {
            self.changes.push((token.at.clone(), seconds.to_string()));
        } else {
            let end = self.source.text.len();
            let is_first = settings.iter().all(|setting| setting.name == "id" && ids == Ids::New);
            let word = if is_first { "WITH" } else { "AND" };
            self.changes.push((end..end, format!(" {word} gc_grace_seconds = {seconds}")));
        }
        self
    }

    /// The bytes of a setting, with the `AND` or the `WITH` that goes with it.
    fn without(&self, settings: &[Setting], index: usize) -> Option<Range<usize>> {
        let token = |at: usize| self.source.tokens.get(at).map(|token| &token.at);
        let setting = settings.get(index)?;
        let before = |at: usize| at.checked_sub(1).and_then(token);
        let end = before(setting.tokens.end)?.end;
        match (index.checked_sub(1).and_then(|at| settings.get(at)), settings.get(index + 1)) {
            (Some(previous), _) => Some(before(previous.tokens.end)?.end..end),
            (None, Some(next)) => {
                Some(token(setting.tokens.start)?.start..token(next.tokens.start)?.start)
            }
            // Without `WITH`, which is the token before it.
            (None, None) => Some(before(setting.tokens.start.checked_sub(1)?)?.end..end),
        }
    }

    /// The statement.
    pub fn done(mut self) -> String {
        self.changes.sort_by_key(|(bytes, _)| (bytes.start, bytes.end));
        let mut text = String::with_capacity(self.source.text.len());
        let mut at = 0;
        for (bytes, instead) in &self.changes {
            text.push_str(self.source.text.get(at..bytes.start).unwrap_or_default());
            text.push_str(instead);
            at = bytes.end;
        }
        text.push_str(self.source.text.get(at..).unwrap_or_default());
        text
    }
}
