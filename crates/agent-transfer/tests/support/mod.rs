//! A member's volume with snapshots of files as Cassandra writes them, and the
//! child that works on it.

#![allow(dead_code, reason = "each test takes what it needs")]

pub mod backed;

use palladion_agent_transfer::tell::{Done, Line, Progress};
use palladion_backup::hash::Sum;
use palladion_backup::manifest::member::Schema;
use palladion_backup::store::memory::Seeded;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub const BACKUP: &str = "b1";
/// What a server writes of the parts of an SSTable, in an order of its own.
const CONTENTS: &str = "Summary.db\nTOC.txt\nStatistics.db\nIndex.db\nDigest.crc32\nFilter.db\nData.db\nCRC.db\nSAI+aa+by_name_idx+GroupComplete.db\n";
const TABLE: &str = "5f3c2b1a0000400080000000000000aa";
const OTHER: &str = "5f3c2b1a0000400080000000000000bb";

pub fn host(number: u8) -> String {
    format!("5f3c2b1a-0000-4000-8000-0000000000{number:02x}")
}

pub fn repository(sealing: &str) -> Value {
    let id = "repository-1";
    json!({"format": 1, "repositoryID": id, "ring": "demo", "datacenter": "dc1", "sealing": sealing})
}

/// How a child has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub last: Option<Line>,
    pub progress: Progress,
    pub code: Option<i32>,
}

impl Ended {
    #[track_caller]
    pub fn done(&self) -> Done {
        match &self.last {
            Some(Line::Done(done)) => done.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// The cause, and what it says to people.
    #[track_caller]
    pub fn stopped(&self) -> (String, String) {
        assert_eq!(self.code, Some(1));
        match &self.last {
            Some(Line::Stopped { cause, message }) => (format!("{cause:?}"), message.clone()),
            other => panic!("{other:?}"),
        }
    }
}

/// A child that has not been told yet what to do.
pub struct Running {
    child: Child,
    stdin: ChildStdin,
    out: BufReader<ChildStdout>,
}

impl Running {
    pub fn new() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_palladion-agent-transfer"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, stdin, out: BufReader::new(stdout) }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn tell(&mut self, line: &Value) {
        // A child that was killed reads nothing.
        let _ = writeln!(self.stdin, "{line}");
    }

    /// Until it says nothing more.
    pub fn end(mut self) -> Ended {
        let (mut last, mut progress) = (None, Progress::default());
        for line in self.out.lines() {
            match serde_json::from_str(&line.unwrap()).unwrap() {
                Line::Progress(said) => progress = said,
                line @ (Line::Done(_) | Line::Stopped { .. }) => last = Some(line),
            }
        }
        Ended { last, progress, code: self.child.wait().unwrap().code() }
    }
}

pub fn run(settings: &Value) -> Ended {
    let mut running = Running::new();
    running.tell(settings);
    running.end()
}

/// A member with its volume, and where its repository is.
pub struct Member {
    pub number: u8,
    pub root: PathBuf,
    /// `store`, `credentials`, `keys`, `repository` of the settings.
    pub base: Value,
    /// The keyspaces that its snapshots are of, as its manifests say it; `null`: they do not.
    pub keyspaces: Value,
}

impl Member {
    pub fn new(folder: &Path, number: u8, base: Value) -> Self {
        let root = folder.join(format!("volume-{number}"));
        std::fs::create_dir_all(root.join("data")).unwrap();
        Self { number, root, base, keyspaces: json!(["shop", "system_auth"]) }
    }

    fn table(&self, name: &str) -> PathBuf {
        let id = if name == "users" { TABLE } else { OTHER };
        self.root.join(format!("data/shop/{name}-{id}"))
    }

    pub fn snapshot(&self, table: &str, tag: &str) -> PathBuf {
        self.table(table).join("snapshots").join(tag)
    }

