//! A pod on this machine: directories, ports, init with its agent and server.

use super::fake_api::{FakeApi, Kind};
use super::processes::{self, child_of, signal};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for anything that should happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// Two of the SSTables that tests have fit into a batch, and not three.
const BATCH: u64 = 5_000_000;

const MEMBERS: Kind = Kind { name: "CassandraMember", plural: "cassandramembers" };

pub struct Pod {
    pub api: FakeApi,
    pub directory: tempfile::TempDir,
    pub init: Option<Child>,
    pub http: u16,
    jolokia: u16,
    pub cql: u16,
    revision: &'static str,
}

/// Where the Secret with key and certificate for clients is mounted.
pub const TLS_SECRET: &str = "secrets/client-tls";

fn a_config() -> Value {
    json!({
        "mode": "cassandra", "version": "5.0.5", "ring": "r", "datacenter": "dc1", "rack": "a", "numTokens": 16,
    })
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Pod {
    /// With an API that knows the member, and no container yet.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let pod = Self {
            api: FakeApi::start(MEMBERS, "127.0.0.1"),
            directory,
            init: None,
            http: free_port(),
            jolokia: free_port(),
            cql: free_port(),
            revision: "rev-1",
        };
        pod.lay_out();
        pod.api.change_spec(
            "m-0",
            json!({
                "cluster": "c", "ring": "r", "datacenter": "dc1", "rack": "a", "address": "10.96.0.11",
                "revisions": ["rev-1"], "seeds": ["10.96.0.12"],
            }),
        );
        pod
    }

    /// With its container started.
    pub fn started() -> Self {
        let mut pod = Self::new();
        pod.start();
        pod
    }

    /// Started, and a full member.
    pub fn founded() -> Self {
        Self::started().and_founded()
    }

    /// A full member whose clients come with TLS.
    pub fn founded_with_tls() -> Self {
        let mut pod = Self::new_with_tls();
        pod.start();
        pod.and_founded()
    }

    /// As [`Pod::new`], for clients that come with TLS.
    pub fn new_with_tls() -> Self {
        let pod = Self::new();
        let mut config = a_config();
        config["clientTls"] = json!("Require");
        fs::write(pod.path("etc/server.json"), config.to_string()).unwrap();
        pod.mount_certificate();
        pod
    }

    /// A Secret with a certificate and its key, mounted as it is now.
    fn mount_certificate(&self) {
        let secret = self.path(TLS_SECRET);
        fs::create_dir_all(&secret).unwrap();
        let pair = rcgen::generate_simple_self_signed(vec!["m-0".into()]).unwrap();
        fs::write(secret.join("tls.crt"), pair.cert.pem()).unwrap();
        fs::write(secret.join("ca.crt"), pair.cert.pem()).unwrap();
        fs::write(secret.join("tls.key"), pair.signing_key.serialize_pem()).unwrap();
    }

    /// A full member of a datacenter that was added to a ring: the other member is elsewhere, and
    /// all keyspaces have copies in both.
    pub fn added() -> Self {
        let mut pod = Self::new();
        let mut config = a_config();
        config["opens"] = json!("WhenRebuilt");
        fs::write(pod.path("etc/server.json"), config.to_string()).unwrap();
        let other = pod.path("tmp").join(super::fake_backup::OTHER);
        fs::write(other, "5f3c2b1a-0000-4000-8000-ffffffffffff").unwrap();
        fs::write(pod.path("tmp").join(super::fake_server::ELSEWHERE), "").unwrap();
        pod.start();
        pod.permit("Join", "n-join", "MustBeEmpty");
        pod.wait_for("a full member", |s| s["permit"]["state"] == "Done");
        pod
    }

    fn and_founded(self) -> Self {
        let pod = self;
        pod.permit("Initialize", "n-found", "MustBeEmpty");
        pod.wait_for("a full member", |s| s["permit"]["state"] == "Done");
        pod
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn lay_out(&self) {
        for name in ["data", "run", "tmp", "etc", "shared", "home/lib", "home/conf", "java/bin"] {
            fs::create_dir_all(self.path(name)).unwrap();
        }
        fs::write(self.path("home/lib/jamm-0.4.0.jar"), "").unwrap();
        fs::write(self.path("home/conf/jvm-server.options"), "-ea\n").unwrap();
        fs::write(self.path("home/conf/jvm17-server.options"), "-XX:+UseG1GC\n").unwrap();
        fs::write(self.path("shared/jolokia.jar"), "").unwrap();
        fs::write(self.path("java/release"), "JAVA_VERSION=\"17.0.1\"\n").unwrap();
        // A hard link or a copy, not a symbolic link: the release file is looked for beside the real one.
        let (own, java) = (std::env::current_exe().unwrap(), self.path("java/bin/java"));
        fs::hard_link(&own, &java).or_else(|_| fs::copy(&own, &java).map(drop)).unwrap();
        fs::write(self.path("etc/server.json"), a_config().to_string()).unwrap();
    }

    /// Start the container: process 1 and what follows.
    pub fn start(&mut self) {
        let log = fs::File::options().create(true).append(true).open(self.path("log")).unwrap();
        let address = |port: u16| format!("127.0.0.1:{port}");
        let child = Command::new(env!("CARGO_BIN_EXE_palladion-agent"))
            .arg("init")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("POD_NAME", "m-0")
            .env("POD_NAMESPACE", "test")
            .env("POD_UID", "pod-1")
            .env("POD_IP", "127.0.0.1")
            .env("NODE_NAME", "n1")
            .env("POD_REVISION", self.revision)
            .env("PALLADION_SHARED_DIR", self.path("shared"))
            .env("PALLADION_CONFIG_DIR", self.path("etc"))
            .env("PALLADION_DATA_ROOT", self.path("data"))
            .env("PALLADION_RUN_DIR", self.path("run"))
            .env("PALLADION_TMP_DIR", self.path("tmp"))
            .env("PALLADION_SECRETS_DIR", self.path("secrets"))
            .env("CASSANDRA_HOME", self.path("home"))
            .env("JAVA_HOME", self.path("java"))
            .env("PALLADION_HTTP_ADDRESS", address(self.http))
            .env("PALLADION_JOLOKIA_ADDRESS", address(self.jolokia))
            .env("PALLADION_CQL_PORT", self.cql.to_string())
            .env("PALLADION_API_URL", self.api.url())
            .env("PALLADION_TRUNCATE_SECONDS", "1")
            .env("PALLADION_RESTORE_BATCH_BYTES", BATCH.to_string())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.init = Some(child);
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
        init.kill().unwrap();
        panic!("init did not end in time\n{}", self.log());
    }

    pub fn permit(&self, kind: &str, nonce: &str, data: &str) {
        let volume = self.wait_for("the volume's ID", |s| s["volume"]["volumeID"].is_string())["volume"]["volumeID"].clone();
        self.api.change_spec(
            "m-0",
            json!({"start": {
                "kind": kind, "nonce": nonce, "podUID": "pod-1", "volumeID": volume,
                "reason": "a test", "attempt": 1, "data": data,
            }}),
        );
    }

    /// Wait until the status is as it should be.
    pub fn wait_for(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let status = self.api.status("m-0");
            if holds(&status) {
                return status;
            }
            assert!(
                Instant::now() < until,
                "waited for {what}; status: {status:#}\nlog:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Process ID of init's child whose first arguments hold a word.
    pub fn child(&self, word: &str) -> Option<u32> {
        let init = self.init.as_ref()?.id();
        child_of(init, word)
    }

    /// What the server was told while it ran.
    pub fn told(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("tmp").join(super::fake_server::TOLD));
        text.unwrap_or_default().lines().map(str::to_string).collect()
    }

    pub fn server(&self) -> Option<u32> {
        self.child("CassandraDaemon")
    }

    pub fn agent(&self) -> Option<u32> {
        self.child("palladion-agent\0agent")
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        processes::get(("127.0.0.1", self.http), path)
    }

    /// Run another command of the agent's binary with the container's environment.
    pub fn drain(&self) -> String {
        let environment =
            fs::read(format!("/proc/{}/environ", self.init.as_ref().unwrap().id())).unwrap();
        let text = String::from_utf8(environment).unwrap();
        let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
        let output = Command::new(env!("CARGO_BIN_EXE_palladion-agent"))
            .args(["drain", "--timeout", "10"])
            .env_clear()
            .envs(pairs)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        let server = self.server();
        let agent = self.agent();
        if let Some(mut init) = self.init.take() {
            let _ = init.kill();
            let _ = init.wait();
        }
        for pid in [server, agent].into_iter().flatten() {
            signal(pid, "KILL");
        }
    }
}

pub fn environment(pid: u32) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/environ")).unwrap_or_default())
        .into_owned()
}

pub fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Wait until something holds.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "waited for {what}");
        std::thread::sleep(Duration::from_millis(30));
    }
}
