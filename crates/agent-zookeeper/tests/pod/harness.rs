//! A pod on this machine: directories, ports, init with its agent and server.

use super::fake_api::{FakeApi, Kind};
use super::processes::{self, child_of, signal};
use palladion_api::zookeeper::{
    self, ZOOKEEPER_CONFIG_FILE, ZookeeperPorts, ZookeeperServerConfig,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for anything that should happen.
const PATIENCE: Duration = Duration::from_secs(60);
const MEMBERS: Kind = Kind { name: "ServiceMember", plural: "servicemembers" };
pub const NAME: &str = "zk-0";

pub struct Pod {
    pub api: FakeApi,
    pub directory: tempfile::TempDir,
    init: Option<Child>,
    http: u16,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Pod {
    /// With an API that knows the member, and its container started.
    pub fn started() -> Self {
        let (api, directory) = (FakeApi::start(MEMBERS, "127.0.0.1"), tempfile::tempdir().unwrap());
        let mut pod = Self { api, directory, init: None, http: free_port() };
        pod.lay_out();
        pod.spec(json!({
            "system": "ZooKeeper", "cluster": "zk", "address": "10.96.0.11", "serverID": 1,
            "revisions": ["r1"],
        }));
        pod.start();
        pod
    }

    /// And its server initialized.
    pub fn initialized() -> Self {
        let pod = Self::started();
        pod.permit("Initialize", "n1");
        pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
        pod.spec(json!({ "start": null, "volumeID": pod.status()["volume"]["volumeID"] }));
        pod
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn lay_out(&self) {
        for name in ["volume", "run", "tmp", "etc", "home/lib", "java/bin"] {
            fs::create_dir_all(self.path(name)).unwrap();
        }
        fs::write(self.path("home/lib/zookeeper-3.9.3.jar"), "").unwrap();
        let (own, java) = (std::env::current_exe().unwrap(), self.path("java/bin/java"));
        fs::hard_link(&own, &java).or_else(|_| fs::copy(&own, &java).map(drop)).unwrap();
        let config = ZookeeperServerConfig {
            version: "3.9.3".into(),
            cluster: "zk".into(),
            ports: ZookeeperPorts { client: free_port(), ..ZookeeperPorts::default() },
            heap_mib: 96,
            settings: zookeeper::settings(&BTreeMap::new()),
            jvm_options: Vec::new(),
        };
        fs::write(self.path("etc").join(ZOOKEEPER_CONFIG_FILE), json!(config).to_string()).unwrap();
    }

    /// Start the container: process 1 and what follows.
    pub fn start(&mut self) {
        let log = fs::File::options().create(true).append(true).open(self.path("log")).unwrap();
        let mut command = self.command("init");
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.init = Some(command.spawn().unwrap());
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .arg(verb)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("POD_NAME", NAME)
            .env("POD_NAMESPACE", "test")
            .env("POD_UID", "p1")
            .env("NODE_NAME", "n1")
            .env("POD_REVISION", "r1")
            .env("PALLADION_CONFIG_DIR", self.path("etc"))
            .env("PALLADION_DATA_ROOT", self.path("volume"))
            .env("PALLADION_ZOOKEEPER_DATA", self.path("volume/data"))
            .env("PALLADION_ZOOKEEPER_LOGS", self.path("volume/datalog"))
            .env("PALLADION_ZOOKEEPER_HOME", self.path("home"))
            .env("PALLADION_RUN_DIR", self.path("run"))
            .env("PALLADION_TMP_DIR", self.path("tmp"))
            .env("JAVA_HOME", self.path("java"))
            .env("PALLADION_HTTP_ADDRESS", format!("127.0.0.1:{}", self.http))
            .env("PALLADION_API_URL", self.api.url());
        command
    }

    /// What the preStop hook is told.
    pub fn drain(&self) -> String {
        let output = self.command("drain").output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }

    /// End the container as a kubelet does; its exit code.
    pub fn end(&mut self) -> Option<i32> {
        let mut init = self.init.take()?;
        signal(init.id(), "TERM");
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = init.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        self.init = Some(init);
        panic!("init did not end in time\n{}", self.log());
    }

    pub fn spec(&self, change: Value) {
        self.api.change_spec(NAME, change);
    }

    pub fn status(&self) -> Value {
        self.api.status(NAME)
    }

    pub fn permit(&self, kind: &str, nonce: &str) {
        let status = self.wait_for("the volume", |s| s["volume"]["volumeID"].is_string());
        self.spec(json!({ "start": {
            "kind": kind, "nonce": nonce, "podUID": "p1", "data": "MustBeEmpty", "attempt": 1,
            "volumeID": status["volume"]["volumeID"], "reason": "a test", "peers": [],
        } }));
    }

    pub fn wait_for(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let status = self.status();
            if holds(&status) {
                return status;
            }
            let log = || self.log();
            assert!(Instant::now() < until, "waited for {what}: {status:#}\nlog:\n{}", log());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    fn child(&self, word: &str) -> Option<u32> {
        child_of(self.init.as_ref()?.id(), word)
    }

    pub fn server(&self) -> Option<u32> {
        self.child("QuorumPeerMain")
    }

    pub fn agent(&self) -> Option<u32> {
        self.child("\0agent")
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        processes::get(("127.0.0.1", self.http), path)
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        let children = [self.server(), self.agent()];
        if let Some(mut init) = self.init.take() {
            let _ = init.kill();
            let _ = init.wait();
        }
        children.into_iter().flatten().for_each(|pid| signal(pid, "KILL"));
    }
}

/// Wait until something holds.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "waited for {what}");
        std::thread::sleep(Duration::from_millis(30));
    }
}
