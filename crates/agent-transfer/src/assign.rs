//! From an order of the operator to what the child is told. What an order may say
//! and this version does not know is a reason not to begin it.

use crate::orders::{Depth, Describe, Discard, Finish, Outcome, Prepare, Reported, Upload, Verify};
use crate::settings::{Entries, Place, Settings, Tag, Work};
use crate::words::refusal::Refusal;
use crate::words::stopped::Stopped;
use palladion_api::backup::{
    BACKUP_CREDENTIALS, BACKUP_KEYS, DiscardWork, FinishWork, Transfer, TransferPlace,
    TransferTask, UploadWork,
};
use palladion_api::words::{Names, Quoted};
pub use palladion_backup::coverage::Replicas;
use palladion_backup::hash::Hash;
use palladion_backup::manifest::member::{Member, Schema};
use palladion_backup::manifest::ring::Window;
pub use palladion_backup::names;
use palladion_backup::names::{BackupId, HostId};
use palladion_backup::repository::{FORMAT, Repository, Sealing};
use palladion_store::address::Address;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub mod archive;
pub mod quorum;
pub mod restore;
mod retention;

/// What a member says of itself.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// The process that waits for the child.
    pub parent: i32,
    /// The name of the ring.
    pub ring: String,
    /// Its datacenter.
    pub datacenter: String,
    /// Its rack.
    pub rack: String,
    /// The version of its server.
    pub version: String,
    /// The Secret that is mounted as the credentials of the store.
    pub credentials_secret: Option<String>,
    /// Where its volume is mounted.
    pub volume: PathBuf,
    /// The data directories of its server.
    pub data: Vec<PathBuf>,
    /// Which tables the snapshot had that is kept.
    pub tables: Option<String>,
    /// Which keyspaces it was taken of.
    pub keyspaces: Option<BTreeSet<String>>,
    /// Where journals are kept.
    pub state: PathBuf,
}

/// What was asked of the server before.
#[derive(Clone, Debug, Default)]
pub enum Said {
    /// Nothing: there was no need to.
    #[default]
    Nothing,
    /// The member's tokens.
    Tokens(Vec<String>),
    /// The ring.
    Ring(Ring),
    /// The schema, in this file.
    Schema(PathBuf),
}

/// A ring, as a server sees it.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    /// All normal members, each with its tokens.
    pub members: BTreeMap<String, Vec<String>>,
    /// Who has copies of its ranges, where that matters.
    pub replicas: Vec<Replicas>,
    /// The version of its schema.
    pub schema_version: String,
}

/// Can this version do it?
///
/// # Errors
/// The first word that is not known.
pub fn fit(order: &Transfer) -> Result<(), Refusal> {
    backup(order)?;
    host(order.host_id.as_str())?;
    place(&order.store)?;
    match order.work.task().ok_or_else(Refusal::work)? {
        TransferTask::Prepare(_) | TransferTask::Verify(_) => Ok(()),
        TransferTask::Describe(work) => quorum::fits(work.quorum.as_ref()),
        TransferTask::Snapshot(work) => tag(&work.tag).map(drop),
        TransferTask::Upload(work) => tag(&work.tag).and(schema(work)).map(drop),
        TransferTask::Finish(work) => quorum::fits(work.quorum.as_ref()).and_then(|()| {
            work.members.iter().try_for_each(|sent| {
                host(sent.host_id.as_str())?;
                sent.replaced_by.as_ref().map_or(Ok(()), |by| host(by.as_str()).map(drop))?;
                hash("manifest", &sent.sha256).map(drop)
            })
        }),
        TransferTask::Catalog(work) => restore::catalog_fits(work),
        TransferTask::Schema(work) => restore::schema_fits(work),
        TransferTask::Load(work) => restore::load_fits(work),
        TransferTask::Settle(work) => restore::settle_fits(work),
        TransferTask::Tokens(work) => restore::tokens_fits(work),
        TransferTask::Replay(work) => restore::replay_fits(work),
        TransferTask::Open(_) => Ok(()),
        TransferTask::Expire(work) => retention::expire(work).map(drop),
        TransferTask::Sweep(work) => retention::sweep(work).map(drop),
        TransferTask::Discard(work) => work.tags.iter().try_for_each(|text| tag(text).map(drop)),
    }
}

