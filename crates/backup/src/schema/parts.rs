//! What a schema has beside tables: keyspaces, types, functions, indexes and views.

use super::cursor::Cursor;
use super::kinds::Type;
use super::name::TableName;
use super::options::{self, Setting};
use super::token::{Kind, Source};
use crate::words::schema::{About, Expected, Unread};
use palladion_api::words::Quoted;
use std::collections::BTreeSet;

/// `CREATE KEYSPACE`.
#[derive(Clone, Debug, Default)]
pub(super) struct Keyspace {
    pub source: Source,
    /// The place of its name.
    pub name: usize,
    /// The keys of its replication that are names of datacenters, and their places.
    pub datacenters: Vec<(String, usize)>,
}

impl Keyspace {
    /// Reads it after its first two words.
    pub fn take(cursor: &mut Cursor<'_>, source: &Source) -> Result<(String, Self), Unread> {
        cursor.optional();
        let at = cursor.at();
        let name = cursor.name()?;
        cursor.about = About::Keyspace { name: name.clone() };
        let settings = options::take(cursor)?;
        let replication = settings.iter().find(|setting| setting.name == "replication");
        let mut datacenters = Vec::new();
        for place in replication.map(|setting| setting.tokens.clone()).into_iter().flatten() {
            let is_key = source.tokens.get(place + 1).is_some_and(|t| t.kind == Kind::Sign(':'));
            let key = source.tokens.get(place).and_then(|token| source.string(token));
            let is_name = |key: &String| key != "class" && key != "replication_factor";
            datacenters.extend(key.filter(|key| is_key && is_name(key)).map(|key| (key, place)));
        }
        Ok((name, Self { source: source.clone(), name: at, datacenters }))
    }
}

/// `CREATE TYPE`.
#[derive(Clone, Debug)]
pub(super) struct UserType {
    pub source: Source,
    pub fields: Vec<(String, Type)>,
}

impl UserType {
    /// Reads it after its first two words.
    pub fn take(cursor: &mut Cursor<'_>, source: &Source) -> Result<(TableName, Self), Unread> {
        cursor.optional();
        let (name, _) = cursor.qualified()?;
        cursor.about = About::Type { name: name.to_string() };
        cursor.need_sign('(')?;
        let mut fields = vec![(cursor.name()?, Type::take(cursor, source)?)];
        while cursor.sign(',') {
            fields.push((cursor.name()?, Type::take(cursor, source)?));
        }
        cursor.need_sign(')')?;
        cursor.end()?;
        Ok((name, Self { source: source.clone(), fields }))
    }

    /// Can values of another type be read as values of this one? Fields are only ever added at its end.
    pub fn extends(&self, other: &Self) -> bool {
        self.fields.starts_with(&other.fields)
    }

    /// The types of users that its fields name.
    pub fn users(&self) -> BTreeSet<String> {
        let mut users = BTreeSet::new();
        for (_, kind) in &self.fields {
            kind.users(&mut users);
        }
        users
    }
}

/// `CREATE FUNCTION` or `CREATE AGGREGATE`.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub source: Source,
    pub is_aggregate: bool,
    pub name: TableName,
    /// Without `frozen`: by name and arguments a function is known.
    pub arguments: Vec<Type>,
}

impl Function {
    /// Reads it after its first two words.
    pub fn take(
        cursor: &mut Cursor<'_>,
        source: &Source,
        is_aggregate: bool,
    ) -> Result<Self, Unread> {
        cursor.optional();
        let (name, _) = cursor.qualified()?;
        let text = name.to_string();
        cursor.about = if is_aggregate {
            About::Aggregate { name: text }
        } else {
            About::Function { name: text }
        };
        cursor.need_sign('(')?;
        let mut arguments = Vec::new();
        while !cursor.sign(')') {
            if !arguments.is_empty() {
                cursor.need_sign(',')?;
            }
            if !is_aggregate {
                cursor.name()?;
            }
            arguments.push(Type::take(cursor, source)?.thawed().clone());
        }
        Ok(Self { source: source.clone(), is_aggregate, name, arguments })
    }
}

/// `CREATE INDEX`.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub source: Source,
    pub name: String,
    /// The place of its name.
    pub name_at: usize,
    pub table: TableName,
    /// The place of the name of the table.
    pub table_at: usize,
    /// What follows the table, in one form.
    pub definition: String,
    /// It adds components to the files of the table.
    pub is_attached: bool,
}

/// The last part of the classes of indexes that add components to files, in lower case.
const ATTACHED: [&str; 4] = ["sai", "storageattachedindex", "sasi", "sasiindex"];

impl Index {
    /// Reads it after `INDEX`.
    pub fn take(cursor: &mut Cursor<'_>, source: &Source) -> Result<Self, Unread> {
        cursor.optional();
        let name_at = cursor.at();
        let name = cursor.name()?;
        cursor.about = About::Index { name: name.clone() };
        cursor.need_words(&["on"])?;
        let (table, table_at) = cursor.qualified()?;
        let from = cursor.at();
        cursor.need_sign('(')?;
        cursor.skip_parenthesis()?;
        let mut is_attached = false;
        if cursor.words(&["using"]) {
            let class = cursor.next().and_then(|token| source.string(token));
            let class = class.ok_or_else(|| cursor.unexpected(Expected::Class))?;
            let last = class.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
            is_attached = ATTACHED.contains(&last.as_str());
        }
        options::take(cursor)?;
        let rest = source.tokens.get(from..).unwrap_or_default();
        let definition =
            rest.iter().map(|token| source.written(token)).collect::<Vec<_>>().join(" ");
        let source = source.clone();
        Ok(Self { source, name, name_at, table, table_at, definition, is_attached })
    }
}

/// `CREATE MATERIALIZED VIEW`.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub source: Source,
    pub base: TableName,
    pub settings: Vec<Setting>,
    pub gc_grace_seconds: u64,
}

impl View {
    /// Reads it after its first three words.
    pub fn take(cursor: &mut Cursor<'_>, source: &Source) -> Result<(TableName, Self), Unread> {
        cursor.optional();
        let (name, _) = cursor.qualified()?;
        cursor.about = About::View { name: name.to_string() };
        cursor.need_words(&["as", "select"])?;
        until(cursor, "from")?;
        cursor.need_words(&["from"])?;
        let (base, _) = cursor.qualified()?;
        cursor.need_words(&["where"])?;
        let _ = until(cursor, "with");
        let settings = options::take(cursor)?;
        let gc_grace_seconds = options::gc_grace_seconds(&settings, source)
            .ok_or_else(|| cursor.unexpected(Expected::GcGrace))?;
        let source = source.clone();
        Ok((name, Self { source, base, settings, gc_grace_seconds }))
    }
}

/// Skips to a keyword that is reserved, so that no name can be it.
fn until(cursor: &mut Cursor<'_>, word: &'static str) -> Result<(), Unread> {
    while !cursor.is_words(&[word]) {
        if cursor.next().is_none() {
            return Err(cursor.unexpected(Expected::Words { words: Quoted(word.to_uppercase()) }));
        }
    }
    Ok(())
}
