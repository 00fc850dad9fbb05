//! Sends the files of one member, and ends with its manifest. What an earlier
//! manifest of this member has is not read and not sent again, if the store
//! still has it, nobody has condemned it or found it damaged, and the key is there that
//! opens it.

use crate::chain::Chain;
use crate::damaged::Damaged;
use crate::hash::Hash;
use crate::identity::{Volumes, is_same};
use crate::manifest::member::{File, Identity, Member, MemberManifest, Piece, Text};
use crate::manifest::ring::OfMember;
use crate::pieces::{NoNotes, Notes, Writer};
use crate::vault::Vault;
use crate::words::trouble::Trouble;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A file of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Listed {
    /// Its keyspace.
    pub keyspace: String,
    /// Its table.
    pub table: String,
    /// The ID of the table.
    pub table_id: String,
    /// Its SSTable.
    pub sstable: String,
    /// Which part of it.
    pub component: String,
    /// Its length.
    pub bytes: u64,
    /// What it is known again by.
    pub identity: Identity,
}

impl Listed {
    /// Its name on the member's volume.
    pub fn name(&self) -> String {
        format!("{}-{}", self.sstable, self.component)
    }

    /// As the manifest has it.
    pub fn file(&self, sha256: Hash, pieces: Vec<Piece>) -> File {
        File {
            keyspace: self.keyspace.clone(),
            table: self.table.clone(),
            table_id: self.table_id.clone(),
            sstable: self.sstable.clone(),
            component: self.component.clone(),
            bytes: self.bytes,
            sha256,
            identity: self.identity.clone(),
            pieces,
        }
    }
}

/// Where the bytes of the files come from.
pub trait Snapshot {
    /// So many bytes of a file.
    ///
    /// # Errors
    /// Why not.
    fn read(&self, file: &Listed, at: u64, bytes: u64) -> Result<Vec<u8>, String>;
}

/// What is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Whose files.
    pub member: Member,
    /// The number of the manifest: a later one counts instead.
    pub checkpoint: u32,
    /// The length of pieces.
    pub piece_bytes: u64,
}

/// The files of a manifest by table, SSTable and component.
type Files<'a> = BTreeMap<(&'a str, &'a str, &'a str), &'a File>;

/// What earlier backups have sent, and may be named again.
struct Known<'a> {
    vault: &'a Vault<'a>,
    manifests: Vec<(Files<'a>, Volumes)>,
    there: BTreeMap<String, u64>,
    condemned: BTreeMap<String, u64>,
    damaged: Damaged,
}

/// Send the files, and write the manifest.
///
/// # Errors
/// A file cannot be read or has rotted, or the store failed.
pub fn take(
    vault: &Vault<'_>,
    order: &Order,
    (files, snapshot): (&[Listed], &dyn Snapshot),
    earlier: Option<&MemberManifest>,
) -> Result<OfMember, Trouble> {
    let taking = Taking::new(vault, order, earlier.map_or(&[], std::slice::from_ref))?;
    let mut sstables: BTreeMap<(&str, &str), Vec<Listed>> = BTreeMap::new();
    for file in files {
        sstables.entry((&file.table_id, &file.sstable)).or_default().push(file.clone());
    }
    let name = || order.member.backup.member(&order.member.host, order.checkpoint);
    let document = |why| Trouble::Document { name: name(), why };
    let mut text = Text::new(&order.member).map_err(document)?;
    for components in sstables.into_values() {
        let taken = taking.sstable(components, snapshot, &NoNotes)?.files();
        taken.iter().try_for_each(|file| text.add(file)).map_err(document)?;
    }
    write(vault, &order.member, order.checkpoint, text)
}

/// Files of one member on their way, SSTable by SSTable.
pub struct Taking<'a> {
    vault: &'a Vault<'a>,
    order: &'a Order,
    known: Known<'a>,
}

/// The files of an SSTable that are in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Those that were sent now.
    pub sent: Vec<File>,
    /// Those that an earlier backup has sent.
    pub reused: Vec<File>,
}

impl Taken {
    /// All of them, in the order of manifests.
    pub fn files(self) -> Vec<File> {
        let mut all: Vec<File> = self.sent.into_iter().chain(self.reused).collect();
        all.sort_by(|a, b| a.component.cmp(&b.component));
        all
    }
}

