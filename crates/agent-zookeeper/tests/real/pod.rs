//! A pod on this machine: namespaces for its network and its processes, with init as
//! process 1, and the directories of its volume. To kill process 1 ends all of it.

use super::network;
use super::processes::{self, signal};
use palladion_api::zookeeper::{
    self, ZOOKEEPER_CONFIG_FILE, ZookeeperPorts, ZookeeperServerConfig,
};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What this program can be in a pod.
pub const VERBS: [&str; 3] = ["init", "agent", "drain"];
/// Each pod has a number of its own, by which its end of the network is named.
static PODS: AtomicU32 = AtomicU32::new(1);
/// A server ends within seconds.
const END: Duration = Duration::from_secs(30);
/// Port of probes and metrics.
const HTTP: u16 = 8080;

/// Which pod, and where.
pub struct Place<'a> {
    /// Name of pod and member.
    pub name: &'a str,
    /// Its address.
    pub address: &'a str,
    /// The volume.
    pub volume: &'a Path,
    /// Home of ZooKeeper.
    pub home: &'a Path,
    /// The API server.
    pub api: &'a str,
}

pub struct Pod {
    outer: Child,
    init: u32,
    address: String,
    number: u32,
    pub uid: String,
    directory: PathBuf,
}

/// The operator's configuration, for servers that are small and quick.
fn config() -> String {
    let of_user = [("tickTime", "500"), ("initLimit", "20")];
    let of_user = of_user.map(|(name, value)| (name.to_string(), value.to_string()));
    let config = ZookeeperServerConfig {
        version: "3.9.3".into(),
        cluster: "zk".into(),
        ports: ZookeeperPorts::default(),
        heap_mib: 96,
        settings: zookeeper::settings(&of_user.into()),
        jvm_options: Vec::new(),
    };
    json!(config).to_string()
}

impl Pod {
    /// Start one. `scratch` outlives it: the log is there.
    pub fn start(place: &Place<'_>, scratch: &Path) -> Self {
        let number = PODS.fetch_add(1, Ordering::Relaxed);
        let uid = format!("pod-{number}");
        let directory = scratch.join(&uid);
        for name in ["run", "tmp", "etc"] {
            fs::create_dir_all(directory.join(name)).unwrap();
        }
        for name in ["data", "datalog"] {
            fs::create_dir_all(place.volume.join(name)).unwrap();
        }
        fs::write(directory.join("etc").join(ZOOKEEPER_CONFIG_FILE), config()).unwrap();
        let log = fs::File::create(directory.join("log")).unwrap();
        let program = std::env::current_exe().unwrap();
        let mut outer = Command::new("unshare")
            .args(["--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--", "sh", "-c"])
            .arg("read go; exec \"$0\" init </dev/null")
            .arg(program)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("POD_NAME", place.name)
            .env("POD_NAMESPACE", "test")
            .env("POD_UID", &uid)
            .env("NODE_NAME", "n1")
            .env("POD_REVISION", "r1")
            .env("PALLADION_CONFIG_DIR", directory.join("etc"))
            .env("PALLADION_DATA_ROOT", place.volume)
            .env("PALLADION_ZOOKEEPER_DATA", place.volume.join("data"))
            .env("PALLADION_ZOOKEEPER_LOGS", place.volume.join("datalog"))
            .env("PALLADION_ZOOKEEPER_HOME", place.home)
            .env("PALLADION_RUN_DIR", directory.join("run"))
            .env("PALLADION_TMP_DIR", directory.join("tmp"))
            .env("PALLADION_API_URL", place.api)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let init = child_of(outer.id());
        network::tie(init, number, place.address);
        let mut go = outer.stdin.take().unwrap();
        go.write_all(b"go\n").unwrap();
        Self { outer, init, address: place.address.into(), number, uid, directory }
    }

    /// End it as a kubelet does.
    pub fn end(mut self) {
        signal(self.init, "TERM");
        let until = Instant::now() + END;
        while self.outer.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it does not end\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// End all of it at once, as a node does that loses its power.
    pub fn kill(self) {
        drop(self);
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// Process ID of the child of init whose command line holds a word.
    pub fn child(&self, word: &str) -> Option<u32> {
        processes::child_of(self.init, word)
    }

    pub fn server(&self) -> Option<u32> {
        self.child("QuorumPeerMain")
    }

    pub fn agent(&self) -> Option<u32> {
        self.child("\0agent")
    }

    /// The code and text of a probe, or of the metrics.
    pub fn get(&self, path: &str) -> (u16, String) {
        processes::get((self.address.as_str(), HTTP), path)
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        // Its child goes with it, and all that this has started.
        let _ = self.outer.kill();
        let _ = self.outer.wait();
        network::untie(self.number);
    }
}

fn child_of(pid: u32) -> u32 {
    let until = Instant::now() + END;
    loop {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        if let Some(child) = children.unwrap_or_default().split_whitespace().next() {
            return child.parse().unwrap();
        }
        assert!(Instant::now() < until, "unshare starts nothing");
        std::thread::sleep(Duration::from_millis(10));
    }
}
