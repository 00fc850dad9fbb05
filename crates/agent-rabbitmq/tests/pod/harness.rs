//! A pod on this machine: directories, ports, init with its agent and node.

use super::fake_api::{FakeApi, Kind};
use super::fake_cli::CALLS;
use super::fake_state::State;
use super::processes::{self, child_of, signal};
use palladion_api::rabbitmq::{
    AGENT_PASSWORD_KEY, COOKIE_KEY, DEFINITIONS_KEY, PASSWORD_KEY, PartitionHandling,
    RABBITMQ_CONFIG_FILE, RabbitmqPorts, RabbitmqServerConfig, USERNAME_KEY, rabbitmq_settings,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for anything that should happen.
const PATIENCE: Duration = Duration::from_secs(90);
const MEMBERS: Kind = Kind { name: "ServiceMember", plural: "servicemembers" };
pub const NAME: &str = "rmq-0";
/// Its name leads to this machine.
pub const NODE: &str = "rabbit@127.0.0.1";
/// Programs that are this one.
pub const PROGRAMS: [&str; 5] =
    ["rabbitmqctl", "rabbitmq-queues", "rabbitmq-streams", "rabbitmq-upgrade", "rabbitmq-plugins"];
pub const SECRETS: [(&str, &str); 4] = [
    (COOKIE_KEY, "COOKIE"),
    (AGENT_PASSWORD_KEY, "agent-secret"),
    (USERNAME_KEY, "contrail"),
    (PASSWORD_KEY, "user-secret"),
];

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
    /// With an API that knows the member, and all that is mounted; its container not started.
    pub fn prepared() -> Self {
        let (api, directory) = (FakeApi::start(MEMBERS, "127.0.0.1"), tempfile::tempdir().unwrap());
        let pod = Self { api, directory, init: None, http: free_port() };
        pod.lay_out();
        pod.spec(json!({
            "system": "RabbitMQ", "cluster": "rmq", "address": "10.96.0.11", "nodeName": NODE,
            "revisions": ["r1"],
        }));
        pod
    }

    pub fn started() -> Self {
        let mut pod = Self::prepared();
        pod.start();
        pod
    }

    /// And its node initialized.
    pub fn initialized() -> Self {
        let pod = Self::started();
        pod.permit("Initialize", "n1", json!([]));
        pod.is_member();
        pod
    }

    /// And its node joined to the cluster of these.
    pub fn joined(others: &[&str]) -> Self {
        let pod = Self::started();
        pod.fake().change(|state| state["joins"] = json!(others));
        pod.permit("Join", "n1", json!(others));
        pod.is_member();
        pod
    }

    fn is_member(&self) {
        self.wait_for("a member", |s| s["permit"]["state"] == "Done");
        self.never_lost();
        self.spec(json!({ "start": null, "volumeID": self.status()["volume"]["volumeID"] }));
        eventually("it is ready", || self.get("/readyz").0 == 200);
    }

    /// No status said that its data is gone: on that word the operator replaces a member.
    pub fn never_lost(&self) {
        let states: Vec<Value> = self
            .api
            .statuses(NAME)
            .into_iter()
            .map(|status| status["volume"]["state"].clone())
            .collect();
        assert!(!states.contains(&json!("Lost")), "{states:?}");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn fake(&self) -> State {
        State::of(&self.path("tmp"))
    }

    fn lay_out(&self) {
        for name in ["volume/rabbitmq", "run", "tmp", "etc", "bin", "secret", "definitions"] {
            fs::create_dir_all(self.path(name)).unwrap();
        }
        let own = std::env::current_exe().unwrap();
        for program in PROGRAMS.into_iter().chain(["rabbitmq-server"]) {
            let to = self.path("bin").join(program);
            fs::hard_link(&own, &to).or_else(|_| fs::copy(&own, &to).map(drop)).unwrap();
        }
        for (key, text) in SECRETS {
            fs::write(self.path("secret").join(key), text).unwrap();
        }
        let definitions = r#"{"queues":[{"name":"defined","vhost":"contrail","durable":true}]}"#;
        fs::write(self.path("definitions").join(DEFINITIONS_KEY), definitions).unwrap();
        let ports = RabbitmqPorts { management: free_port(), ..RabbitmqPorts::default() };
        let settings = rabbitmq_settings(&BTreeMap::new(), ports, PartitionHandling::default());
        let config = RabbitmqServerConfig {
            version: "3.10.8".into(),
            cluster: "rmq".into(),
            ports,
            settings,
            plugins: vec!["rabbitmq_management".into()],
            vhost: "contrail".into(),
            hand_over_seconds: 5,
        };
        fs::write(self.path("etc").join(RABBITMQ_CONFIG_FILE), json!(config).to_string()).unwrap();
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
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("POD_NAME", NAME)
            .env("POD_NAMESPACE", "test")
            .env("POD_UID", "p1")
            .env("NODE_NAME", "n1")
            .env("POD_REVISION", "r1")
            .env("PALLADION_CONFIG_DIR", self.path("etc"))
            .env("PALLADION_DATA_ROOT", self.path("volume"))
            .env("PALLADION_RABBITMQ_DATA", self.path("volume/rabbitmq"))
            .env("PALLADION_RABBITMQ_CREDENTIALS", self.path("secret"))
            .env("PALLADION_RABBITMQ_DEFINITIONS", self.path("definitions"))
            .env("PALLADION_RUN_DIR", self.path("run"))
            .env("PALLADION_TMP_DIR", self.path("tmp"))
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

    /// Kill the container, as a machine that loses its power.
    pub fn kill(&mut self) {
        let children = [self.agent(), self.node()];
        if let Some(mut init) = self.init.take() {
            let _ = init.kill();
            let _ = init.wait();
        }
        children.into_iter().flatten().for_each(|pid| signal(pid, "KILL"));
    }

    pub fn spec(&self, change: Value) {
        self.api.change_spec(NAME, change);
    }

    pub fn status(&self) -> Value {
        self.api.status(NAME)
    }

    pub fn volume_id(&self) -> Value {
        let told = |s: &Value| s["volume"]["volumeID"].is_string();
        self.wait_for("the volume", told)["volume"]["volumeID"].clone()
    }

    pub fn permit(&self, kind: &str, nonce: &str, nodes: Value) {
        self.permit_on("MustBeEmpty", kind, nonce, nodes);
    }

    /// One that says what becomes of the data on the volume.
    pub fn permit_on(&self, data: &str, kind: &str, nonce: &str, nodes: Value) {
        let flags = if kind == "Join" { json!(["quorum_queue"]) } else { json!([]) };
        self.spec(json!({ "start": {
            "kind": kind, "nonce": nonce, "podUID": "p1", "data": data, "attempt": 1,
            "volumeID": self.volume_id(), "reason": "a test", "nodes": nodes, "flags": flags,
        }, "volumeID": self.volume_id() }));
    }

    /// Have an operation carried out; what became of it.
    pub fn operate(&self, id: &str, kind: &str, more: Value) -> Value {
        self.order(id, kind, more);
        self.ended(id)
    }

    pub fn order(&self, id: &str, kind: &str, more: Value) {
        let mut operation = json!({ "id": id, "volumeID": self.volume_id(), "kind": kind });
        operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.spec(json!({ "operation": operation }));
    }

    pub fn ended(&self, id: &str) -> Value {
        let ended = |s: &Value| s["operation"]["id"] == id && s["operation"]["state"] != "Running";
        self.wait_for("the end of the operation", ended)["operation"].clone()
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

    /// The calls of the command line, in order.
    pub fn calls(&self) -> String {
        fs::read_to_string(self.path("tmp").join(CALLS)).unwrap_or_default()
    }

    fn child(&self, word: &str) -> Option<u32> {
        child_of(self.init.as_ref()?.id(), word)
    }

    pub fn node(&self) -> Option<u32> {
        self.child("/rabbitmq-server")
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
        self.kill();
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
