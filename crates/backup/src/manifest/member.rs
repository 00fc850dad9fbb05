//! The manifest of a member: a line of text for what it is, a line for each of
//! its files in a fixed order, and a last line with their number, so that one
//! that is cut off is seen as such.

use crate::hash::Hash;
use crate::names::{BackupId, HostId, is_file_name, is_object, is_uuid};
use crate::seal::Fingerprint;
use crate::words::trouble::Invalid;
use palladion_api::words::Quoted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const TITLE: &str = "palladion member manifest 1";

/// A schema in the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The object.
    pub object: String,
    /// Of the plain text.
    pub sha256: Hash,
    /// Length of the plain text.
    pub bytes: u64,
}

/// Whose files they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Member {
    /// The repository.
    #[serde(rename = "repositoryID")]
    pub repository: String,
    /// The backup.
    pub backup: BackupId,
    /// The member.
    #[serde(rename = "hostID")]
    pub host: HostId,
    /// Its volume.
    #[serde(rename = "volumeID")]
    pub volume: String,
    /// Its tokens, as the server says them.
    pub tokens: Vec<String>,
    /// Its datacenter.
    pub datacenter: String,
    /// Its rack.
    pub rack: String,
    /// The version of its server.
    pub version: String,
    /// The schema at the time.
    pub schema: Schema,
    /// The keyspaces that the snapshot was taken of, whether they had rows or not. Earlier versions
    /// did not note them: then it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyspaces: Option<BTreeSet<String>>,
}

/// Bytes of a file in an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Piece {
    /// The object.
    pub object: String,
    /// Where they begin in the plain object.
    pub at: u64,
    /// How many they are.
    pub bytes: u64,
    /// Length of the plain object.
    pub object_bytes: u64,
    /// Length of the object in the store.
    pub stored_bytes: u64,
    /// Of the object in the store.
    pub stored_sha256: Hash,
    /// The key that the object is sealed with. None where it is not sealed; or where an earlier
    /// version has sealed it, which did not note the key: then it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Fingerprint>,
}

/// What a file was when it was read: a later one that is all of this is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Identity {
    /// Its inode.
    pub inode: u64,
    /// When it was written, in nanoseconds since 1970.
    pub modified: i64,
    /// The content of the SSTable's Digest.crc32.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<u32>,
}

/// A component of an SSTable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct File {
    /// Its keyspace.
    pub keyspace: String,
    /// Its table.
    pub table: String,
    /// The ID of the table.
    #[serde(rename = "tableID")]
    pub table_id: String,
    /// Its SSTable: `nb-1-big`.
    pub sstable: String,
    /// Which part of it: `Data.db`.
    pub component: String,
    /// Its length.
    pub bytes: u64,
    /// Of the whole file.
    pub sha256: Hash,
    /// See [`Identity`].
    pub identity: Identity,
    /// Where its bytes are, in their order. None if it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
}

impl File {
    /// Its name on the member's volume.
    pub fn name(&self) -> String {
        format!("{}-{}", self.sstable, self.component)
    }

    /// Is it of the same SSTable?
    pub fn is_beside(&self, other: &Self) -> bool {
        (&self.table_id, &self.sstable) == (&other.table_id, &other.sstable)
    }

    /// What files are sorted by.
    fn key(&self) -> (&str, &str, &str) {
        (&self.table_id, &self.sstable, &self.component)
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberManifest {
    /// Whose files they are.
    pub member: Member,
    /// The files.
    pub files: Vec<File>,
}

impl MemberManifest {
    /// As it is stored: the files are sorted.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn write(&self) -> Result<Vec<u8>, String> {
        let mut files: Vec<&File> = self.files.iter().collect();
        files.sort_by_key(|file| file.key());
        let mut text = Text::new(&self.member)?;
        files.into_iter().try_for_each(|file| text.add(file))?;
        Ok(text.end().0)
    }

    /// As it was written.
    ///
    /// # Errors
    /// It is cut off, or names what a member's manifest cannot name.
    pub fn read(bytes: &[u8]) -> Result<Self, Invalid> {
        let (member, files) = files(bytes)?;
        Ok(Self { member, files: files.collect::<Result<_, _>>()? })
    }

    /// Every object that it names.
    pub fn objects(&self) -> BTreeSet<&str> {
        let pieces = self.files.iter().flat_map(|file| &file.pieces);
        pieces
            .map(|piece| piece.object.as_str())
            .chain([self.member.schema.object.as_str()])
            .collect()
    }

    /// Length of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Length of all its objects in the store, each once.
    pub fn stored_bytes(&self) -> u64 {
        let pieces = self.files.iter().flat_map(|file| &file.pieces);
        let each: BTreeSet<_> = pieces.map(|piece| (&piece.object, piece.stored_bytes)).collect();
        each.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// A manifest that is written file by file, in the order of manifests: who sends a
/// million files does not hold them all.
#[derive(Debug)]
pub struct Text {
    text: String,
    totals: Totals,
    sstable: (String, String),
    objects: BTreeSet<String>,
}

/// What a manifest sums up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many files.
    pub files: u64,
    /// Their length.
    pub bytes: u64,
    /// Length of their objects in the store, each once.
    pub stored_bytes: u64,
}

impl Text {
    /// Of this member, without a file.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn new(member: &Member) -> Result<Self, String> {
        let member = serde_json::to_string(member).map_err(|error| error.to_string())?;
        let (totals, sstable) = (Totals::default(), Default::default());
        Ok(Self { text: format!("{TITLE}\n{member}\n"), totals, sstable, objects: BTreeSet::new() })
    }

    /// The next file.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn add(&mut self, file: &File) -> Result<(), String> {
        self.text.push_str(&serde_json::to_string(file).map_err(|error| error.to_string())?);
        self.text.push('\n');
        self.totals.files += 1;
        self.totals.bytes += file.bytes;
        // Only files of one SSTable share objects.
        if (&self.sstable.0, &self.sstable.1) != (&file.table_id, &file.sstable) {
            self.sstable = (file.table_id.clone(), file.sstable.clone());
            self.objects.clear();
        }
        for piece in &file.pieces {
            if self.objects.insert(piece.object.clone()) {
                self.totals.stored_bytes += piece.stored_bytes;
            }
        }
        Ok(())
    }

