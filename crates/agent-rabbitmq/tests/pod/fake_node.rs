//! Stands for a node: understands the environment and the configuration that the agent
//! gives it, leaves the files that RabbitMQ leaves, and serves the pages of the management
//! API that the agent reads.

use super::fake_state::{State, names};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// Beside the data of a node that has ended inside `join_cluster`.
pub const TABLES_OF_OTHERS: &str = "others.DCD";

/// Run until killed.
pub fn run() {
    let own = variable("RABBITMQ_NODENAME");
    assert_eq!(variable("RABBITMQ_USE_LONGNAME"), "true");
    assert_eq!(variable("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS"), "-noinput");
    assert!(!variable("RABBITMQ_ALLOW_INPUT").is_empty());
    let cookie = PathBuf::from(variable("HOME")).join(".erlang.cookie");
    let mode = fs::metadata(&cookie).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "Erlang takes no other cookie");
    let plugins = fs::read_to_string(variable("RABBITMQ_ENABLED_PLUGINS_FILE")).unwrap();
    assert!(plugins.starts_with("[rabbitmq_management"), "{plugins}");
    let conf = fs::read_to_string(variable("RABBITMQ_CONFIG_FILE")).unwrap();
    let value = |name: &str| {
        let line = conf.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        line.map(str::to_string)
    };
    assert_eq!(value("cluster_formation.peer_discovery_backend"), None);
    let state = State::here();
    let data = Path::new(&variable("RABBITMQ_MNESIA_BASE")).join(&own);
    if data.join(TABLES_OF_OTHERS).exists() {
        // As it boots it comes to an end with what was begun, and writes its own file.
        take_in(&data, &state.joined(&own));
        // Its application has yet to write the rest, and agents look meanwhile.
        std::thread::sleep(std::time::Duration::from_secs(2));
    } else if !data.join("schema.DAT").exists() {
        let flags = std::env::var("RABBITMQ_FEATURE_FLAGS").ok();
        state.blank(&own, flags.as_deref());
        take_in(&data, std::slice::from_ref(&own));
    } else {
        state.wait_while_it_hangs();
    }
    start_app(&data, &own);
    let open = value("listeners.tcp.default").is_some();
    assert_eq!(open, value("listeners.tcp").is_none(), "one or the other");
    state.change(|state| {
        (state["app"], state["drained"], state["open"]) = (true.into(), false.into(), open.into())
    });
    println!("[info] <0.9.0> Server startup complete; {open}");
    let port: u16 = value("management.tcp.port").unwrap().parse().unwrap();
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    for stream in listener.incoming() {
        // Without its application, or drained, a node has no listener.
        if state.serves() {
            // Whoever asks may leave in the middle.
            let _ = answer(stream.unwrap(), &own, &state.read());
        }
    }
}

/// The files of a node that was taken into a cluster of these, and of nothing before: its
/// application has not started there.
pub fn take_in(data: &Path, members: &[String]) {
    if data.exists() {
        fs::remove_dir_all(data).unwrap();
    }
    let quoted: Vec<String> = members.iter().map(|name| format!("'{name}'")).collect();
    let list = quoted.join(",");
    write(data.join("schema.DAT"), "x");
    write(data.join("cluster_nodes.config"), &format!("{{[{list}],[{list}]}}.\n"));
}

/// The files that an application makes as it starts.
pub fn start_app(data: &Path, own: &str) {
    write(data.join(format!("quorum/{own}/00000001.wal")), "x");
    write(data.join(format!("coordination/{own}/00000001.wal")), "x");
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn answer(mut stream: TcpStream, own: &str, state: &Value) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut user) = (String::new(), None);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if lower.starts_with("authorization: basic ") {
            user = STANDARD.decode(line["authorization: basic ".len()..].trim()).ok();
        }
    }
    let path = first.split_whitespace().nth(1).unwrap_or_default();
    let (code, body) = match is_known(state, user) {
        false => ("401 Unauthorized", json!({ "error": "not_authorised" })),
        true => page(path, own, state),
    };
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {code}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// One that may read: with its password, and a tag.
fn is_known(state: &Value, user: Option<Vec<u8>>) -> bool {
    let text = user.and_then(|user| String::from_utf8(user).ok()).unwrap_or_default();
    let (name, password) = text.split_once(':').unwrap_or_default();
    state["users"][name] == password && state["tags"][name].is_string()
}

fn page(path: &str, own: &str, state: &Value) -> (&'static str, Value) {
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let away = names(&state["away"]);
    match path {
        "/api/overview" => {
            let listener = |protocol: &str| json!({ "node": own, "protocol": protocol, "ip_address": "::", "port": 1 });
            let mut listeners = vec![listener("clustering"), listener("http")];
            if state["open"] == true {
                listeners.push(listener("amqp"));
            }
            (
                "200 OK",
                json!({
                    "node": own, "rabbitmq_version": "3.10.8", "listeners": listeners,
                    "queue_totals": { "messages_ready": 5 }, "object_totals": { "connections": 2, "queues": 1 },
                }),
            )
        }
        "/api/nodes" => {
            let node = |name: &String| {
                let running = !away.contains(name);
                json!({ "name": name, "running": running, "partitions": [], "mem_alarm": false,
                        "disk_free_alarm": false, "type": "disc" })
            };
            ("200 OK", names(&state["members"]).iter().map(node).collect())
        }
        "/api/health/checks/node-is-quorum-critical"
        | "/api/health/checks/node-is-mirror-sync-critical" => {
            ("200 OK", json!({ "status": "ok", "reason": "single node cluster" }))
        }
        other => panic!("the agent asks for {other}"),
    }
}
