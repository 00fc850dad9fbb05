//! The end of a backup: all that the members have sent is checked, and the
//! outcome is written, once. An expiry writes the outcome of a backup that it
//! gives up under the same name, so only one of them has its way; and who has
//! finished looks at what is condemned before it says so.

use crate::catalog::{State, state};
use crate::chain::Chain;
use crate::coverage::Coverage;
use crate::damaged::{self, Damaged};
use crate::document;
use crate::hash::Hash;
use crate::manifest::member::{Member, MemberManifest, Schema};
use crate::manifest::ring::{self, LeftOut, OfMember, Outcome, RingManifest, Window};
use crate::names::{BackupId, HostId};
use crate::seal::Fingerprint;
use crate::vault::{Vault, Written, object};
use crate::verify::{self, Depth, Look, Report};
use crate::words::trouble::{Failed, Missing, Trouble, Unfit, Wrong};
use std::collections::{BTreeMap, BTreeSet};

/// What a member has reported when it had sent all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The number of its manifest.
    pub checkpoint: u32,
    /// Of the manifest.
    pub sha256: Hash,
    /// Its tokens, as the ring has them.
    pub tokens: Vec<String>,
}

/// What is to be finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The backup.
    pub id: BackupId,
    /// When the snapshots were taken.
    pub window: Window,
    /// What the members have reported.
    pub members: BTreeMap<HostId, Sent>,
    /// What has to be covered.
    pub coverage: Coverage,
    /// Members of the ring that are not in it.
    pub left_out: Vec<LeftOut>,
    /// How well it is looked.
    pub depth: Depth,
}

/// Check everything, and write the outcome. The hash vouches for all of the backup.
///
/// # Errors
/// Something is missing, damaged or condemned; the backup has failed or was
/// condemned meanwhile; or the store failed, and it is not known.
pub fn finish(vault: &Vault<'_>, order: &Order) -> Result<Hash, Trouble> {
    open(vault, &order.id)?;
    let have = order.members.keys().cloned().collect();
    if let Some(missing) = order.coverage.missing(&have) {
        return Err(Trouble::Uncovered { missing });
    }
    // Read before anything is looked for: what is condemned later is condemned
    // by somebody who has seen our manifests, or finds them before it deletes.
    let condemned = Chain::read(vault)?.objects(vault)?;
    let damaged = Damaged::read(vault)?;
    damaged.whole()?;
    let (mut members, mut schemas) = (Vec::new(), BTreeSet::new());
    let (mut taken, mut keys) = (Taken::Nothing, BTreeSet::new());
    // One for all members: which objects a sample reads goes by their number.
    let mut report = Report::default();
    for (at, (host, sent)) in (0..).zip(&order.members) {
        let (manifest, key) = manifest(vault, order, (host, sent))?;
        let (begun, depth) = (order.window.from, order.depth);
        let member = (at, order.members.len() as u64);
        let look = Look { depth, condemned: &condemned, damaged: &damaged, begun, member };
        verify::objects(vault, &manifest, &look, &mut report)?;
        // The next backup must not take over what this one has found.
        damaged::note(vault, &order.id, &report.damaged)?;
        if let Some(damage) = std::mem::take(&mut report.damaged).into_iter().next() {
            return Err(object(&damage.object, damage.wrong));
        }
        keys.extend(key);
        keys.extend(manifest.files.iter().flat_map(|f| &f.pieces).filter_map(|piece| piece.key));
        taken = taken.and(manifest.member.keyspaces.clone());
        schemas.insert((manifest.member.schema.object.clone(), manifest.member.schema.bytes));
        let name = order.id.member(host, sent.checkpoint);
        let member = OfMember::of(&manifest, name, sent.sha256.clone());
        members.push((member, manifest.member.schema));
    }
    let (schema, key) = schema(vault, &members, schemas.len(), &condemned)?;
    keys.extend(key);
    let members = members.into_iter().map(|(member, _)| member).collect();
    let repository = vault.repository();
    write(
        vault,
        RingManifest {
            repository: repository.id.clone(),
            backup: order.id.clone(),
            ring: repository.ring.clone(),
            window: order.window,
            schema,
            members,
            left_out: order.left_out.clone(),
            keyspaces: taken.known(),
            keys,
        },
    )
}

/// The keyspaces that all members have taken.
enum Taken {
    /// No member was asked.
    Nothing,
    /// The manifest of one does not say it.
    Unknown,
    /// These.
    These(BTreeSet<String>),
}

impl Taken {
    /// And those of another member.
    fn and(self, member: Option<BTreeSet<String>>) -> Self {
        match (self, member) {
            (Self::Unknown, _) | (_, None) => Self::Unknown,
            (Self::Nothing, Some(these)) => Self::These(these),
            (Self::These(all), Some(these)) => Self::These(&all & &these),
        }
    }

    fn known(self) -> Option<BTreeSet<String>> {
        match self {
            Self::These(these) => Some(these),
            Self::Nothing | Self::Unknown => None,
        }
    }
}