    /// A live SSTable with the components that a server writes, and a checksum that fits.
    pub fn write(&self, table: &str, generation: &str, data_bytes: usize) {
        let folder = self.table(table);
        std::fs::create_dir_all(&folder).unwrap();
        let seed = generation
            .bytes()
            .fold(u64::from(self.number), |a, b| a.wrapping_mul(31) + u64::from(b));
        let data = bytes(seed, data_bytes);
        let mut sum = Sum::default();
        sum.add(&data);
        let digest = sum.end().1.to_string();
        let put = |component: &str, bytes: &[u8]| {
            std::fs::write(folder.join(format!("nb-{generation}-big-{component}")), bytes).unwrap();
        };
        put("Data.db", &data);
        put("Digest.crc32", digest.as_bytes());
        put("Index.db", &bytes(seed ^ 1, data_bytes / 40 + 90));
        put("Statistics.db", &bytes(seed ^ 2, 5100));
        put("Filter.db", &bytes(seed ^ 3, 260));
        put("Summary.db", &bytes(seed ^ 4, 120));
        put("SAI+aa+by_name_idx+GroupComplete.db", b"");
        put("CRC.db", &bytes(seed ^ 5, 60));
        put("TOC.txt", CONTENTS.as_bytes());
    }

    /// What `takeSnapshot` leaves: links, and what it says of them.
    pub fn take_snapshot(&self, tag: &str) {
        for table in ["users", "orders"] {
            let (live, folder) = (self.table(table), self.snapshot(table, tag));
            std::fs::create_dir_all(folder.join(".by_city")).unwrap();
            std::fs::write(folder.join(".by_city/nb-1-big-Data.db"), "an index").unwrap();
            let mut data = vec![".by_city/nb-1-big-Data.db".to_string()];
            for entry in std::fs::read_dir(&live).unwrap().map(Result::unwrap) {
                let name = entry.file_name().into_string().unwrap();
                if entry.path().is_file() {
                    std::fs::hard_link(entry.path(), folder.join(&name)).unwrap();
                    if name.ends_with("-Data.db") {
                        data.push(name);
                    }
                }
            }
            let manifest = json!({"files": data, "created_at": "2026-11-28T00:00:00Z"});
            std::fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
            std::fs::write(folder.join("schema.cql"), "CREATE TABLE").unwrap();
        }
    }

    /// The live files of both tables by their names as they come back.
    pub fn live(&self) -> BTreeMap<String, Vec<u8>> {
        let mut all = BTreeMap::new();
        for table in ["users", "orders"] {
            for entry in std::fs::read_dir(self.table(table)).unwrap().map(Result::unwrap) {
                if entry.path().is_file() {
                    let folder = self.table(table);
                    let folder = folder.file_name().unwrap().to_str().unwrap();
                    let name = entry.file_name().into_string().unwrap();
                    let bytes = std::fs::read(entry.path()).unwrap();
                    all.insert(format!("{}/shop/{folder}/{name}", host(self.number)), bytes);
                }
            }
        }
        all
    }

    /// The components that a snapshot still has.
    pub fn left(&self, tag: &str) -> usize {
        let tables = ["users", "orders"].iter().flat_map(|table| {
            let entries = std::fs::read_dir(self.snapshot(table, tag));
            entries.into_iter().flatten().map(Result::unwrap)
        });
        let names = tables.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("nb-")).count()
    }

    pub fn state(&self) -> PathBuf {
        self.root.join(".palladion/transfers")
    }

    /// Settings with this work.
    pub fn settings(&self, work: Value) -> Value {
        let mut settings = self.base.clone();
        settings["id"] = json!(format!("transfer-{}-{}", self.number, work["kind"]));
        settings["work"] = work;
        settings
    }

    pub fn prepare(&self) -> Value {
        self.settings(json!({"kind": "Prepare", "volume": self.root, "leastFree": 0}))
    }

    /// The schema of a backup, written by one member.
    pub fn describe(&self) -> Schema {
        let file = self.root.join("schema.cql");
        std::fs::write(&file, "CREATE KEYSPACE shop;").unwrap();
        match run(&self.settings(json!({"kind": "Describe", "file": file}))).done() {
            Done::Described { schema, .. } => schema,
            other => panic!("{other:?}"),
        }
    }

