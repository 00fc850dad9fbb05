//! Stands for the JVM of a server that is its own ensemble: understands the command line
//! that the agent gives it, begins only by `initialize`, leaves the files that ZooKeeper
//! leaves, and answers what an agent asks.

use palladion_agent_zookeeper::wire::jute::{Reader, Record, Writer, frame_length};
use palladion_agent_zookeeper::wire::message::{
    ConnectRequest, ConnectResponse, Data, ReplyHeader, RequestHeader, opcode,
};
use std::fs;
use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

/// Beside the dynamic files: its text becomes the configuration of a later version.
pub const LATER: &str = "later";
const VERSION: &str = "100000000";
const LATER_VERSION: &str = "200000000";

struct Server {
    /// Where the dynamic files are.
    conf: PathBuf,
    has_begun: bool,
}

/// Run until killed.
pub fn run(arguments: &[String]) {
    let secrets = arguments.iter().find_map(|argument| argument.strip_prefix('@')).unwrap();
    assert!(fs::read_to_string(secrets).unwrap().contains("superDigest=super:"));
    assert!(arguments.iter().any(|argument| argument == "-Dzookeeper.db.autocreate=false"));
    let zoo_cfg = Path::new(arguments.last().unwrap());
    let text = fs::read_to_string(zoo_cfg).unwrap();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        PathBuf::from(line.unwrap())
    };
    let conf = zoo_cfg.parent().unwrap().to_path_buf();
    let dynamic = fs::read_to_string(value("dynamicConfigFile")).unwrap();
    let has_begun = begins(&value("dataDir"), &value("dataLogDir"));
    if has_begun && !conf.join(format!("zoo.cfg.dynamic.{LATER_VERSION}")).exists() {
        fs::write(conf.join(format!("zoo.cfg.dynamic.{VERSION}")), &dynamic).unwrap();
    }
    println!("INFO  [main] fake server, which serves: {has_begun}");
    let port: u16 = dynamic.trim().rsplit(';').next().unwrap().parse().unwrap();
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    for stream in listener.incoming() {
        let server = Server { conf: conf.clone(), has_begun };
        // Whoever asks may leave in the middle.
        let _ = server.answer(stream.unwrap());
    }
}

/// Without data a server serves nobody, unless it may begin.
fn begins(data: &Path, logs: &Path) -> bool {
    let (data, initialize) = (data.join("version-2"), logs.join("initialize"));
    if data.join("snapshot.0").exists() {
        assert!(!initialize.exists(), "a right to begin is left over");
        return true;
    }
    if fs::remove_file(initialize).is_err() {
        return false;
    }
    fs::create_dir_all(logs.join("version-2")).unwrap();
    fs::write(logs.join("version-2/log.100000001"), "").unwrap();
    fs::create_dir_all(&data).unwrap();
    for (name, text) in [("snapshot.0", "x"), ("currentEpoch", "1"), ("acceptedEpoch", "1")] {
        fs::write(data.join(name), text).unwrap();
    }
    true
}

impl Server {
    fn answer(&self, mut stream: TcpStream) -> Result<()> {
        let mut head = [0; 4];
        stream.read_exact(&mut head)?;
        let text = match &head {
            b"ruok" => "imok".to_string(),
            b"srvr" | b"mntr" if !self.has_begun => {
                "This ZooKeeper instance is not currently serving requests\n".to_string()
            }
            b"srvr" => {
                "Zookeeper version: 3.9.3-x, built on x\nZxid: 0x100000002\nMode: leader\n".into()
            }
            b"mntr" => "zk_znode_count\t5\n".to_string(),
            _ => return self.session(stream, head),
        };
        stream.write_all(text.as_bytes())
    }

    fn session(&self, mut stream: TcpStream, head: [u8; 4]) -> Result<()> {
        let asked = frame(&mut stream, head)?;
        ConnectRequest::read(&mut Reader::new(&asked)).unwrap();
        if !self.has_begun {
            return Ok(());
        }
        let made = ConnectResponse {
            protocol_version: 0,
            timeout_ms: 10_000,
            session_id: 1,
            password: vec![1; 16],
            read_only: false,
        };
        send(&mut stream, |to| made.write(to))?;
        loop {
            let mut head = [0; 4];
            stream.read_exact(&mut head)?;
            let asked = frame(&mut stream, head)?;
            let request = RequestHeader::read(&mut Reader::new(&asked)).unwrap();
            let data = match request.opcode {
                opcode::GET_DATA => Some(self.config().into_bytes()),
                _ => None,
            };
            send(&mut stream, |to| {
                ReplyHeader { xid: request.xid, zxid: 0x1_0000_0002, error: 0 }.write(to);
                if data.is_some() {
                    Data { data }.write(to);
                }
            })?;
            if request.opcode == opcode::CLOSE {
                return Ok(());
            }
        }
    }

    /// The configuration in force, as its node shows it.
    fn config(&self) -> String {
        let later = self.conf.join(LATER);
        if let Ok(text) = fs::read_to_string(&later) {
            fs::write(self.conf.join(format!("zoo.cfg.dynamic.{LATER_VERSION}")), &text).unwrap();
            return format!("{text}version={LATER_VERSION}");
        }
        let text = fs::read_to_string(self.conf.join(format!("zoo.cfg.dynamic.{VERSION}")));
        format!("{}version={VERSION}", text.unwrap())
    }
}

fn frame(stream: &mut TcpStream, head: [u8; 4]) -> Result<Vec<u8>> {
    let mut frame = vec![0; frame_length(head).unwrap()];
    stream.read_exact(&mut frame)?;
    Ok(frame)
}

fn send(stream: &mut TcpStream, write: impl FnOnce(&mut Writer)) -> Result<()> {
    let mut writer = Writer::default();
    write(&mut writer);
    stream.write_all(&writer.frame().unwrap())
}