/// Write the outcome; whoever was first has decided.
fn write(vault: &Vault<'_>, ring: RingManifest) -> Result<Hash, Trouble> {
    let id = ring.backup.clone();
    let name = id.outcome();
    let bytes = document::write(&Outcome::Complete(Box::new(ring.clone())))
        .map_err(|why| Trouble::Document { name: name.clone(), why })?;
    let written = vault.decide(&name, &bytes)?;
    // It may have been condemned since it was written, by us or by an earlier try.
    open(vault, &id)?;
    match (written, state(vault, &id)) {
        (Written::Ours, State::Complete { hash, .. }) => Ok(hash),
        (Written::Other(_), State::Complete { ring: there, hash }) => {
            match is_same(&there, &ring) {
                true => Ok(hash),
                false => Err(Trouble::OtherOutcome { id: id.to_string() }),
            }
        }
        (_, State::Failed(why)) => Err(Trouble::HasFailed { id: id.to_string(), why }),
        (_, State::Open) => Err(object(&name, Wrong::Gone)),
        (_, State::Unknown(wrong)) => Err(object(&name, wrong)),
    }
}

/// Is it the same backup? Who finishes it after another one may know those that were left out by the
/// members that have their places by now, and by another version.
fn is_same(there: &RingManifest, ours: &RingManifest) -> bool {
    let places = |of: &RingManifest| -> BTreeSet<String> {
        of.left_out.iter().flat_map(|out| out.tokens.clone()).collect()
    };
    let rest = |of: &RingManifest| RingManifest { left_out: Vec::new(), ..of.clone() };
    places(there) == places(ours) && rest(there) == rest(ours)
}

/// Write that a backup has failed, so that it can never become complete. How it ended
/// then: somebody else may have been first.
///
/// # Errors
/// It is not known whether it is written.
pub fn fail(vault: &Vault<'_>, id: &BackupId, why: &Failed) -> Result<State, Trouble> {
    let name = id.outcome();
    let failed = Outcome::Failed { why: why.to_string() };
    let bytes =
        document::write(&failed).map_err(|why| Trouble::Document { name: name.clone(), why })?;
    match vault.decide(&name, &bytes)? {
        Written::Ours => Ok(State::Failed(why.to_string())),
        Written::Other(_) => Ok(state(vault, id)),
    }
}

/// Nobody has condemned it, and nobody said that it has failed.
fn open(vault: &Vault<'_>, id: &BackupId) -> Result<(), Trouble> {
    let chain = Chain::read(vault)?;
    chain.whole()?;
    if let Some(entry) = chain.of_backup(id) {
        return Err(Trouble::Condemned { id: id.to_string(), entry });
    }
    match state(vault, id) {
        State::Failed(why) => Err(Trouble::HasFailed { id: id.to_string(), why }),
        State::Unknown(wrong) => Err(object(&id.outcome(), wrong)),
        State::Complete { .. } | State::Open => Ok(()),
    }
}

fn manifest(
    vault: &Vault<'_>,
    order: &Order,
    (host, sent): (&HostId, &Sent),
) -> Result<(MemberManifest, Option<Fingerprint>), Trouble> {
    let name = order.id.member(host, sent.checkpoint);
    let found = vault.read_with_key(&name)?;
    let (plain, key) = found.ok_or_else(|| object(&name, Wrong::Gone))?;
    let manifest = MemberManifest::read(&plain).map_err(|invalid| ring::torn(&name, &invalid))?;
    if Hash::of(&plain) != sent.sha256 {
        return Err(object(&name, Wrong::Hash));
    }
    let unfit = |why| Trouble::NotOfMember { host: host.to_string(), why };
    let Member { repository, backup, host: of, tokens, .. } = &manifest.member;
    if (of, backup, repository) != (host, &order.id, &vault.repository().id) {
        return Err(unfit(Unfit::Other));
    }
    if *tokens != sent.tokens {
        return Err(unfit(Unfit::Tokens));
    }
    Ok((manifest, key))
}

/// The schema, which is one for all members, whole, and not condemned; and the key that it is
/// sealed with.
fn schema(
    vault: &Vault<'_>,
    members: &[(OfMember, Schema)],
    different: usize,
    condemned: &BTreeMap<String, u64>,
) -> Result<(Schema, Option<Fingerprint>), Trouble> {
    let Some((member, schema)) = members.first() else {
        return Err(Trouble::Uncovered { missing: Missing::NoMembers });
    };
    if different > 1 {
        return Err(Trouble::NotOfMember { host: member.host.to_string(), why: Unfit::Schema });
    }
    if let Some(entry) = condemned.get(&schema.object) {
        return Err(object(&schema.object, Wrong::Condemned { entry: *entry }));
    }
    let (_, key) =
        ring::schema_with_key(vault, schema).map_err(|wrong| object(&schema.object, wrong))?;
    Ok((schema.clone(), key))
}

/// Write the schema of a backup: its members name it in their manifests.
///
/// # Errors
/// It cannot be written.
pub fn write_schema(vault: &Vault<'_>, text: &[u8]) -> Result<Schema, Trouble> {
    let sha256 = Hash::of(text);
    let object = format!("{}{sha256}~{}.cql", crate::names::SCHEMA, vault.random().nonce());
    vault.write(&object, text)?;
    Ok(Schema { object, sha256, bytes: text.len() as u64 })
}