/// What the child is told. Of a snapshot, which needs none, and of a restore, of which the agent
/// does a part itself ([`restore`]), there is nothing to tell.
///
/// # Errors
/// The ring is not what the order says, or what [`fit`] refuses.
pub fn settings(order: &Transfer, own: &Own, said: Said) -> Result<Settings, Stopped> {
    with(order, own, || work(order, own, said))
}

fn with(
    order: &Transfer,
    own: &Own,
    work: impl FnOnce() -> Result<Work, Stopped>,
) -> Result<Settings, Stopped> {
    let is_folder = matches!(order.store.at.parse(), Ok(Address::Directory(_)));
    if !is_folder && order.credentials_secret_name != own.credentials_secret {
        let name = |secret: &Option<String>| Quoted(secret.clone().unwrap_or_default());
        let (ordered, mounted) =
            (name(&order.credentials_secret_name), name(&own.credentials_secret));
        return Err(Stopped::OtherSecret { ordered, mounted });
    }
    Ok(Settings {
        id: order.id.clone(),
        parent: Some(own.parent),
        repository: Repository {
            format: FORMAT,
            id: order.repository.id.clone(),
            ring: own.ring.clone(),
            datacenter: own.datacenter.clone(),
            sealing: if order.repository.sealed { Sealing::Sealed } else { Sealing::Plain },
        },
        store: place(&order.store)?,
        credentials: (!is_folder).then(|| PathBuf::from(BACKUP_CREDENTIALS)),
        entries: if order.source_credentials { Entries::Source } else { Entries::Own },
        keys: order.repository.sealed.then(|| PathBuf::from(BACKUP_KEYS)),
        bytes_per_second: order.bytes_per_second,
        work: work()?,
    })
}

fn work(order: &Transfer, own: &Own, said: Said) -> Result<Work, Stopped> {
    let backup = backup(order)?;
    let task = order.work.task().ok_or_else(Refusal::work)?;
    let unasked = || Stopped::Settings { why: Stopped::NotServing.to_string() };
    Ok(match (task, said) {
        (TransferTask::Prepare(_), _) => Work::Prepare(Prepare::of(own.volume.clone())),
        (TransferTask::Describe(_), Said::Schema(file)) => Work::Describe(Describe { file }),
        (TransferTask::Upload(work), Said::Tokens(tokens)) => {
            Work::Upload(Box::new(upload(order, own, (work, tokens))?))
        }
        (TransferTask::Finish(work), Said::Ring(mut ring)) => {
            quorum::call_as_sent(&work.members, &mut ring);
            let (coverage, left_out) = quorum::covers(work.quorum.as_ref(), own, &ring)?;
            Work::Finish(Finish {
                depth: depth(order, work),
                coverage,
                left_out,
                window: Window { from: work.from.0.as_second(), to: work.to.0.as_second() },
                members: members(work, ring.members)?,
                backup,
            })
        }
        (TransferTask::Verify(work), _) => {
            let depth = if work.read_all { Depth::Read } else { Depth::Sizes };
            Work::Verify(Verify { backup, depth })
        }
        (TransferTask::Expire(work), _) => Work::Expire(retention::expire(work)?),
        (TransferTask::Sweep(work), _) => Work::Sweep(retention::sweep(work)?),
        (TransferTask::Discard(work), _) => Work::Discard(discard(backup, own, work)?),
        (TransferTask::Describe(_) | TransferTask::Upload(_) | TransferTask::Finish(_), _) => {
            return Err(unasked());
        }
        (
            TransferTask::Snapshot(_)
            | TransferTask::Catalog(_)
            | TransferTask::Schema(_)
            | TransferTask::Load(_)
            | TransferTask::Settle(_)
            | TransferTask::Tokens(_)
            | TransferTask::Replay(_)
            | TransferTask::Open(_),
            _,
        ) => return Err(Refusal::work().into()),
    })
}

fn upload(
    order: &Transfer,
    own: &Own,
    (work, tokens): (&UploadWork, Vec<String>),
) -> Result<Upload, Stopped> {
    // Lost with the record; what is on the disk may be a part of it.
    let unnoted = || Stopped::Unnoted { tag: work.tag.clone() };
    let tables = own.tables.clone().ok_or_else(unnoted)?;
    let member = Member {
        repository: order.repository.id.clone(),
        backup: backup(order)?,
        host: host(order.host_id.as_str())?,
        volume: order.volume_id.as_str().to_string(),
        tokens,
        datacenter: own.datacenter.clone(),
        rack: own.rack.clone(),
        version: own.version.clone(),
        schema: schema(work)?,
        keyspaces: own.keyspaces.clone(),
    };
    Ok(Upload::of(member, (own.data.clone(), tag(&work.tag)?, tables), own.state.clone()))
}