    /// As it is stored, and what it sums up to.
    pub fn end(mut self) -> (Vec<u8>, Totals) {
        self.text.push_str(&format!("end {}\n", self.totals.files));
        (self.text.into_bytes(), self.totals)
    }
}

/// The files of a manifest one after the other: who looks at a million of them does not hold
/// them all. After an error there is none.
#[derive(Debug)]
pub struct Files<'a> {
    member: Member,
    lines: std::str::Lines<'a>,
    end: &'a str,
    line: u64,
    before: Option<File>,
    is_over: bool,
}

/// Whose files they are, and the files.
///
/// # Errors
/// Its first lines are not those of a manifest, or it is cut off.
pub fn files(bytes: &[u8]) -> Result<(Member, Files<'_>), Invalid> {
    let text = std::str::from_utf8(bytes).map_err(|_| Invalid::NotText)?;
    let head = |why: &str| Invalid::Head { why: why.to_string() };
    let rest = text.strip_prefix(TITLE).and_then(|rest| rest.strip_prefix('\n'));
    let (member, rest) = rest.and_then(|r| r.split_once('\n')).ok_or(head("title"))?;
    let member: Member = serde_json::from_str(member).map_err(|error| head(&error.to_string()))?;
    let body = rest.strip_suffix('\n').ok_or(Invalid::NoEnd)?;
    let (lines, end) = body.rsplit_once('\n').unwrap_or(("", body));
    let (lines, line, before) = (lines.lines(), FIRST_LINE, None);
    Ok((member.clone(), Files { member, lines, end, line, before, is_over: false }))
}

/// Title and member come before the files.
const FIRST_LINE: u64 = 3;

impl Files<'_> {
    fn next_file(&mut self) -> Result<Option<File>, Invalid> {
        let Some(text) = self.lines.next() else {
            let is_whole = self.end == format!("end {}", self.line - FIRST_LINE);
            return is_whole.then_some(None).ok_or(Invalid::NoEnd);
        };
        let invalid =
            |error: serde_json::Error| Invalid::Line { line: self.line, why: error.to_string() };
        let file: File = serde_json::from_str(text).map_err(invalid)?;
        check(&self.member, &file, self.before.as_ref(), self.line)?;
        self.line += 1;
        self.before = Some(file.clone());
        Ok(Some(file))
    }
}

impl Iterator for Files<'_> {
    type Item = Result<File, Invalid>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.next_file().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

fn check(member: &Member, file: &File, before: Option<&File>, line: u64) -> Result<(), Invalid> {
    let is_sorted = before.is_none_or(|before| before.key() < file.key());
    is_sorted.then_some(()).ok_or(Invalid::Order { line })?;
    for name in [&file.keyspace, &file.table, &file.sstable, &file.component] {
        let is_valid = is_file_name(name) && name.len() <= 200;
        is_valid.then_some(()).ok_or(Invalid::Name { line, name: Quoted(name.clone()) })?;
    }
    let table = Quoted(file.table_id.clone());
    is_uuid(&file.table_id).then_some(()).ok_or(Invalid::Name { line, name: table })?;
    let folder = format!("{}{}/{}/", member.host.files(), file.table_id, file.sstable);
    let mut whole = 0_u64;
    for piece in &file.pieces {
        let is_inside = piece.object.starts_with(&folder) && is_object(&piece.object);
        let elsewhere = Invalid::Elsewhere { line, name: Quoted(piece.object.clone()) };
        is_inside.then_some(()).ok_or(elsewhere)?;
        let end = piece.at.checked_add(piece.bytes);
        let fits = piece.bytes > 0 && end.is_some_and(|end| end <= piece.object_bytes);
        fits.then_some(()).ok_or(Invalid::Pieces { line })?;
        whole = whole.checked_add(piece.bytes).ok_or(Invalid::Pieces { line })?;
    }
    (whole == file.bytes).then_some(()).ok_or(Invalid::Pieces { line })
}
