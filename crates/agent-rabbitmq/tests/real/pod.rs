//! A pod on this machine: namespaces for its network, its processes and its mounts, with
//! init as process 1, and the directories of its volume. To kill process 1 ends all of it.

use super::network;
use super::processes::{self, signal};
use palladion_api::rabbitmq::{
    AGENT_PASSWORD_KEY, COOKIE_KEY, PASSWORD_KEY, PartitionHandling, RABBITMQ_CONFIG_FILE,
    RabbitmqPorts, RabbitmqServerConfig, USERNAME_KEY, rabbitmq_settings,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What this program can be in a pod.
pub const VERBS: [&str; 3] = ["init", "agent", "drain"];
/// The user of the Secret.
pub const USER: (&str, &str) = ("contrail", "user-secret");
/// Each pod has a number of its own, by which its end of the network is named.
static PODS: AtomicU32 = AtomicU32::new(1);
/// A node ends within ten seconds, and on a busy machine later.
const END: Duration = Duration::from_secs(120);
/// Port of probes and metrics.
const HTTP: u16 = 8080;
/// In the pod's own mounts all members have names, as a headless Service gives them.
const START: &str = "read go; mount --bind \"$HOSTS\" /etc/hosts; exec \"$0\" init </dev/null";

/// Which pod, and where.
pub struct Place<'a> {
    /// Name of pod and member.
    pub name: &'a str,
    /// Its address.
    pub address: &'a str,
    /// The volume.
    pub volume: &'a Path,
    /// The programs of RabbitMQ.
    pub bin: &'a Path,
    /// The API server.
    pub api: &'a str,
    /// Names and addresses of all members.
    pub hosts: &'a Path,
}

pub struct Pod {
    outer: Child,
    init: u32,
    address: String,
    number: u32,
    pub uid: String,
    directory: PathBuf,
    environment: Vec<(String, String)>,
}

/// The operator's configuration.
fn config() -> String {
    let ports = RabbitmqPorts::default();
    let of_user = [("disk_free_limit.absolute", "50MB"), ("net_ticktime", "15")];
    let of_user: BTreeMap<String, String> =
        of_user.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    let config = RabbitmqServerConfig {
        version: "3.10.8".into(),
        cluster: "rmq".into(),
        ports,
        settings: rabbitmq_settings(&of_user, ports, PartitionHandling::PauseMinority),
        plugins: vec!["rabbitmq_management".into()],
        vhost: "/".into(),
        hand_over_seconds: 20,
    };
    json!(config).to_string()
}

impl Pod {
    /// Start one. `scratch` outlives it: the log is there.
    pub fn start(place: &Place<'_>, scratch: &Path) -> Self {
        let number = PODS.fetch_add(1, Ordering::Relaxed);
        let uid = format!("pod-{number}");
        let directory = scratch.join(&uid);
        for name in ["run", "tmp", "etc", "secret", "definitions"] {
            fs::create_dir_all(directory.join(name)).unwrap();
        }
        fs::create_dir_all(place.volume.join("rabbitmq")).unwrap();
        fs::write(directory.join("etc").join(RABBITMQ_CONFIG_FILE), config()).unwrap();
        for (key, text) in [
            (COOKIE_KEY, "PALLADIONTEST"),
            (AGENT_PASSWORD_KEY, "agent-secret"),
            (USERNAME_KEY, USER.0),
            (PASSWORD_KEY, USER.1),
        ] {
            fs::write(directory.join("secret").join(key), text).unwrap();
        }
        let log = fs::File::create(directory.join("log")).unwrap();
        let environment = environment(place, &uid, &directory);
        let mut outer = Command::new("unshare")
            .args(["--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "--"])
            .args(["sh", "-c", START])
            .arg(std::env::current_exe().unwrap())
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let init = child_of(outer.id());
        network::tie(init, number, place.address);
        let mut go = outer.stdin.take().unwrap();
        go.write_all(b"go\n").unwrap();
        Self { outer, init, address: place.address.into(), number, uid, directory, environment }
    }

    /// What the preStop hook is told.
    pub fn drain(&self) -> String {
        let mut enter = Command::new("nsenter");
        enter
            .args(["-t", &self.init.to_string(), "-n", "-p", "-m", "--"])
            .arg(std::env::current_exe().unwrap())
            .arg("drain")
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        String::from_utf8(enter.output().unwrap().stdout).unwrap()
    }

    /// Call a program of RabbitMQ in it, as a person would who looks.
    pub fn call(&self, bin: &Path, program: &str, arguments: &[&str], node: &str) -> String {
        let home = self.value("PALLADION_RABBITMQ_DATA");
        let mut enter = Command::new("nsenter");
        enter
            .args(["-t", &self.init.to_string(), "-n", "-p", "-m", "--"])
            .arg(bin.join(program))
            .args(["--quiet", "--longnames", "--node", node])
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", home)
            .env("LANG", "C.UTF-8");
        let output = enter.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        said + &String::from_utf8_lossy(&output.stderr)
    }

    fn value(&self, name: &str) -> &str {
        let found = self.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap()
    }

    /// End it as a kubelet does.
    pub fn end(mut self) {
        signal(self.init, "TERM");
        let until = Instant::now() + END;
        while self.outer.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it does not end\n{}", self.log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// End all of it at once, as a machine does that loses its power.
    pub fn kill(self) {
        drop(self);
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// The virtual machine of the node.
    pub fn node(&self) -> Option<u32> {
        processes::child_of(self.init, "\0rabbit\0boot")
    }

    pub fn agent(&self) -> Option<u32> {
        processes::child_of(self.init, "\0agent")
    }

    /// The code and text of a probe, or of the metrics.
    pub fn get(&self, path: &str) -> (u16, String) {
        processes::get((self.address.as_str(), HTTP), path)
    }
}

fn environment(place: &Place<'_>, uid: &str, directory: &Path) -> Vec<(String, String)> {
    let at = |path: PathBuf| path.display().to_string();
    let all = [
        ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin".to_string()),
        ("HOSTS", place.hosts.display().to_string()),
        ("POD_NAME", place.name.into()),
        ("POD_NAMESPACE", "test".into()),
        ("POD_UID", uid.into()),
        ("NODE_NAME", "n1".into()),
        ("POD_REVISION", "r1".into()),
        ("PALLADION_CONFIG_DIR", at(directory.join("etc"))),
        ("PALLADION_DATA_ROOT", place.volume.display().to_string()),
        ("PALLADION_RABBITMQ_DATA", at(place.volume.join("rabbitmq"))),
        ("PALLADION_RABBITMQ_CREDENTIALS", at(directory.join("secret"))),
        ("PALLADION_RABBITMQ_DEFINITIONS", at(directory.join("definitions"))),
        ("PALLADION_RABBITMQ_BIN", place.bin.display().to_string()),
        ("PALLADION_RUN_DIR", at(directory.join("run"))),
        ("PALLADION_TMP_DIR", at(directory.join("tmp"))),
        ("PALLADION_API_URL", place.api.into()),
    ];
    all.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
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