impl<'a> Taking<'a> {
    /// Look at what earlier manifests of this member have, the newest first, and what of
    /// it is still there.
    ///
    /// # Errors
    /// The store failed, or it is not known what is condemned or damaged.
    pub fn new(
        vault: &'a Vault<'a>,
        order: &'a Order,
        earlier: &'a [MemberManifest],
    ) -> Result<Self, Trouble> {
        let known = known(vault, order, earlier)?;
        Ok(Self { vault, order, known })
    }

    /// Send the components of one SSTable, or name them as they were sent before. All
    /// of them are in the store, in their lengths, when this returns.
    ///
    /// # Errors
    /// A file cannot be read or has rotted, or the store failed.
    pub fn sstable(
        &self,
        mut components: Vec<Listed>,
        snapshot: &dyn Snapshot,
        notes: &dyn Notes,
    ) -> Result<Taken, Trouble> {
        let mut taken = Taken::default();
        components.sort_by(|a, b| a.component.cmp(&b.component));
        let Some(Listed { table_id, sstable, .. }) = components.first() else {
            return Ok(taken);
        };
        let folder = format!("{}{table_id}/{sstable}/", self.order.member.host.files());
        let mut writer = Writer::new(self.vault, folder, (self.order.piece_bytes, notes));
        for (number, listed) in components.iter().enumerate() {
            match self.known.again(listed) {
                Some(file) => taken.reused.push(file),
                None => taken.sent.extend(writer.add((number, listed), snapshot)?),
            }
        }
        taken.sent.extend(writer.end()?);
        Ok(taken)
    }
}

/// Write a manifest of a member: what was taken until now, or all of it.
///
/// # Errors
/// It is not known whether it is written.
pub fn write(
    vault: &Vault<'_>,
    member: &Member,
    checkpoint: u32,
    text: Text,
) -> Result<OfMember, Trouble> {
    let name = member.backup.member(&member.host, checkpoint);
    let (text, totals) = text.end();
    vault.write(&name, &text)?;
    Ok(OfMember::with(member, totals, (name, Hash::of(&text))))
}

fn known<'a>(
    vault: &'a Vault<'a>,
    order: &Order,
    earlier: &'a [MemberManifest],
) -> Result<Known<'a>, Trouble> {
    let key = |file: &'a File| (&*file.table_id, &*file.sstable, &*file.component);
    let ours = earlier.iter().filter(|earlier| earlier.member.host == order.member.host);
    let of = |earlier: &'a MemberManifest| {
        let volumes = match earlier.member.volume == order.member.volume {
            true => Volumes::Same,
            false => Volumes::Different,
        };
        (earlier.files.iter().map(|file| (key(file), file)).collect(), volumes)
    };
    let manifests: Vec<_> = ours.map(of).collect();
    if manifests.is_empty() {
        let (there, condemned) = (BTreeMap::new(), BTreeMap::new());
        return Ok(Known { vault, manifests, there, condemned, damaged: Damaged::default() });
    }
    let listed = vault.list(&order.member.host.files())?;
    let there = listed.into_iter().map(|meta| (meta.name, meta.bytes)).collect();
    let condemned = Chain::read(vault)?.objects(vault)?;
    let damaged = Damaged::read(vault)?;
    damaged.whole()?;
    Ok(Known { vault, manifests, there, condemned, damaged })
}

impl Known<'_> {
    /// The file as it was sent before.
    fn again(&self, listed: &Listed) -> Option<File> {
        let key = (&*listed.table_id, &*listed.sstable, &*listed.component);
        let is_there = |piece: &Piece| {
            self.there.get(&piece.object) == Some(&piece.stored_bytes)
                && !self.condemned.contains_key(&piece.object)
                && !self.damaged.objects.contains_key(&piece.object)
                // A key that is given up takes with it what it has sealed.
                && self.vault.opens(piece.key)
        };
        let all = self
            .manifests
            .iter()
            .filter_map(|(files, volumes)| files.get(&key).map(|file| (*file, *volumes)));
        let mut same = all.filter(|(file, volumes)| {
            is_same(listed, file, *volumes) && file.pieces.iter().all(is_there)
        });
        same.next().map(|(file, _)| listed.file(file.sha256.clone(), file.pieces.clone()))
    }
}
