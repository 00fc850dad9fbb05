//! Sends the files of one member, and ends with its manifest. What an earlier
//! manifest of this member has is not read and not sent again, if the store
//! still has it and nobody has condemned it.

use crate::chain::Chain;
use crate::hash::Hash;
use crate::identity::{Volumes, is_same};
use crate::manifest::member::{File, Identity, Member, MemberManifest, Piece};
use crate::manifest::ring::OfMember;
use crate::pieces::Writer;
use crate::vault::Vault;
use crate::words::trouble::Trouble;
use std::collections::BTreeMap;

/// A file of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What an earlier backup has sent, and may be named again.
struct Known<'a> {
    files: BTreeMap<(&'a str, &'a str, &'a str), &'a File>,
    volumes: Volumes,
    there: BTreeMap<String, u64>,
    condemned: BTreeMap<String, u64>,
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
    let known = earlier.map(|earlier| known(vault, order, earlier)).transpose()?;
    let mut sstables: BTreeMap<(&str, &str), Vec<&Listed>> = BTreeMap::new();
    for file in files {
        sstables.entry((&file.table_id, &file.sstable)).or_default().push(file);
    }
    let mut taken = Vec::new();
    for ((table, sstable), mut components) in sstables {
        components.sort_by(|a, b| a.component.cmp(&b.component));
        let folder = format!("{}{table}/{sstable}/", order.member.host.files());
        let mut writer = Writer::new(vault, folder, order.piece_bytes);
        for (number, listed) in components.into_iter().enumerate() {
            match known.as_ref().and_then(|known| known.again(listed)) {
                Some(file) => taken.push(file),
                None => taken.extend(writer.add((number, listed), snapshot)?),
            }
        }
        taken.extend(writer.end()?);
    }
    let manifest = MemberManifest { member: order.member.clone(), files: taken };
    write(vault, order, manifest)
}

fn write(vault: &Vault<'_>, order: &Order, manifest: MemberManifest) -> Result<OfMember, Trouble> {
    let name = order.member.backup.member(&order.member.host, order.checkpoint);
    let text = manifest.write().map_err(|why| Trouble::Document { name: name.clone(), why })?;
    vault.write(&name, &text)?;
    Ok(OfMember::of(&manifest, name, Hash::of(&text)))
}

fn known<'a>(
    vault: &Vault<'_>,
    order: &Order,
    earlier: &'a MemberManifest,
) -> Result<Known<'a>, Trouble> {
    let is_ours = earlier.member.host == order.member.host;
    let volumes = match earlier.member.volume == order.member.volume {
        true => Volumes::Same,
        false => Volumes::Different,
    };
    let files = earlier.files.iter().filter(|_| is_ours);
    let key = |file: &'a File| (&*file.table_id, &*file.sstable, &*file.component);
    let listed = vault.list(&order.member.host.files())?;
    Ok(Known {
        files: files.map(|file| (key(file), file)).collect(),
        volumes,
        there: listed.into_iter().map(|meta| (meta.name, meta.bytes)).collect(),
        condemned: Chain::read(vault)?.objects(vault)?,
    })
}

impl Known<'_> {
    /// The file as it was sent before.
    fn again(&self, listed: &Listed) -> Option<File> {
        let file = self.files.get(&(&*listed.table_id, &*listed.sstable, &*listed.component))?;
        let is_there = |piece: &Piece| {
            self.there.get(&piece.object) == Some(&piece.stored_bytes)
                && !self.condemned.contains_key(&piece.object)
        };
        let may = is_same(listed, file, self.volumes) && file.pieces.iter().all(is_there);
        may.then(|| listed.file(file.sha256.clone(), file.pieces.clone()))
    }
}
