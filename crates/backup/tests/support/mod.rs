//! A ring of two members with files, and what backs it up, finishes, expires and
//! sweeps, each as a process of its own.

#![allow(dead_code, reason = "each test takes what it needs")]

use palladion_backup::coverage::Coverage;
use palladion_backup::finish::{self, Sent, write_schema};
use palladion_backup::hash::{Hash, Sum};
use palladion_backup::manifest::member::{Identity, Member, MemberManifest};
use palladion_backup::manifest::ring::{OfMember, Window};
use palladion_backup::names::{BackupId, HostId};
use palladion_backup::seal::{Key, Keys};
use palladion_backup::store::Store;
use palladion_backup::store::memory::{Memory, Seeded};
use palladion_backup::take::{self, Listed, Snapshot};
use palladion_backup::vault::{FORMAT, Repository, Sealing, Vault};
use palladion_backup::verify::Depth;
use palladion_backup::{Trouble, expire};
use std::collections::{BTreeMap, BTreeSet};

/// The time at which tests begin.
pub const START: i64 = 1_800_000_000;
/// The schema of the ring, and what its backups take.
pub const SCHEMA: &str = "CREATE KEYSPACE k1 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': '1'} AND durable_writes = true;";
pub const KEYSPACES: [&str; 2] = ["k1", "system_auth"];
const TABLE: &str = "5f3c2b1a-0000-4000-8000-0000000000aa";

pub fn id(text: &str) -> BackupId {
    BackupId::parse(text).unwrap()
}

pub fn ids(all: &[&str]) -> BTreeSet<BackupId> {
    all.iter().map(|text| id(text)).collect()
}

pub fn host(number: u8) -> HostId {
    HostId::parse(&format!("5f3c2b1a-0000-4000-8000-0000000000{number:02x}")).unwrap()
}

pub fn repository(sealing: Sealing) -> Repository {
    let (ring, datacenter) = ("demo".to_string(), "dc1".to_string());
    Repository { format: FORMAT, id: "repository-1".into(), ring, datacenter, sealing }
}

pub fn keys(byte: &str) -> Keys {
    Keys::new(Key::parse(&byte.repeat(32)).unwrap(), [])
}

pub fn open<'a>(store: &'a dyn Store, random: &'a Seeded) -> Vault<'a> {
    Vault::open(store, None, random).unwrap()
}

pub fn memory() -> Memory {
    let memory = Memory::at(START);
    Vault::create(&memory, None, &Seeded::new(0), repository(Sealing::Plain)).unwrap();
    memory
}

/// Files of one member: SSTables by number, each with a large and two small components.
#[derive(Clone, Debug, Default)]
pub struct Files(pub BTreeMap<String, Vec<u8>>);

impl Files {
    pub fn of(host: u8, sstables: &[u32]) -> Self {
        let mut all = BTreeMap::new();
        for number in sstables {
            let byte = (number % 251) as u8 ^ host;
            let large: Vec<u8> = (0..1_100_000_u32).map(|at| (at % 249) as u8 ^ byte).collect();
            all.insert(format!("nb-{number}-big-Data.db"), large);
            all.insert(format!("nb-{number}-big-Index.db"), vec![byte; 3000]);
            all.insert(format!("nb-{number}-big-Statistics.db"), vec![byte ^ 7; 500]);
            all.insert(format!("nb-{number}-big-GroupComplete.db"), Vec::new());
        }
        Self(all)
    }

    /// Few bytes: for tests that do a thousand rounds.
    pub fn small(host: u8, sstables: &[u32]) -> Self {
        let name = |number: &u32| format!("nb-{number}-big-Data.db");
        let bytes = |number: &u32| format!("{host} {number}").into_bytes();
        Self(sstables.iter().map(|n| (name(n), bytes(n))).collect())
    }

    pub fn listed(&self) -> Vec<Listed> {
        let digest = |sstable: &str| {
            let mut sum = Sum::default();
            sum.add(&self.0[&format!("{sstable}-Data.db")]);
            Some(sum.end().1)
        };
        let listed = |(name, bytes): (&String, &Vec<u8>)| {
            let (sstable, component) = name.rsplit_once('-').unwrap();
            Listed {
                keyspace: "k1".into(),
                table: "t".into(),
                table_id: TABLE.into(),
                sstable: sstable.into(),
                component: component.into(),
                bytes: bytes.len() as u64,
                identity: Identity { inode: 1, modified: 2, digest: digest(sstable) },
            }
        };
        self.0.iter().map(listed).collect()
    }
}

