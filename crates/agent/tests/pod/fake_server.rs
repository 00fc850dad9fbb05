//! Stands for a Cassandra server's JVM: understands the command line that the
//! agent gives it, speaks Jolokia's protocol, leaves data behind.

use super::{fake_backup, fake_cql, fake_load, fake_replay};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A file of this name in the working directory makes the next start fail with its words.
pub const FAIL: &str = "fail-with";

/// A file of this name holds the seconds until the next server is NORMAL.
pub const SLOW: &str = "slow";
/// While a file of this name is there, the other member is in dc2 and has copies of everything.
pub const ELSEWHERE: &str = "in-another-datacenter";
/// A file of this name opens the native transport by hand.
pub const OPENS: &str = "opened-by-hand";
/// While there is a file of this name, the native transport is yet to open, and a call to close it
/// does nothing.
pub const LATE: &str = "opens-late";
/// What was set while it ran, a line each.
pub const TOLD: &str = "told";
/// While there is a file of this name, a cleanup goes on.
pub const HELD: &str = "held";
/// Without it, a start takes this long.
const START: Duration = Duration::from_millis(600);

struct Server {
    mode: Mutex<&'static str>,
    host_id: String,
    address: String,
    authorization: String,
    config: PathBuf,
    data: PathBuf,
    cleans: Mutex<bool>,
    /// Does it take clients, once it is a full member?
    native: Mutex<bool>,
}

/// Run until killed.
pub fn run(arguments: &[String]) {
    println!("INFO  [main] fake server with {} arguments", arguments.len());
    let config = value(arguments, "-Dcassandra.config=file://").expect("a configuration file");
    if let Ok(words) = std::fs::read_to_string(FAIL) {
        println!("{words}");
        std::process::exit(3);
    }
    let yaml: Value = serde_yaml::from_str(&std::fs::read_to_string(&config).unwrap()).unwrap();
    let agent = arguments
        .iter()
        .find_map(|a| a.split_once("jolokia.jar=config="))
        .expect("the Jolokia agent")
        .1;
    let properties = properties(Path::new(agent));
    let address = yaml["broadcast_address"].as_str().unwrap().to_string();
    let data = PathBuf::from(yaml["data_file_directories"][0].as_str().unwrap());
    fake_load::open(&data);
    fake_replay::open(Path::new(&config), value(arguments, "-Dcassandra.replayList="));
    let server = Arc::new(Server {
        mode: Mutex::new("STARTING"),
        host_id: host_id(&data),
        address,
        authorization: basic(&properties["user"], &properties["password"]),
        config: config.into(),
        data,
        cleans: Mutex::new(false),
        native: Mutex::new(yaml["start_native_transport"] != false),
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(serve(server, &properties));
}

fn value(arguments: &[String], prefix: &str) -> Option<String> {
    arguments.iter().find_map(|a| a.strip_prefix(prefix)).map(str::to_string)
}

fn properties(path: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter_map(|l| l.split_once('=')).map(|(k, v)| (k.into(), v.into())).collect()
}

/// Kept with the data, as a server keeps it.
fn host_id(data: &Path) -> String {
    let local = data.join("system/local-7ad5");
    std::fs::create_dir_all(&local).unwrap();
    std::fs::write(local.join("nb-1-big-Data.db"), "rows").unwrap();
    let file = data.join("system/host-id");
    if let Ok(known) = std::fs::read_to_string(&file) {
        return known;
    }
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let id = format!("5f3c2b1a-0000-4000-8000-{:012x}", std::process::id());
    std::fs::write(&file, &id).unwrap();
    id
}

fn basic(user: &str, password: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("Basic ");
    for chunk in format!("{user}:{password}").as_bytes().chunks(3) {
        let bytes = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit <= chunk.len() { DIGITS[index as usize] as char } else { '=' });
        }
    }
    text
}

