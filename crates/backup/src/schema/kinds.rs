//! The types of columns and fields, compared by what they are rather than how they are written.

use super::cursor::Cursor;
use super::token::{Kind, Source};
use crate::words::schema::{Expected, Unread};
use std::collections::BTreeSet;
use std::fmt;

/// A type.
#[derive(Clone, Debug)]
pub(super) struct Type {
    name: String,
    /// It is one of the keyspace, not one of CQL.
    user: bool,
    parts: Vec<Type>,
}

/// Types of CQL that have no parts.
const NATIVE: &str = "ascii bigint blob boolean counter date decimal double duration empty float inet \
    int smallint text time timestamp timeuuid tinyint uuid varchar varint";

impl Type {
    /// Takes a type. A type of a user is known by its name alone: it is always one of the
    /// keyspace that names it.
    pub fn take(cursor: &mut Cursor<'_>, source: &Source) -> Result<Self, Unread> {
        let token = cursor.peek().ok_or_else(|| cursor.unexpected(Expected::Type))?;
        if matches!(token.kind, Kind::Text) || source.name(token).is_none() {
            // A class of Java in a string, or the length of a vector.
            if matches!(token.kind, Kind::Sign(_)) {
                return Err(cursor.unexpected(Expected::Type));
            }
            cursor.next();
            return Ok(Self {
                name: source.written(token).to_owned(),
                user: false,
                parts: Vec::new(),
            });
        }
        let mut is_quoted = token.kind == Kind::Quoted;
        let mut name = cursor.name()?;
        let is_qualified = cursor.sign('.');
        if is_qualified {
            is_quoted = cursor.peek().is_some_and(|token| token.kind == Kind::Quoted);
            name = cursor.name()?;
        }
        let mut parts = Vec::new();
        if !is_quoted && !is_qualified && cursor.sign('<') {
            parts.push(Self::take(cursor, source)?);
            while cursor.sign(',') {
                parts.push(Self::take(cursor, source)?);
            }
            cursor.need_sign('>')?;
        }
        let native = !is_quoted && !is_qualified && NATIVE.split(' ').any(|native| native == name);
        let user = !native && parts.is_empty();
        if native && name == "varchar" {
            "text".clone_into(&mut name);
        }
        Ok(Self { name, user, parts })
    }

    /// The type without `frozen`, as in signatures of functions.
    pub fn thawed(&self) -> &Self {
        match self.parts.first() {
            Some(part) if self.name == "frozen" => part.thawed(),
            Some(_) | None => self,
        }
    }

    /// Is a value of it one cell? Of a tuple or a vector it always is.
    fn is_frozen(&self) -> bool {
        let inside = self.thawed();
        let is_always = !inside.user && matches!(inside.name.as_str(), "tuple" | "vector");
        is_always || (self.name == "frozen" && !self.parts.is_empty())
    }

    /// Whatever is inside of another type is frozen, whether that is said or not.
    fn is_same_inside(&self, other: &Self) -> bool {
        let (one, other) = (self.thawed(), other.thawed());
        let mut parts = one.parts.iter().zip(&other.parts);
        (&one.name, one.user, one.parts.len()) == (&other.name, other.user, other.parts.len())
            && parts.all(|(one, other)| one.is_same_inside(other))
    }

    /// Adds the types of users that it names.
    pub fn users(&self, to: &mut BTreeSet<String>) {
        if self.user {
            to.insert(self.name.clone());
        }
        for part in &self.parts {
            part.users(to);
        }
    }

    /// Does it name a keyspace where a change of names does not reach it: a class of Java over a type of a user?
    pub fn is_opaque(&self) -> bool {
        self.name.contains("UserType(") || self.parts.iter().any(Self::is_opaque)
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        self.is_frozen() == other.is_frozen() && self.is_same_inside(other)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (i, part) in self.parts.iter().enumerate() {
            write!(f, "{}{part}", if i == 0 { "<" } else { ", " })?;
        }
        if self.parts.is_empty() { Ok(()) } else { f.write_str(">") }
    }
}