impl Snapshot for Files {
    fn read(&self, file: &Listed, at: u64, bytes: u64) -> Result<Vec<u8>, String> {
        let all = self.0.get(&file.name()).ok_or("no such file")?;
        let from = at as usize;
        Ok(all[from..from + bytes as usize].to_vec())
    }
}

pub fn member(
    backup: &BackupId,
    number: u8,
    schema: palladion_backup::manifest::member::Schema,
) -> Member {
    Member {
        repository: "repository-1".into(),
        backup: backup.clone(),
        host: host(number),
        volume: format!("volume-{number}"),
        tokens: vec![number.to_string()],
        datacenter: "dc1".into(),
        rack: "r1".into(),
        version: "5.0.5".into(),
        schema,
        keyspaces: Some(KEYSPACES.map(str::to_string).into()),
    }
}

/// One backup on its way.
#[derive(Clone, Debug)]
pub struct Sending {
    pub id: BackupId,
    pub schema: palladion_backup::manifest::member::Schema,
    pub sent: BTreeMap<HostId, OfMember>,
    pub window: Window,
    /// What the manifests of its members say of that.
    pub keyspaces: Option<BTreeSet<String>>,
}

impl Sending {
    pub fn new(vault: &Vault<'_>, text: &str) -> Result<Self, Trouble> {
        let schema = write_schema(vault, SCHEMA.as_bytes())?;
        let window = Window { from: START, to: START + 60 };
        let keyspaces = Some(KEYSPACES.map(str::to_string).into());
        Ok(Self { id: id(text), schema, sent: BTreeMap::new(), window, keyspaces })
    }

    pub fn send(
        &mut self,
        vault: &Vault<'_>,
        number: u8,
        files: &Files,
        earlier: Option<&MemberManifest>,
    ) -> Result<(), Trouble> {
        let member = member(&self.id, number, self.schema.clone());
        let member = Member { keyspaces: self.keyspaces.clone(), ..member };
        let order = take::Order { member, checkpoint: 1, piece_bytes: 400_000 };
        let sent = take::take(vault, &order, (&files.listed(), files), earlier)?;
        self.sent.insert(host(number), sent);
        Ok(())
    }

    pub fn order(&self, ring: &[u8], depth: Depth) -> finish::Order {
        let sent = |(host, of): (&HostId, &OfMember)| {
            let number = u8::from_str_radix(&host.as_str()[34..], 16).unwrap();
            let tokens = vec![number.to_string()];
            (host.clone(), Sent { checkpoint: 1, sha256: of.sha256.clone(), tokens })
        };
        finish::Order {
            id: self.id.clone(),
            window: self.window,
            members: self.sent.iter().map(sent).collect(),
            coverage: Coverage::AllMembers(ring.iter().map(|n| host(*n)).collect()),
            left_out: Vec::new(),
            depth,
        }
    }

    pub fn finish(&self, vault: &Vault<'_>) -> Result<Hash, Trouble> {
        finish::finish(vault, &self.order(&[1, 2], Depth::Read))
    }
}

/// A whole backup of two members.
pub fn back_up(vault: &Vault<'_>, text: &str, sstables: &[u32]) -> Sending {
    back_up_at(vault, text, sstables, START)
}

/// A whole backup of two members, whose snapshots were begun at this time.
pub fn back_up_at(vault: &Vault<'_>, text: &str, sstables: &[u32], from: i64) -> Sending {
    let mut sending = Sending::new(vault, text).unwrap();
    sending.window = Window { from, to: from + 60 };
    for number in [1, 2] {
        sending.send(vault, number, &Files::small(number, sstables), None).unwrap();
    }
    sending.finish(vault).unwrap();
    sending
}

pub fn expire(vault: &Vault<'_>, all: &[&str], keep: u64) -> Result<expire::Plan, Trouble> {
    let plan = expire::plan(vault, &expire::Order { backups: ids(all), keep })?;
    expire::carry_out(vault, &plan)?;
    Ok(plan)
}

/// What a member does in which every object is looked for, and each byte read: what is damaged is
/// noted. How many objects that were.
pub fn look_and_note(vault: &Vault<'_>, text: &str) -> u64 {
    let report = palladion_backup::verify::verify(vault, &id(text), Depth::Read).unwrap();
    palladion_backup::damaged::note(vault, &id(text), &report.damaged).unwrap()
}
