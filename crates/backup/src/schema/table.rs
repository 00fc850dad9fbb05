//! A table: its columns as files of it know them, and the statements that make it.

use super::cursor::Cursor;
use super::kinds::Type;
use super::name::TableName;
use super::options::{self, Setting};
use super::token::{Kind, Source};
use crate::words::schema::{About, Expected, Order, Unread};
use palladion_api::words::Quoted;
use std::collections::{BTreeMap, BTreeSet};

/// A column that is not part of the primary key by itself; [`Table`] knows those that are.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub kind: Type,
    pub is_static: bool,
}

/// A column that is gone, and the time of that in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Dropped {
    pub column: Column,
    pub time: i64,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// `CREATE TABLE`.
    pub source: Source,
    /// The place of its name, after that of its keyspace.
    pub name: usize,
    /// The columns that it has.
    pub columns: BTreeMap<String, Column>,
    /// Those that it had, of which some may be there again.
    pub dropped: BTreeMap<String, Dropped>,
    pub partition: Vec<String>,
    pub clustering: Vec<(String, Order)>,
    /// What is set after `WITH`.
    pub settings: Vec<Setting>,
    pub gc_grace_seconds: u64,
    /// `COMPACT STORAGE`. DESCRIBE shows such a table in a comment only.
    pub is_compact: bool,
    /// All types of users that its statements name.
    pub users: BTreeSet<String>,
    /// Functions by which columns are masked.
    pub masks: BTreeSet<TableName>,
    /// It names a class of Java that names a keyspace.
    pub is_opaque: bool,
    /// Where a comma is missing: before these tokens.
    pub commas: Vec<(usize, String)>,
    /// In the order of the schema.
    pub later: Vec<Later>,
}

/// `ALTER TABLE`.
#[derive(Clone, Debug)]
pub(super) struct Later {
    pub source: Source,
    /// The place of the name of the table.
    pub name: usize,
    pub column: String,
    /// When it was dropped; none: it is added.
    pub dropped: Option<i64>,
}

impl Table {
    /// Reads `CREATE TABLE`, of which the first two words are taken.
    pub fn take(cursor: &mut Cursor<'_>, source: &Source) -> Result<(TableName, Self), Unread> {
        cursor.optional();
        let (name, at) = cursor.qualified()?;
        cursor.about = About::Table { name: name.to_string() };
        let mut table = Self { name: at, ..Self::default() };
        cursor.need_sign('(')?;
        loop {
            if cursor.words(&["primary", "key"]) {
                table.key(cursor)?;
            } else {
                table.defined(cursor, source)?;
            }
            if cursor.sign(')') {
                break;
            }
            if !cursor.sign(',') {
                // Cassandra forgets the commas between dropped columns of a table whose key is
                // one column (`TableMetadata.appendColumnDefinitions`).
                let next = cursor.peek().and_then(|token| source.name(token));
                let next = next.ok_or_else(|| {
                    cursor.unexpected(Expected::Sign { sign: Quoted(','.to_string()) })
                })?;
                table.commas.push((cursor.at(), next));
            }
        }
        table.settings = options::take(cursor)?;
        table.set(cursor, source)?;
        table.source = source.clone();
        Ok((name, table))
    }

    fn defined(&mut self, cursor: &mut Cursor<'_>, source: &Source) -> Result<(), Unread> {
        let (name, column) = self.column(cursor, source)?;
        if cursor.words(&["primary", "key"]) {
            self.partition.push(name.clone());
        }
        if self.columns.insert(name, column).is_some() {
            return Err(cursor.unexpected(Expected::NewName));
        }
        Ok(())
    }

    fn column(
        &mut self,
        cursor: &mut Cursor<'_>,
        source: &Source,
    ) -> Result<(String, Column), Unread> {
        let name = cursor.name()?;
        let kind = Type::take(cursor, source)?;
        kind.users(&mut self.users);
        self.is_opaque |= kind.is_opaque();
        let is_static = cursor.words(&["static"]);
        if cursor.words(&["masked", "with"]) {
            let (function, _) = cursor.qualified()?;
            self.masks.insert(function);
            cursor.need_sign('(')?;
            cursor.skip_parenthesis()?;
        }
        Ok((name, Column { kind, is_static }))
    }

    fn key(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Unread> {
        cursor.need_sign('(')?;
        if cursor.sign('(') {
            self.partition.push(cursor.name()?);
            while cursor.sign(',') {
                self.partition.push(cursor.name()?);
            }
            cursor.need_sign(')')?;
        } else {
            self.partition.push(cursor.name()?);
        }
        while cursor.sign(',') {
            self.clustering.push((cursor.name()?, Order::Ascending));
        }
        cursor.need_sign(')')
    }

    /// What files of the table depend on, of what is set.
    fn set(&mut self, cursor: &Cursor<'_>, source: &Source) -> Result<(), Unread> {
        self.gc_grace_seconds = options::gc_grace_seconds(&self.settings, source)
            .ok_or_else(|| cursor.unexpected(Expected::GcGrace))?;
        self.is_compact = self.settings.iter().any(|setting| setting.name == "compact");
        let order = self.settings.iter().find(|setting| setting.name == "clustering");
        let tokens = order.and_then(|order| source.tokens.get(order.tokens.clone()));
        for pair in tokens.unwrap_or_default().windows(2) {
            let [column, direction] = pair else { continue };
            let is_down = direction.kind == Kind::Word
                && source.written(direction).eq_ignore_ascii_case("desc");
            let name = source.name(column);
            let found = self.clustering.iter_mut().find(|(known, _)| Some(known) == name.as_ref());
            if let Some((_, order)) = found.filter(|_| is_down) {
                *order = Order::Descending;
            }
        }
        Ok(())
    }

    /// Reads what follows the name of an `ALTER TABLE`.
    pub fn alter(
        &mut self,
        cursor: &mut Cursor<'_>,
        source: &Source,
        name: usize,
    ) -> Result<(), Unread> {
        let (column, dropped) = if cursor.words(&["drop"]) {
            let column = cursor.name()?;
            cursor.need_words(&["using", "timestamp"])?;
            let is_negative = cursor.sign('-');
            let number = cursor.next().and_then(|token| source.written(token).parse::<i64>().ok());
            let time = number.ok_or_else(|| cursor.unexpected(Expected::Timestamp))?;
            let time = if is_negative { -time } else { time };
            let Some(was) = self.columns.remove(&column) else {
                return Err(cursor.unexpected(Expected::Column { name: Quoted(column) }));
            };
            self.dropped.insert(column.clone(), Dropped { column: was, time });
            (column, Some(time))
        } else {
            cursor.need_words(&["add"])?;
            let (column, new) = self.column(cursor, source)?;
            if self.columns.insert(column.clone(), new).is_some() {
                return Err(cursor.unexpected(Expected::NewName));
            }
            (column, None)
        };
        cursor.end()?;
        self.later.push(Later { source: source.clone(), name, column, dropped });
        Ok(())
    }

    /// A column without a comma before it that was not dropped: the statement was read wrong.
    pub fn misread(&self) -> Option<&String> {
        let mut without = self.commas.iter().map(|(_, column)| column);
        without.find(|column| !self.dropped.contains_key(*column))
    }
}