    pub fn upload(&self, backup: &str, tag: &str, schema: &Schema) -> Value {
        let host = host(self.number);
        let mut settings = self.settings(json!({
            "kind": "Upload",
            "member": {
                "repositoryID": "repository-1", "backup": backup, "hostID": host,
                "volumeID": format!("volume-{}", self.number), "tokens": [self.number.to_string()],
                "datacenter": "dc1", "rack": "r1", "version": "5.0.5", "schema": schema,
                "keyspaces": self.keyspaces,
            },
            "data": [self.root.join("data")],
            "tag": tag,
            "state": self.state(),
            "leastFree": 0,
        }));
        settings["id"] = json!(format!("{backup}-{}", self.number));
        settings
    }

    pub fn finish(&self, backup: &str, members: &[(u8, &Ended)]) -> Value {
        let reported = |(number, ended): &(u8, &Ended)| match ended.done() {
            Done::Uploaded { checkpoint, member, .. } => {
                let sha256 = member.sha256;
                let tokens = [number.to_string()];
                (
                    host(*number),
                    json!({"checkpoint": checkpoint, "sha256": sha256, "tokens": tokens}),
                )
            }
            other => panic!("{other:?}"),
        };
        let all: Vec<String> = members.iter().map(|(number, _)| host(*number)).collect();
        self.settings(json!({
            "kind": "Finish",
            "backup": backup,
            "window": {"from": 1_800_000_000, "to": 1_800_000_060},
            "members": members.iter().map(reported).collect::<serde_json::Map<_, _>>(),
            "coverage": {"AllMembers": all},
            "depth": "Read",
        }))
    }

    /// Fetch it into an empty folder, and compare it with the live files.
    #[track_caller]
    pub fn comes_back(&self, backup: &str, into: &Path) {
        let fetched = run(&self.fetch(backup, into)).done();
        assert!(matches!(fetched, Done::Fetched { .. }), "{fetched:?}");
        let mut found = tree(into);
        found.retain(|name, _| name.starts_with(&host(self.number)));
        assert!(found == self.live(), "other files or bytes came back of {backup}");
    }

    pub fn fetch(&self, backup: &str, into: &Path) -> Value {
        let source = host(self.number);
        let fetch =
            json!({"kind": "Fetch", "backup": backup, "sourceHostID": source, "into": into});
        self.settings(fetch)
    }
}

/// Two members, each with SSTables of two tables.
pub fn two(folder: &Path, base: &Value) -> [Member; 2] {
    [1, 2].map(|number| {
        let member = Member::new(folder, number, base.clone());
        for generation in ["1", "2", "3h5q_05kq_2kdm82q1hsz4bnxhjo"] {
            member.write("users", generation, 2_500_000);
        }
        member.write("orders", "1", 7000);
        member
    })
}

/// All of a backup; how the uploads have ended.
pub fn back_up(members: &[Member; 2], backup: &str, tag: &str) -> Vec<Ended> {
    assert_eq!(run(&members[0].prepare()).done(), Done::Prepared);
    let schema = members[0].describe();
    let sent = |member: &Member| {
        member.take_snapshot(tag);
        let ended = run(&member.upload(backup, tag, &schema));
        ended.done();
        ended
    };
    let ended: Vec<Ended> = members.iter().map(sent).collect();
    let finish = members[1].finish(backup, &[(1, &ended[0]), (2, &ended[1])]);
    assert!(matches!(run(&finish).done(), Done::Finished { .. }));
    ended
}

/// Bytes that do not repeat.
pub fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let seeded = Seeded::new(seed);
    let words = (0..length.div_ceil(8)).flat_map(|_| seeded.next().to_le_bytes());
    words.take(length).collect()
}

/// Every file below a folder, with its bytes.
pub fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut all, mut open) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(root).unwrap().display().to_string();
                    all.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
    }
    all
}
