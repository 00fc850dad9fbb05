//! The fake server's `bulkLoad`: what it streams is counted, and kept in a folder. As the real one
//! it leaves out silently what it cannot open, and what is of a table that it does not know.

use super::fake_cql;
use super::fake_server::told;
use palladion_backup::hash::Hash;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// While there is a file of this name, a load goes on.
pub const HELD: &str = "load-held";
/// While there is a file of this name, a load sends nothing, and says that it is done.
pub const NOTHING: &str = "load-nothing";
/// A file of this name has the address of a member that joins.
pub const JOINING: &str = "joining";

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
    for name in known.iter().map(String::as_str).chain(["system_auth.roles"]) {
        let (keyspace, table) = name.split_once('.').unwrap();
        let bean = format!(
            "org.apache.cassandra.metrics:keyspace={keyspace},name=LiveDiskSpaceUsed,scope={table},type=Table"
        );
        all.insert(bean, json!({ "Count": 10 }));
    }
    all.into()
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
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_string();
    let table = format!("{}.{}", name(path.parent().unwrap()), name(path));
    let is_known = fake_cql::tables().contains(&table) && !Path::new(NOTHING).exists();
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
