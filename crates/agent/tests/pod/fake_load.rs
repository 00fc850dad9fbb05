//! The fake server's `bulkLoad`: what it streams is counted, and kept in a folder. As the real one
//! it leaves out silently what it cannot open, and what is of a table that it does not know. And
//! its `loadNewSSTables`, which renames what it takes.

use super::fake_cql;
use super::fake_server::told;
use palladion_backup::hash::Hash;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// While there is a file of this name, a load goes on.
pub const HELD: &str = "load-held";
/// While there is a file of this name, a load sends nothing, and says that it is done.
pub const NOTHING: &str = "load-nothing";
/// A file of this name has the address of a member that joins.
pub const JOINING: &str = "joining";

/// What a server has live, by its rows.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static ROOT: OnceLock<PathBuf> = OnceLock::new();
/// A table that every server has, and does not describe.
pub const ROLES: &str = "system_auth.roles";
/// Numbers that no server gives.
const PLACED: u32 = 1_500_000_000;

static SENT: AtomicU64 = AtomicU64::new(0);

/// Bytes that it has streamed; none before the first stream.
pub fn sent() -> Value {
    match SENT.load(Ordering::Relaxed) {
        0 => Value::Null,
        sent => json!(sent),
    }
}

/// The addresses of members that join.
pub fn joining() -> Vec<String> {
    fs::read_to_string(JOINING).into_iter().collect()
}

/// As the metrics of tables have them.
pub fn tables() -> Value {
    let mut all = serde_json::Map::new();
    let known = if Path::new(fake_cql::CQL).exists() { fake_cql::tables() } else { Vec::new() };
    for name in known.iter().map(String::as_str).chain([ROLES]) {
        let (keyspace, table) = name.split_once('.').unwrap();
        let bean = format!(
            "org.apache.cassandra.metrics:keyspace={keyspace},name=LiveDiskSpaceUsed,scope={table},type=Table"
        );
        all.insert(bean, json!({ "Count": 10 }));
    }
    all.into()
}

/// Its data directory, once it runs.
pub fn data() -> Option<&'static PathBuf> {
    ROOT.get()
}

/// At its start it opens all that is there.
pub fn open(data: &Path) {
    ROOT.set(data.to_path_buf()).unwrap();
    if Path::new(fake_cql::CQL).exists() {
        fake_cql::make_directories(data);
    }
    let tables = below(data).into_iter().flat_map(|keyspace| below(&keyspace));
    for path in tables.flat_map(|table| below(&table)) {
        let name = name(&path);
        if number(&name).is_some_and(|number| number >= PLACED) {
            told(&format!("opened {name}"));
        }
        if name.ends_with("-Data.db") {
            LIVE.lock().unwrap().insert(path);
        }
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_string()
}

fn number(name: &str) -> Option<u32> {
    name.split('-').nth(1)?.parse().ok()
}

/// Take what is new in the directory of a table: all of it is renamed, and then live; or the call
/// fails.
pub async fn take_new(keyspace: &str, table: &str) -> Value {
    told(&format!("take {keyspace}.{table}"));
    while Path::new(HELD).exists() {
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    if Path::new(NOTHING).exists() {
        return json!({"status": 200, "value": null});
    }
    let id = fake_cql::id(&format!("{keyspace}.{table}")).replace('-', "");
    let folder = data().unwrap().join(keyspace).join(format!("{table}-{id}"));
    let mut new: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in below(&folder).into_iter().filter(|path| path.is_file()) {
        let sstable = name(&path).rsplit_once('-').unwrap().0.to_string();
        if !LIVE.lock().unwrap().contains(&folder.join(format!("{sstable}-Data.db"))) {
            new.entry(sstable).or_default().push(path);
        }
    }
    let mut taken = Vec::new();
    for (sstable, components) in new {
        let [version, _, format] = sstable.split('-').collect::<Vec<_>>()[..] else { panic!() };
        let has = |component: &str| components.iter().any(|path| name(path).ends_with(component));
        if !has("-Data.db") || !has("-Index.db") {
            return json!({"status": 500, "error": "java.lang.RuntimeException : Failed importing SSTables"});
        }
        let own = (1..).find(|n| !folder.join(format!("{version}-{n}-{format}-Data.db")).exists());
        let own = format!("{version}-{}-{format}", own.unwrap());
        for path in &components {
            let component = name(path).rsplit_once('-').unwrap().1.to_string();
            fs::rename(path, folder.join(format!("{own}-{component}"))).unwrap();
        }
        taken.push(folder.join(format!("{own}-Data.db")));
    }
    for path in taken {
        told(&format!("loaded {keyspace}.{table} {}", Hash::of(&fs::read(&path).unwrap())));
        LIVE.lock().unwrap().insert(path);
    }
    json!({"status": 200, "value": null})
}

/// Stream what is in a folder.
pub async fn load(folder: &str) -> Value {
    told(&format!("load {folder}"));
    while Path::new(HELD).exists() {
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    let path = Path::new(folder);
    let Ok(entries) = fs::read_dir(path) else {
        return json!({"status": 500, "error": format!("Invalid directory {folder}")});
    };
    let table = format!("{}.{}", name(path.parent().unwrap()), name(path));
    let is_known = fake_cql::tables().contains(&table) || table == ROLES;
    let is_known = is_known && !Path::new(NOTHING).exists();
    for data in entries.map(|entry| entry.unwrap().path()) {
        let Some(sstable) = name(&data).strip_suffix("-Data.db").map(str::to_string) else {
            continue;
        };
        if !is_known || !path.join(format!("{sstable}-Index.db")).exists() {
            continue;
        }
        let bytes = fs::read(&data).unwrap();
        SENT.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        told(&format!("loaded {table} {}", Hash::of(&bytes)));
    }
    json!({"status": 200, "value": null})
}