fn discard(backup: BackupId, own: &Own, work: &DiscardWork) -> Result<Discard, Refusal> {
    Ok(Discard {
        backup,
        uploads: work.uploads.clone(),
        data: own.data.clone(),
        tags: work.tags.iter().map(|text| tag(text)).collect::<Result<_, _>>()?,
        state: own.state.clone(),
        outcome: if work.write_outcome { Outcome::Failed } else { Outcome::Leave },
    })
}

/// Of the members that the order names each with the tokens that the ring has: no other
/// members may be in the ring but those that are left out, or the backup would lack what they hold.
fn members(
    work: &FinishWork,
    mut ring: BTreeMap<String, Vec<String>>,
) -> Result<BTreeMap<HostId, Reported>, Stopped> {
    let ordered: BTreeSet<&str> = work.members.iter().map(|sent| sent.host_id.as_str()).collect();
    let is_left_out = |host: &&String| quorum::is_left_out(work.quorum.as_ref(), host);
    let counts = || ring.keys().filter(|host| !is_left_out(host)).map(String::as_str);
    if !ordered.iter().copied().eq(counts()) {
        let found = Names::of(counts());
        return Err(Stopped::RingChanged { ordered: Names::of(ordered), found });
    }
    let reported = work.members.iter().map(|sent| {
        let tokens = ring.remove(sent.host_id.as_str()).unwrap_or_default();
        let sha256 = hash("manifest", &sent.sha256)?;
        let reported = Reported { checkpoint: sent.checkpoint, sha256, tokens };
        Ok((host(sent.host_id.as_str())?, reported))
    });
    reported.collect()
}

/// Backups read other objects, and each try of a finish the same.
fn depth(order: &Transfer, work: &FinishWork) -> Depth {
    let first = order
        .id
        .bytes()
        .fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    if work.read_all { Depth::Read } else { Depth::Sample { first: first % 100 } }
}

fn place(of: &TransferPlace) -> Result<Place, Refusal> {
    of.at.parse::<Address>().map_err(|_| Refusal::word("store", &of.at))?;
    Ok(Place {
        at: of.at.clone(),
        region: of.region.clone(),
        endpoint: of.endpoint.clone(),
        addressing: known("store.addressing", of.addressing.as_ref())?,
        checksum: known("store.checksum", of.checksum.as_ref())?,
        transport: known("store.transport", of.transport.as_ref())?,
    })
}

/// A word, as the settings of a store have it.
fn known<T: DeserializeOwned>(
    field: &'static str,
    word: Option<&String>,
) -> Result<Option<T>, Refusal> {
    let parse = |word: &String| {
        let value = Value::String(word.clone());
        serde_json::from_value(value).map_err(|_| Refusal::word(field, word))
    };
    word.map(parse).transpose()
}

fn backup(order: &Transfer) -> Result<BackupId, Refusal> {
    BackupId::parse(&order.backup).ok_or_else(|| Refusal::word("backup", &order.backup))
}

fn host(text: &str) -> Result<HostId, Refusal> {
    HostId::parse(text).ok_or_else(|| Refusal::word("host ID", text))
}

fn hosts<'a>(all: impl Iterator<Item = &'a String>) -> Result<BTreeSet<HostId>, Refusal> {
    all.map(|text| host(text)).collect()
}

fn tag(text: &str) -> Result<Tag, Refusal> {
    Tag::try_from(text.to_string()).map_err(|_| Refusal::word("tag", text))
}

fn hash(field: &'static str, text: &str) -> Result<Hash, Refusal> {
    Hash::try_from(text.to_string()).map_err(|_| Refusal::word(field, text))
}

fn schema(work: &UploadWork) -> Result<Schema, Refusal> {
    let sha256 = hash("schema", &work.schema.sha256)?;
    Ok(Schema { object: work.schema.object.clone(), sha256, bytes: work.schema.bytes })
}

impl From<Refusal> for Stopped {
    fn from(why: Refusal) -> Self {
        Self::Settings { why: why.to_string() }
    }
}

#[cfg(test)]
mod tests;
