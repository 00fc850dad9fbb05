//! What a restore reads of a backup, and brings batch by batch: each file of the tables once,
//! byte for byte, and nothing of what is not what was taken.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "../../store/tests/support/mod.rs"]
mod objects;
mod support;

use objects::s3::{ID, S3, SECRET};
use palladion_agent_transfer::tell::Done;
use palladion_backup::names::BackupId;
use palladion_backup::vault::Vault;
use palladion_backup::{chain, expire};
use palladion_store::directory::Directory;
use palladion_store::random::System;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use support::backed::{Backed, SCHEMA, refused};
use support::{BACKUP, host, repository, run, tree};

const VIEW: &str = "CREATE MATERIALIZED VIEW shop.orders AS
    SELECT *
    FROM shop.users
    WHERE id IS NOT NULL AND name IS NOT NULL
    PRIMARY KEY (name, id)
 WITH ID = 5f3c2b1a-0000-4000-8000-0000000000bb
    AND gc_grace_seconds = 864000;
";

fn pins(store: &Path) -> usize {
    let folder = store.join("pins").join(BACKUP);
    if folder.is_dir() { tree(&folder).len() } else { 0 }
}

#[test]
fn a_backup_is_read_with_what_each_member_has_and_its_schema() {
    let backed = Backed::new(SCHEMA);
    let mut read = backed.read();
    // As it is before the hash is known.
    read["work"]["manifest"] = Value::Null;
    let Done::Read { manifest_hash, window, sources, .. } = run(&read).done() else { panic!() };
    assert_eq!(manifest_hash, backed.manifest);
    assert_eq!((window.from, window.to), (1_800_000_000, 1_800_000_060));
    let bytes: usize =
        backed.taken().iter().flat_map(|(_, files)| files.values()).map(Vec::len).sum();
    let [source] = &sources[..] else { panic!("{sources:?}") };
    assert_eq!(source.host_id.as_str(), host(1));
    assert_eq!((source.sstables, source.bytes), (7, bytes as u64));
    let schema = backed.path("state/restore.cql");
    assert_eq!(std::fs::read_to_string(&schema).unwrap(), SCHEMA);
    assert_eq!(schema.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    read["work"]["tables"] = json!([{"from": "shop.orders", "to": "shop.again"}]);
    let Done::Read { sources, .. } = run(&read).done() else { panic!() };
    assert_eq!(sources[0].sstables, 2);
    // A server of an earlier line leaves out what it cannot read, and says nothing.
    read["work"]["server"] = json!("4.1.9");
    refused(&read, "RestoreFailed", "was taken with Cassandra 5.0.5, and this ring runs 4.1.9");
    read["work"]["server"] = json!("5.1.0");
    read["work"]["tables"] = json!([{"from": "shop.gone"}]);
    refused(&read, "RestoreFailed", "shop.gone");
    assert_eq!(pins(&backed.path("store")), 1, "it is pinned until the restore is over");
}

#[test]
fn every_file_of_a_member_is_brought_once_over_all_batches() {
    let backed = Backed::new(SCHEMA);
    for (limit, expected) in [(0, 7), (2_600_000, 3), (1 << 40, 1)] {
        let (mut skip, mut batches, mut all, mut bytes) = (0, 0, BTreeSet::new(), 0);
        loop {
            let ended = run(&backed.batch(skip, limit));
            let Done::Brought { sstables, bytes: now, all_sstables, .. } = ended.done() else {
                panic!()
            };
            assert_eq!(all_sstables, 7);
            assert_eq!((ended.progress.of, ended.progress.files <= 7), (7, true));
            let brought = backed.brought();
            assert_eq!(brought.len() as u64, sstables, "no other ones");
            assert!(brought.iter().all(|sstable| all.insert(sstable.clone())), "one came again");
            skip += sstables;
            bytes += now;
            batches += 1;
            if skip == all_sstables {
                break;
            }
        }
        assert_eq!(batches, expected, "{limit}");
        assert!(all == backed.taken(), "other files or bytes came back");
        let length: usize = all.iter().flat_map(|(_, files)| files.values()).map(Vec::len).sum();
        assert_eq!(bytes, length as u64);
    }
    let Done::Brought { sstables: 0, .. } = run(&backed.batch(7, 1)).done() else { panic!() };
    assert!(backed.brought().is_empty(), "nothing is left of an earlier batch");
    assert_eq!(pins(&backed.path("store")), 1, "one for all batches");
}

#[test]
fn an_sstable_for_which_there_is_no_room_is_not_brought() {
    let backed = Backed::new(SCHEMA);
    let mut batch = backed.batch(0, 0);
    batch["work"]["room"] = json!(1_000_000);
    refused(&batch, "LoadFailed", "nb-1-big of table shop.users has 12");
    assert!(!backed.path("into").exists());
    batch["work"]["room"] = json!(1_500_000);
    let Done::Brought { sstables: 1, .. } = run(&batch).done() else { panic!() };
}

#[test]
fn views_are_built_from_rows_and_not_loaded() {
    let backed =
        Backed::new(&format!("{}{VIEW}", SCHEMA.split("CREATE TABLE shop.orders").next().unwrap()));
    let Done::Brought { sstables: 5, all_sstables: 5, .. } = run(&backed.batch(0, 1 << 40)).done()
    else {
        panic!()
    };
    assert!(backed.brought().iter().all(|(table, _)| table == "users"));
}

#[test]
fn a_file_that_is_not_what_was_taken_is_named_and_nothing_is_left() {
    let backed = Backed::new(SCHEMA);
    let objects = tree(&backed.path("store/sstables"));
    let (name, mut bytes) = objects.into_iter().find(|(_, bytes)| bytes.len() > 1_000_000).unwrap();
    bytes[600_000] ^= 1;
    std::fs::write(backed.path("store/sstables").join(&name), bytes).unwrap();
    let (cause, said) = run(&backed.batch(0, 1 << 40)).stopped();
    assert_eq!(cause, "RepositoryDamaged");
    assert!(said.contains("Data.db of table shop.users") && said.contains(&name), "{said}");
    assert!(!backed.path("into").exists());
    std::fs::remove_file(backed.path("store/sstables").join(&name)).unwrap();
    refused(&backed.batch(0, 1 << 40), "RepositoryDamaged", "404");
}

#[test]
fn what_is_not_the_backup_that_was_ordered_is_not_read() {
    let backed = Backed::new(SCHEMA);
    let (mut other, mut none) = (backed.read(), backed.read());
    other["work"]["manifest"] = json!("ab".repeat(32));
    refused(&other, "RestoreFailed", "begin another restore");
    none["work"]["backup"] = json!("b9");
    refused(&none, "RestoreFailed", "there is no backup `b9`");
    let mut member = backed.batch(0, 1);
    member["work"]["sourceHostID"] = json!(host(9));
    refused(&member, "RestoreFailed", &host(9));
    // Another ring's is read, as long as it is the one that is ordered.
    let mut foreign = backed.read();
    foreign["repository"]["ring"] = json!("another");
    foreign["repository"]["datacenter"] = json!("dc9");
    run(&foreign).done();
    foreign["repository"]["repositoryID"] = json!("repository-2");
    refused(&foreign, "RepositoryForeign", "repository-1, not repository-2");
    assert!(!backed.path("into").exists());
}

#[test]
fn of_a_condemned_backup_nothing_is_read() {
    let backed = Backed::new(SCHEMA);
    let random = System::new().unwrap();
    let store = Directory::open(&backed.path("store"), &random).unwrap();
    let vault = Vault::open(&store, None, &random).unwrap();
    let backups = BTreeSet::from([BackupId::parse(BACKUP).unwrap()]);
    // One that is read is not expired.
    run(&backed.read()).done();
    let order = expire::Order { backups: backups.clone(), keep: 0 };
    let said = expire::plan(&vault, &order).and_then(|plan| expire::carry_out(&vault, &plan));
    assert!(said.unwrap_err().to_string().contains("is read by restore-"));
    chain::append(&vault, 1, backups, &BTreeSet::new()).unwrap();
    refused(&backed.read(), "RestoreFailed", "condemned by entry 1");
    refused(&backed.batch(0, 1), "RestoreFailed", "condemned by entry 1");
}

#[test]
fn credentials_of_another_store_go_to_that_one_alone() {
    let (s3, folder) = (S3::new(), tempfile::tempdir().unwrap());
    let credentials = folder.path().join("credentials");
    std::fs::create_dir_all(&credentials).unwrap();
    let put = |name: &str, text: &str| std::fs::write(credentials.join(name), text).unwrap();
    put("accessKeyId", ID);
    put("secretAccessKey", SECRET);
    let endpoint = s3.endpoint();
    let store = json!({
        "at": "s3://bucket/demo", "endpoint": endpoint, "addressing": "Path", "transport": "Plain",
    });
    let base =
        json!({"repository": repository("Plain"), "store": store, "credentials": credentials});
    let backed = Backed::at(folder, base, SCHEMA);
    let mut read = backed.read();
    run(&read).done();
    // The ring's own are of another store now.
    put("accessKeyId", "own");
    read["entries"] = json!("Source");
    refused(&read, "StoreUnreachable", "no entry source.store");
    put("source.store", "s3://bucket/other http://127.0.0.1:1\n");
    refused(&read, "StoreUnreachable", &format!("write `s3://bucket/demo {endpoint}`"));
    put("source.store", &format!(" s3://bucket/demo {endpoint}\n"));
    refused(&read, "StoreUnreachable", "accessKeyId");
    put("source.accessKeyId", ID);
    put("source.secretAccessKey", SECRET);
    let Done::Read { sources, .. } = run(&read).done() else { panic!() };
    assert_eq!(sources[0].sstables, 7);
}

const CLIENTS: &str = "
CREATE KEYSPACE clients WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': '3'} AND durable_writes = true;

CREATE TABLE clients.people (
    id int PRIMARY KEY,
    name text
) WITH ID = 5f3c2b1a-0000-4000-8000-0000000000cc
    AND gc_grace_seconds = 864000;
";

/// What a restore of these tables reads, of a ring or not.
fn of(backed: &Backed, tables: Value, amounts: &str) -> Value {
    let mut read = backed.read();
    (read["work"]["tables"], read["work"]["amounts"]) = (tables, json!(amounts));
    read
}

#[test]
fn a_table_of_a_keyspace_that_was_not_backed_up_is_not_restored() {
    let schema = format!("{SCHEMA}{CLIENTS}");
    let backed = Backed::of_keyspaces(&schema, json!(["shop", "system_auth"]));
    let clients = [json!([]), json!([{"from": "clients"}]), json!([{"from": "clients.people"}])];
    for tables in clients {
        // As before tables are touched, and as whoever creates them reads it.
        for amounts in ["Sum", "Leave"] {
            let words = "does not have clients: it was taken of shop and system_auth only";
            refused(&of(&backed, tables.clone(), amounts), "RestoreFailed", words);
        }
    }
    run(&of(&backed, json!([{"from": "shop"}]), "Sum")).done();
    let words = "a ring begins with a backup of all its keyspaces";
    refused(&of(&backed, json!([]), "Ring"), "RestoreFailed", words);
    // Those that were empty were backed up.
    let backed = Backed::of_keyspaces(&schema, json!(["clients", "shop"]));
    run(&of(&backed, json!([]), "Sum")).done();
    let mut ring = of(&backed, json!([]), "Ring");
    run(&ring).done();
    ring["work"]["roles"] = json!("Load");
    refused(&ring, "RestoreFailed", "without system_auth");
}

#[test]
fn of_a_backup_that_does_not_say_its_keyspaces_only_what_has_files_is_restored() {
    let backed = Backed::of_keyspaces(&format!("{SCHEMA}{CLIENTS}"), Value::Null);
    for amounts in ["Sum", "Ring"] {
        refused(&of(&backed, json!([]), amounts), "RestoreFailed", "no file of clients");
    }
    run(&of(&backed, json!([{"from": "shop.orders"}]), "Sum")).done();
    // All that its schema shows has files; nobody knows of roles.
    let backed = Backed::of_keyspaces(SCHEMA, Value::Null);
    let mut ring = of(&backed, json!([]), "Ring");
    run(&ring).done();
    ring["work"]["roles"] = json!("Load");
    refused(&ring, "RestoreFailed", "no file of system_auth");
}

#[test]
fn an_object_that_is_lost_or_cut_off_is_missed_before_anything_is_changed() {
    let backed = Backed::with_roles();
    let (store, users) = (backed.path("store/sstables"), "5f3c2b1a-0000-4000-8000-0000000000aa");
    let objects = tree(&store);
    let of_users: Vec<_> = objects.iter().filter(|(name, _)| name.contains(users)).collect();
    assert!(of_users.len() > 5);
    for (name, bytes) in of_users {
        let object = store.join(name);
        for cut in [None, Some(bytes.len() - 1)] {
            match cut {
                None => std::fs::remove_file(&object).unwrap(),
                Some(length) => std::fs::write(&object, &bytes[..length]).unwrap(),
            }
            for amounts in ["Sum", "Ring"] {
                refused(&of(&backed, json!([]), amounts), "RepositoryDamaged", name);
            }
            // Whoever does not need it is not held up.
            run(&of(&backed, json!([{"from": "shop.orders"}]), "Sum")).done();
        }
        std::fs::write(&object, bytes).unwrap();
    }
    // Of a ring the roles as well, if they come.
    let roles = "5f3c2b1a-0000-4000-8000-000000000010";
    let name = objects.keys().find(|name| name.contains(roles)).unwrap();
    std::fs::remove_file(store.join(name)).unwrap();
    let mut ring = of(&backed, json!([]), "Ring");
    run(&ring).done();
    ring["work"]["roles"] = json!("Load");
    refused(&ring, "RepositoryDamaged", name);
}

#[test]
fn what_no_ring_can_create_is_refused_before_one_starts() {
    let compact = "/*
Warning: Table shop.old omitted because it has constructs not compatible with CQL (was created via legacy API).
Approximate structure, for reference:
(this should not be used to reproduce this schema)

CREATE TABLE shop.old (
    id int PRIMARY KEY,
    name text
) WITH COMPACT STORAGE
    AND gc_grace_seconds = 864000;
*/
";
    let backed = Backed::new(&format!("{SCHEMA}{compact}"));
    refused(&of(&backed, json!([]), "Ring"), "RestoreFailed", "shop.old has COMPACT STORAGE");
    run(&of(&backed, json!([]), "Sum")).done();
}
