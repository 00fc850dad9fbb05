//! A backup of one member, and what a restore is given for it.

use super::{BACKUP, Member, host, repository, run, tree};
use palladion_agent_transfer::tell::Done;
use palladion_backup::manifest::member::Schema;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub const TAG: &str = "palladion-b1-1";
pub const SCHEMA: &str = "CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': '3'} AND durable_writes = true;

CREATE TABLE shop.users (
    id int PRIMARY KEY,
    name text
) WITH ID = 5f3c2b1a-0000-4000-8000-0000000000aa
    AND gc_grace_seconds = 864000;

CREATE TABLE shop.orders (
    id int PRIMARY KEY,
    name text
) WITH ID = 5f3c2b1a-0000-4000-8000-0000000000bb
    AND gc_grace_seconds = 600;
";

pub struct Backed {
    pub folder: tempfile::TempDir,
    pub member: Member,
    pub manifest: String,
}

impl Backed {
    /// One member with five SSTables of users and two of orders.
    pub fn new(schema: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        std::fs::create_dir_all(&store).unwrap();
        let base = json!({"repository": repository("Plain"), "store": {"at": store}});
        Self::at(folder, base, schema)
    }

    pub fn at(folder: tempfile::TempDir, base: Value, schema: &str) -> Self {
        Self::of(folder, base, schema, &[])
    }

    /// The same with one SSTable each of two tables of `system_auth`.
    pub fn with_roles() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        std::fs::create_dir_all(&store).unwrap();
        let base = json!({"repository": repository("Plain"), "store": {"at": store}});
        Self::of(folder, base, SCHEMA, &["roles", "network_permissions"])
    }

    /// The same of these keyspaces; `null`: its manifests do not say it.
    pub fn of_keyspaces(schema: &str, keyspaces: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        std::fs::create_dir_all(&store).unwrap();
        let base = json!({"repository": repository("Plain"), "store": {"at": store}});
        Self::with(folder, base, (schema, keyspaces), &[])
    }

    pub fn of(folder: tempfile::TempDir, base: Value, schema: &str, roles: &[&str]) -> Self {
        Self::with(folder, base, (schema, json!(["shop", "system_auth"])), roles)
    }

    fn with(
        folder: tempfile::TempDir,
        base: Value,
        (schema, keyspaces): (&str, Value),
        roles: &[&str],
    ) -> Self {
        let member = Member { keyspaces, ..Member::new(folder.path(), 1, base) };
        for generation in ["1", "2", "3h5q_05kq_2kdm82q1hsz4bnxhjo", "10", "11"] {
            member.write("users", generation, 1_200_000);
        }
        member.write("orders", "1", 7000);
        member.write("orders", "7", 9000);
        assert_eq!(run(&member.prepare()).done(), Done::Prepared);
        let schema = describe(&member, schema);
        member.take_snapshot(TAG);
        for (number, table) in roles.iter().enumerate() {
            snapshot_of_roles(&member, table, number);
        }
        let sent = run(&member.upload(BACKUP, TAG, &schema));
        sent.done();
        let Done::Finished { manifest_hash: manifest } =
            run(&member.finish(BACKUP, &[(1, &sent)])).done()
        else {
            panic!()
        };
        Self { folder, member, manifest }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self) -> Value {
        let schema = self.path("state/restore.cql");
        self.member.settings(json!({
            "kind": "Read", "backup": BACKUP, "manifest": self.manifest, "tables": [],
            "schema": schema, "amounts": "Sum", "server": "5.0.9",
        }))
    }

    pub fn batch(&self, skip: u64, limit: u64) -> Value {
        let mut settings = self.member.settings(json!({
            "kind": "Batch", "backup": BACKUP, "manifest": self.manifest,
            "sourceHostID": host(1), "tables": [{"from": "shop", "to": "copy"}], "skip": skip,
            "of": 7, "limit": limit, "room": 1_u64 << 41, "into": self.path("into"),
        }));
        settings["id"] = json!("r1/load-1");
        settings
    }

    /// Components by table and SSTable that a restore loads, as they were taken.
    pub fn taken(&self) -> BTreeSet<(String, BTreeMap<String, Vec<u8>>)> {
        let live = self.member.live();
        let parts = |path: &str| {
            let (folder, name) = path.rsplit_once('/').unwrap();
            let table = folder.rsplit_once('/').unwrap().1.rsplit_once('-').unwrap().0;
            let (sstable, component) = name.rsplit_once('-').unwrap();
            (table.to_string(), sstable.to_string(), component.to_string())
        };
        let all = live.iter().map(|(path, bytes)| (parts(path), bytes.clone()));
        sstables(all.filter(|((_, _, component), _)| {
            component != "TOC.txt" && !component.starts_with("SAI+")
        }))
    }

    /// The same of a batch.
    pub fn brought(&self) -> BTreeSet<(String, BTreeMap<String, Vec<u8>>)> {
        let parts = |path: &str| {
            let parts: Vec<&str> = path.split('/').collect();
            let [number, keyspace, table, name] = parts[..] else { panic!("{path}") };
            assert_eq!(keyspace, "copy");
            assert!(name.starts_with(&format!("nb-{number}-")), "a folder for each: {path}");
            let (sstable, component) = name.rsplit_once('-').unwrap();
            let id: Vec<&str> = sstable.split('-').collect();
            assert!(matches!(id[..], ["nb", id, "big"] if id.parse::<u64>().is_ok()), "{name}");
            (table.to_string(), sstable.to_string(), component.to_string())
        };
        let all = tree(&self.path("into"));
        sstables(all.into_iter().map(|(path, bytes)| (parts(&path), bytes)))
    }
}

pub type Part = ((String, String, String), Vec<u8>);

pub fn sstables(all: impl Iterator<Item = Part>) -> BTreeSet<(String, BTreeMap<String, Vec<u8>>)> {
    let mut by: BTreeMap<(String, String), BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    for ((table, sstable, component), bytes) in all {
        by.entry((table, sstable)).or_default().insert(component, bytes);
    }
    by.into_iter().map(|((table, _), files)| (table, files)).collect()
}

pub fn snapshot_of_roles(member: &Member, table: &str, number: usize) {
    let id = format!("5f3c2b1a00004000800000000000001{number}");
    let folder = member.root.join(format!("data/system_auth/{table}-{id}/snapshots/{TAG}"));
    std::fs::create_dir_all(&folder).unwrap();
    let data = format!("of {table}");
    let mut sum = palladion_backup::hash::Sum::default();
    sum.add(data.as_bytes());
    let digest = sum.end().1.to_string();
    for (component, bytes) in
        [("Data.db", &*data), ("Index.db", "i"), ("Statistics.db", "s"), ("Digest.crc32", &digest)]
            .into_iter()
            .chain([("CRC.db", "c")])
    {
        std::fs::write(folder.join(format!("nb-1-big-{component}")), bytes).unwrap();
    }
    let manifest = json!({"files": ["nb-1-big-Data.db"], "created_at": "2026-11-28T00:00:00Z"});
    std::fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
    std::fs::write(folder.join("schema.cql"), "CREATE TABLE").unwrap();
}

pub fn describe(member: &Member, text: &str) -> Schema {
    let file = member.root.join("schema.cql");
    std::fs::write(&file, text).unwrap();
    match run(&member.settings(json!({"kind": "Describe", "file": file}))).done() {
        Done::Described { schema, .. } => schema,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub fn refused(settings: &Value, cause: &str, words: &str) {
    let (found, said) = run(settings).stopped();
    assert_eq!(found, cause, "{said}");
    assert!(said.contains(words), "{said}");
}
