//! A place in a statement, and what is expected there.

use super::name::TableName;
use super::token::{Kind, Source, Token};
use crate::words::schema::{About, Expected, Unread};
use palladion_api::words::Quoted;

/// As much of what was found instead as a message shows.
const SHOWN: usize = 40;

/// Reads the tokens of one statement.
pub(super) struct Cursor<'a> {
    source: &'a Source,
    at: usize,
    /// What the statement is about, as far as that is known.
    pub about: About,
}

impl<'a> Cursor<'a> {
    pub fn new(source: &'a Source) -> Self {
        Self { source, at: 0, about: About::Statement }
    }

    /// The place of the next token.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn peek(&self) -> Option<&'a Token> {
        self.source.tokens.get(self.at)
    }

    fn ahead(&self, by: usize) -> Option<&'a Token> {
        self.source.tokens.get(self.at + by)
    }

    pub fn next(&mut self) -> Option<&'a Token> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    fn word_is(&self, token: Option<&Token>, word: &str) -> bool {
        token.is_some_and(|token| {
            token.kind == Kind::Word && self.source.written(token).eq_ignore_ascii_case(word)
        })
    }

    /// Are these keywords next?
    pub fn is_words(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(by, word)| self.word_is(self.ahead(by), word))
    }

    /// Takes these keywords if they are next.
    pub fn words(&mut self, words: &[&str]) -> bool {
        let is = self.is_words(words);
        if is {
            self.at += words.len();
        }
        is
    }

    pub fn need_words(&mut self, words: &'static [&'static str]) -> Result<(), Unread> {
        if self.words(words) {
            Ok(())
        } else {
            Err(self.unexpected(Expected::Words { words: Quoted(words.join(" ").to_uppercase()) }))
        }
    }

    pub fn is_sign(&self, sign: char) -> bool {
        self.peek().is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    /// Takes this character if it is next.
    pub fn sign(&mut self, sign: char) -> bool {
        let is = self.is_sign(sign);
        if is {
            self.at += 1;
        }
        is
    }

    pub fn need_sign(&mut self, sign: char) -> Result<(), Unread> {
        if self.sign(sign) {
            Ok(())
        } else {
            Err(self.unexpected(Expected::Sign { sign: Quoted(sign.to_string()) }))
        }
    }

    /// Takes a name.
    pub fn name(&mut self) -> Result<String, Unread> {
        let name = self.peek().and_then(|token| self.source.name(token));
        let name = name.ok_or_else(|| self.unexpected(Expected::Name))?;
        self.at += 1;
        Ok(name)
    }

    /// Takes `keyspace.name`; the place of the second.
    pub fn qualified(&mut self) -> Result<(TableName, usize), Unread> {
        let keyspace = self.name()?;
        self.need_sign('.')?;
        let at = self.at;
        Ok((TableName { keyspace, table: self.name()? }, at))
    }

    /// Takes what `IF NOT EXISTS` says, which DESCRIBE does not print.
    pub fn optional(&mut self) {
        self.words(&["if", "not", "exists"]);
    }

    /// Takes all up to the `)` of a `(` that was taken, and the `)`.
    pub fn skip_parenthesis(&mut self) -> Result<(), Unread> {
        let mut depth = 1_u32;
        while let Some(token) = self.next() {
            match token.kind {
                Kind::Sign('(') => depth += 1,
                Kind::Sign(')') => depth -= 1,
                Kind::Word | Kind::Quoted | Kind::Text | Kind::Sign(_) => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
        Err(self.unexpected(Expected::Sign { sign: Quoted(')'.to_string()) }))
    }

    /// The statement must end here.
    pub fn end(&self) -> Result<(), Unread> {
        if self.peek().is_none() { Ok(()) } else { Err(self.unexpected(Expected::End)) }
    }

    /// What stands here is not what is expected.
    pub fn unexpected(&self, expected: Expected) -> Unread {
        let end = |token: &Token| self.source.text.get(token.at.start..).unwrap_or_default();
        let found: String = match self.peek() {
            Some(token) => end(token).chars().take(SHOWN).collect(),
            None => ";".to_owned(),
        };
        let near = self.peek().or(self.source.tokens.last());
        let line = near.map_or(self.source.line, |token| self.source.line_of(token));
        let found = found.lines().next().unwrap_or_default().to_owned();
        Unread::Unexpected { about: self.about.clone(), line, expected, found: Quoted(found) }
    }
}
