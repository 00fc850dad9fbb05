//! A schema, read.

use super::cursor::Cursor;
use super::name::{TableName, is_system};
use super::parts::{Function, Index, Keyspace, UserType, View};
use super::table::Table;
use super::token::{self, Source};
use crate::words::schema::{About, Expected, Unread};
use palladion_api::words::Quoted;
use std::collections::{BTreeMap, BTreeSet};

/// A schema that was read.
#[derive(Clone, Debug, Default)]
pub struct Described {
    pub(super) keyspaces: BTreeMap<String, Keyspace>,
    pub(super) types: BTreeMap<TableName, UserType>,
    pub(super) tables: BTreeMap<TableName, Table>,
    /// In the order of the schema.
    pub(super) functions: Vec<Function>,
    /// In the order of the schema.
    pub(super) indexes: Vec<Index>,
    pub(super) views: BTreeMap<TableName, View>,
}

/// By these words `CompactTableMetadata.appendCqlTo` begins a comment.
const COMPACT: &str = "omitted because it has constructs not compatible with CQL";
/// As much of a statement as a message shows.
const SHOWN: usize = 60;

/// The longest schema that is read, in bytes: as long as an answer that an agent takes.
pub const MOST_BYTES: u64 = 16 * 1024 * 1024;

impl Described {
    /// Reads what `DESCRIBE SCHEMA WITH INTERNALS` answers. Virtual tables and triggers are left out.
    ///
    /// # Errors
    /// The text is cut off, or a statement is not one of those that Cassandra 4.0 to 5.0 print.
    pub fn parse(text: &str) -> Result<Self, Unread> {
        let bytes = text.len() as u64;
        if bytes > MOST_BYTES {
            return Err(Unread::Long { bytes, most: MOST_BYTES });
        }
        let taken = token::take_apart(text, 1)?;
        let mut described = Self::default();
        for source in &taken.statements {
            described.read(source)?;
        }
        for (comment, line) in taken.comments.iter().filter(|(text, _)| text.contains(COMPACT)) {
            let Some(at) = comment.find("CREATE TABLE ") else { continue };
            let (before, inside) = comment.split_at(at);
            let line = line + before.bytes().map(|c| u64::from(c == b'\n')).sum::<u64>();
            for source in &token::take_apart(inside, line)?.statements {
                described.read(source)?;
            }
        }
        for (name, table) in &described.tables {
            if let Some(column) = table.misread() {
                let expected = Expected::Sign { sign: Quoted(','.to_string()) };
                let (about, found) =
                    (About::Table { name: name.to_string() }, Quoted(column.clone()));
                return Err(Unread::Unexpected { about, line: table.source.line, expected, found });
            }
        }
        Ok(described)
    }

    /// All keyspaces: none of the system's is among them.
    pub fn keyspaces(&self) -> BTreeSet<String> {
        let of_tables = self.tables.keys().map(|table| table.keyspace.clone());
        let all = self.keyspaces.keys().cloned().chain(of_tables);
        all.filter(|keyspace| !is_system(keyspace)).collect()
    }

    /// `gc_grace_seconds` of a table; none if there is no such table.
    pub fn gc_grace_seconds(&self, name: &TableName) -> Option<u64> {
        self.tables.get(name).map(|table| table.gc_grace_seconds)
    }

    /// The ID of a table; none if there is no such table, or its ID is not said.
    pub fn id(&self, name: &TableName) -> Option<&str> {
        let table = self.tables.get(name)?;
        let setting = table.settings.iter().find(|setting| setting.name == "id")?;
        let first = table.source.tokens.get(setting.tokens.start + 2)?;
        let last = table.source.tokens.get(setting.tokens.end.checked_sub(1)?)?;
        table.source.text.get(first.at.start..last.at.end)
    }

    fn read(&mut self, source: &Source) -> Result<(), Unread> {
        let mut cursor = Cursor::new(source);
        let cursor = &mut cursor;
        if cursor.words(&["create", "table"]) {
            let (name, table) = Table::take(cursor, source)?;
            once(cursor, self.tables.insert(name, table))
        } else if cursor.words(&["alter", "table"]) {
            let (name, at) = cursor.qualified()?;
            cursor.about = About::Table { name: name.to_string() };
            match self.tables.get_mut(&name) {
                Some(table) => table.alter(cursor, source, at),
                None => Err(cursor.unexpected(Expected::Table)),
            }
        } else if cursor.words(&["create", "keyspace"]) {
            let (name, keyspace) = Keyspace::take(cursor, source)?;
            once(cursor, self.keyspaces.insert(name, keyspace))
        } else if cursor.words(&["create", "type"]) {
            let (name, kind) = UserType::take(cursor, source)?;
            once(cursor, self.types.insert(name, kind))
        } else if cursor.words(&["create", "materialized", "view"]) {
            let (name, view) = View::take(cursor, source)?;
            once(cursor, self.views.insert(name, view))
        } else if cursor.words(&["create", "index"]) || cursor.words(&["create", "custom", "index"])
        {
            self.indexes.push(Index::take(cursor, source)?);
            Ok(())
        } else if cursor.words(&["create", "function"]) {
            self.functions.push(Function::take(cursor, source, false)?);
            Ok(())
        } else if cursor.words(&["create", "aggregate"]) {
            self.functions.push(Function::take(cursor, source, true)?);
            Ok(())
        } else if cursor.words(&["create", "trigger"]) {
            Ok(())
        } else {
            let start = source.text.lines().next().unwrap_or_default();
            let start = Quoted(start.chars().take(SHOWN).collect());
            Err(Unread::Unknown { line: source.line, start })
        }
    }
}

fn once<T>(cursor: &Cursor<'_>, before: Option<T>) -> Result<(), Unread> {
    match before {
        None => Ok(()),
        Some(_) => Err(Unread::Twice { about: cursor.about.clone() }),
    }
}
