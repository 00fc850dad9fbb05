//! Statements as the lexer of Cassandra sees them. Names and strings keep their place in the
//! text, so that a change of one leaves every other byte as it was.

use crate::words::schema::{Opened, Unread};
use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, digits and `_`: a keyword, a name without quotes, a number.
    Word,
    /// A name in double quotes.
    Quoted,
    /// A string in single quotes or between `$$`.
    Text,
    /// Any other character.
    Sign(char),
}

/// A token, and where it is in its statement.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// What it is.
    pub kind: Kind,
    /// Bytes of the statement.
    pub at: Range<usize>,
}

/// One statement without its semicolon.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// From its first token to its last.
    pub text: String,
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// Where it begins in the schema, from 1.
    pub line: u64,
}

impl Source {
    /// What is written at a token.
    pub fn written(&self, token: &Token) -> &str {
        self.text.get(token.at.clone()).unwrap_or_default()
    }

    /// The name that a token is, without quotes.
    pub fn name(&self, token: &Token) -> Option<String> {
        let written = self.written(token);
        match token.kind {
            Kind::Word => {
                let first = written.bytes().next()?;
                (!first.is_ascii_digit()).then(|| written.to_ascii_lowercase())
            }
            Kind::Quoted => Some(inside(written, 1).replace("\"\"", "\"")),
            Kind::Text | Kind::Sign(_) => None,
        }
    }

    /// The value of a string in single quotes.
    pub fn string(&self, token: &Token) -> Option<String> {
        let written = self.written(token);
        (token.kind == Kind::Text && written.starts_with('\''))
            .then(|| inside(written, 1).replace("''", "'"))
    }

    /// The line of a token in the schema.
    pub fn line_of(&self, token: &Token) -> u64 {
        self.line + lines(self.text.get(..token.at.start).unwrap_or_default())
    }
}

fn inside(written: &str, width: usize) -> &str {
    written.get(width..written.len().saturating_sub(width)).unwrap_or_default()
}

fn lines(text: &str) -> u64 {
    text.bytes().map(|c| u64::from(c == b'\n')).sum()
}

/// A schema, taken apart.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Its statements.
    pub statements: Vec<Source>,
    /// What is in its comments `/* … */`, and the line where each begins.
    pub comments: Vec<(String, u64)>,
}

/// Takes a schema apart.
///
/// # Errors
/// Something in it does not end.
pub(super) fn take_apart(text: &str, first_line: u64) -> Result<Taken, Unread> {
    let mut taken = Taken::default();
    let mut tokens: Vec<Token> = Vec::new();
    // Where the next token is, and the first one of the statement.
    let (mut at, mut line, mut begun, mut depth) = (0, first_line, first_line, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = lexed(rest).map_err(|what| Unread::Open { what, line })?;
        let written = rest.get(..length).unwrap_or_default();
        match kind {
            Lexed::Space => {}
            // Lexers differ in where a comment ends, so that one text would be two statements;
            // Cassandra prints comments between statements only.
            Lexed::Comment | Lexed::Remark if !tokens.is_empty() => {
                return Err(Unread::Stray { line });
            }
            Lexed::Remark if written.contains('\r') => return Err(Unread::Stray { line }),
            Lexed::Remark => {}
            Lexed::Token(Kind::Sign('\r')) => return Err(Unread::Stray { line }),
            Lexed::Comment => taken.comments.push((inside(written, 2).to_owned(), line)),
            Lexed::Token(Kind::Sign(';')) => {
                taken.statements.extend(statement(text, &tokens, begun));
                tokens.clear();
            }
            Lexed::Token(kind) => {
                if tokens.is_empty() {
                    (begun, depth) = (line, 0);
                }
                depth = deeper(depth, kind);
                if depth > DEEPEST {
                    return Err(Unread::Deep { line, most: DEEPEST });
                }
                tokens.push(Token { kind, at: at..at + length });
            }
        }
        at += length;
        line += lines(written);
    }
    if tokens.is_empty() {
        Ok(taken)
    } else {
        Err(Unread::Open { what: Opened::Statement, line: begun })
    }
}

/// Types are nested at most so deep: whoever reads them calls itself as often.
const DEEPEST: u64 = 32;

fn deeper(depth: u64, kind: Kind) -> u64 {
    match kind {
        Kind::Sign('<') => depth + 1,
        Kind::Sign('>') => depth.saturating_sub(1),
        Kind::Word | Kind::Quoted | Kind::Text | Kind::Sign(_) => depth,
    }
}

fn statement(text: &str, tokens: &[Token], line: u64) -> Option<Source> {
    let (start, end) = (tokens.first()?.at.start, tokens.last()?.at.end);
    let moved = |token: &Token| Token {
        kind: token.kind,
        at: token.at.start - start..token.at.end - start,
    };
    let tokens = tokens.iter().map(moved).collect();
    Some(Source { text: text.get(start..end)?.to_owned(), tokens, line })
}

enum Lexed {
    Space,
    /// `/* … */`
    Comment,
    /// To the end of the line.
    Remark,
    Token(Kind),
}

/// What a text begins with, and its length in bytes.
fn lexed(rest: &str) -> Result<(Lexed, usize), Opened> {
    let Some(first) = rest.chars().next() else { return Ok((Lexed::Space, 0)) };
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let run = |of: &dyn Fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
    let until = |end: &str, what| {
        let inner = rest.get(end.len()..).unwrap_or_default();
        inner.find(end).map(|found| found + 2 * end.len()).ok_or(what)
    };
    let space = |c: char| matches!(c, ' ' | '\t' | '\n');
    if space(first) {
        Ok((Lexed::Space, run(&space)))
    } else if rest.starts_with("--") || rest.starts_with("//") {
        Ok((Lexed::Remark, rest.find('\n').unwrap_or(rest.len())))
    } else if let Some(inner) = rest.strip_prefix("/*") {
        let end = inner.find("*/").ok_or(Opened::Comment)?;
        Ok((Lexed::Comment, end + 4))
    } else if rest.starts_with("$$") {
        Ok((Lexed::Token(Kind::Text), until("$$", Opened::Body)?))
    } else if first == '\'' {
        Ok((Lexed::Token(Kind::Text), closed(rest, '\'').ok_or(Opened::Text)?))
    } else if first == '"' {
        Ok((Lexed::Token(Kind::Quoted), closed(rest, '"').ok_or(Opened::Name)?))
    } else if word(first) {
        Ok((Lexed::Token(Kind::Word), run(&word)))
    } else {
        Ok((Lexed::Token(Kind::Sign(first)), first.len_utf8()))
    }
}

/// The length of what stands between two of a quote; a doubled quote is one inside.
fn closed(rest: &str, quote: char) -> Option<usize> {
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return Some(at + 1);
        }
    }
    None
}