/// Note what it was told: appended, as it may be ended at any moment.
pub fn told(line: &str) {
    use std::io::Write;
    let mut file = std::fs::File::options().create(true).append(true).open(TOLD).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

async fn serve(server: Arc<Server>, properties: &BTreeMap<String, String>) {
    let starting = server.clone();
    tokio::spawn(async move {
        let slow = std::fs::read_to_string(SLOW).ok().and_then(|s| s.parse().ok());
        tokio::time::sleep(slow.map_or(START, Duration::from_secs)).await;
        *starting.mode.lock().unwrap() = "NORMAL";
    });
    tokio::spawn(fake_cql::serve());
    let listener =
        tokio::net::TcpListener::bind(format!("{}:{}", properties["host"], properties["port"]))
            .await
            .unwrap();
    let router = Router::new().route("/jolokia/", post(jolokia)).with_state(server);
    axum::serve(listener, router).await.unwrap();
}

async fn jolokia(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    if headers.get("authorization").and_then(|h| h.to_str().ok())
        != Some(server.authorization.as_str())
    {
        return (StatusCode::UNAUTHORIZED, "no".into());
    }
    let answer = match serde_json::from_slice(&body).unwrap() {
        Value::Array(items) => items.iter().map(|item| server.item(item)).collect(),
        item if item["operation"] == "decommission(boolean)" => server.decommission().await,
        item if item["operation"].as_str().is_some_and(|o| {
            o.starts_with("forceKeyspaceCleanup(") && Path::new(HELD).exists()
        }) =>
        {
            server.clean_up().await
        }
        item if item["operation"] == "bulkLoad(java.lang.String)" => {
            fake_load::load(item["arguments"][0].as_str().unwrap()).await
        }
        item if item["operation"] == "loadNewSSTables(java.lang.String,java.lang.String)" => {
            let text = |at: usize| item["arguments"][at].as_str().unwrap();
            fake_load::take_new(text(0), text(1)).await
        }
        item => server.item(&item),
    };
    (StatusCode::OK, answer.to_string())
}

impl Server {
    fn item(&self, item: &Value) -> Value {
        let name = item["attribute"].as_str().or(item["operation"].as_str()).unwrap();
        let mode = *self.mode.lock().unwrap();
        let endpoint = format!("{}:7000", self.address);
        let mut ids = serde_json::Map::new();
        ids.insert(endpoint.clone(), json!(self.host_id));
        let mut owners = json!({"1": endpoint, "2": endpoint});
        if let Ok(token) = std::fs::read_to_string(fake_backup::TOKEN) {
            owners[token] = json!(endpoint);
        }
        let mut live = vec![endpoint.clone()];
        if let Ok(other) = std::fs::read_to_string(fake_backup::OTHER) {
            ids.insert("10.96.0.99:7000".into(), json!(other));
            owners["3"] = json!("10.96.0.99:7000");
            live.push("10.96.0.99:7000".into());
        }
        let value = match name {
            _ if item["type"] == "write" => {
                told(&format!("{name}={}", item["value"]));
                Value::Null
            }
            "CompactionThroughputMbPerSec" => json!(64),
            "StreamThroughputMebibytesPerSec" => json!(24),
            "LoggingLevels" => json!({"ROOT": "INFO"}),
            "setLoggingLevel(java.lang.String,java.lang.String)" => {
                let text = |at: usize| item["arguments"][at].as_str().unwrap().to_string();
                told(&format!("{}={}", text(0), text(1)));
                Value::Null
            }
            "Count" if item["mbean"].as_str().is_some_and(|m| m.ends_with("LiveDiskSpaceUsed")) => {
                fake_load::tables()
            }
            "Count"
                if item["mbean"].as_str().is_some_and(|m| m.ends_with("TotalOutgoingBytes")) =>
            {
                fake_load::sent()
            }
            "Value" if item["mbean"].as_str().is_some_and(|m| m.ends_with("name=PendingTasks")) => {
                json!(0)
            }
            "Compactions" if *self.cleans.lock().unwrap() => json!([{
                "compactionId": "c1", "keyspace": "system_auth", "columnfamily": "roles",
                "taskType": "Cleanup", "completed": "4", "total": "10", "unit": "bytes",
            }]),
            "Compactions" => json!([]),
            "stopCompactionById(java.lang.String)" => {
                told(&format!("stop {}", item["arguments"][0]));
                *self.cleans.lock().unwrap() = false;
                Value::Null
            }
            "RestorePointInTime" => fake_replay::point_in_time(),
            "recover(java.lang.String)" => {
                fake_replay::recover(Path::new(item["arguments"][0].as_str().unwrap()));
                Value::Null
            }
            "OperationMode" => json!(mode),
            "NativeTransportRunning" => {
                let mut native = self.native.lock().unwrap();
                *native |= std::fs::remove_file(OPENS).is_ok();
                json!(mode == "NORMAL" && *native && !Path::new(LATE).exists())
            }
            "startNativeTransport()" => {
                told("takes clients");
                *self.native.lock().unwrap() = true;
                Value::Null
            }
            "stopNativeTransport()" => {
                told("takes no clients");
                let mut native = self.native.lock().unwrap();
                *native &= Path::new(LATE).exists();
                Value::Null
            }
            "CurrentStreams" => json!([]),
            "rebuild(java.lang.String,java.lang.String,java.lang.String,java.lang.String)" => {
                told(&format!("rebuild {}", item["arguments"]));
                Value::Null
            }
            "GossipRunning" => json!(mode == "NORMAL"),
            "ReleaseVersion" => json!("5.0.5"),
            "LocalHostId" => json!(self.host_id),
            "SchemaVersion" => json!("s1"),
            "AllEndpointStatesWithPort" => {
                let own = format!("/{endpoint}\n  SCHEMA:1:s1\n  DC:2:dc1\n");
                let there = std::fs::read_to_string(ELSEWHERE)
                    .map(|_| "/10.96.0.99:7000\n  SCHEMA:1:s1\n  DC:2:dc2\n".to_string());
                json!(own + &there.unwrap_or_default())
            }
            "LiveNodesWithPort" => json!(live),
            "TokenToEndpointWithPortMap" => owners,
            "JoiningNodesWithPort" => json!(fake_load::joining()),
            "UnreachableNodesWithPort" | "LeavingNodesWithPort" | "MovingNodesWithPort" => {
                json!([])
            }
            "EndpointWithPortToHostId" => json!(ids),
            "Tokens" => json!(["1", "2"]),
            "Seeds" => json!(self.seeds()),
            "NonLocalStrategyKeyspaces" => json!(fake_backup::keyspaces(&self.data)),
            "getRangeToEndpointWithPortMap(java.lang.String)" if Path::new(ELSEWHERE).exists() => {
                json!({"[1, 2]": [endpoint, "10.96.0.99:7000"]})
            }
            "getRangeToEndpointWithPortMap(java.lang.String)" => json!({"[1, 2]": [endpoint]}),
            "reloadSeeds()" => json!(self.seeds()),
            "forceKeyspaceFlush(java.lang.String,[Ljava.lang.String;)"
            | "truncate(java.lang.String,java.lang.String)" => Value::Null,
            "takeSnapshot(java.lang.String,java.util.Map,[Ljava.lang.String;)" => {
                told(&format!("snapshot {}", item["arguments"]));
                if let Err(error) = fake_backup::take(&self.data, &item["arguments"]) {
                    return json!({"status": 500, "error": error});
                }
                Value::Null
            }
            "clearSnapshot(java.lang.String,[Ljava.lang.String;)" => {
                told(&format!("clear {}", item["arguments"]));
                fake_backup::clear(&self.data, &item["arguments"]);
                Value::Null
            }
            "drain()" => {
                *self.mode.lock().unwrap() = fake_replay::drained();
                Value::Null
            }
            _ => {
                return json!({"status": 404, "error_type": "javax.management.InstanceNotFoundException", "error": name});
            }
        };
        json!({"status": 200, "value": value})
    }

    fn seeds(&self) -> Vec<String> {
        let yaml: Value =
            serde_yaml::from_str(&std::fs::read_to_string(&self.config).unwrap()).unwrap();
        let list = yaml["seed_provider"][0]["parameters"][0]["seeds"].as_str().unwrap().to_string();
        list.split(',').map(|s| format!("/{s}:7000")).collect()
    }

    async fn clean_up(&self) -> Value {
        told("cleanup");
        *self.cleans.lock().unwrap() = true;
        while *self.cleans.lock().unwrap() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let error = "java.lang.RuntimeException : CompactionInterruptedException: Compaction interrupted: Cleanup(c1)";
        json!({"status": 500, "error": error})
    }

    async fn decommission(&self) -> Value {
        *self.mode.lock().unwrap() = "LEAVING";
        tokio::time::sleep(Duration::from_millis(1500)).await;
        *self.mode.lock().unwrap() = "DECOMMISSIONED";
        json!({"status": 200, "value": null})
    }
}
