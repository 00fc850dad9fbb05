//! A real etcd beside a testbed, as operators of several regions use one for their lock: on
//! loopback, with TLS, and users with passwords. It is not the etcd of the testbed's Kubernetes,
//! whose program it is.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::pki::Pki;

/// It serves within a second; a busy machine takes longer.
const SERVES: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);
/// Nobody but these tests has it.
const ROOT_PASSWORD: &str = "root-of-the-lock-store";
/// What the users of operators may read and write.
const PREFIX: &str = "/palladion/";

/// An etcd that runs; it ends when it is dropped.
#[derive(Debug)]
pub struct LockStore {
    program: PathBuf,
    directory: PathBuf,
    /// Where it is asked over TLS.
    port: u16,
    /// Where it is set up, in the clear.
    plain: u16,
    child: Option<Child>,
    users: Vec<String>,
}

/// The program, where a testbed was made on this machine before.
///
/// # Errors
/// There is none: `cargo xtask testbed` brings it.
pub fn program() -> Result<PathBuf> {
    let parts = Cache::of_user()?.root().join("parts");
    let entries = fs::read_dir(&parts).with_context(|| format!("reading {}", parts.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path().join("etcd")))
        .filter(|program| program.is_file())
        .collect();
    found.sort();
    found.pop().with_context(|| {
        format!("no etcd in {}: `cargo xtask testbed` builds one", parts.display())
    })
}

impl LockStore {
    /// Start one with its data, its certificates and its log in this directory, for these users.
    /// Each has its name as password.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(program: &Path, directory: &Path, users: &[&str]) -> Result<Self> {
        let pki = Pki::create(&directory.join("pki"))?;
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        pki.server_files("etcd", &["localhost"], &[loopback])?;
        let mut store = Self {
            program: program.to_path_buf(),
            directory: directory.to_path_buf(),
            port: free_port()?,
            plain: free_port()?,
            child: None,
            users: users.iter().map(|user| (*user).to_string()).collect(),
        };
        store.begin()?;
        store.set_up(users)?;
        Ok(store)
    }

    /// Where operators reach it.
    pub fn endpoint(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// A directory as the chart mounts it, for one of its users.
    ///
    /// # Errors
    /// It cannot be written, or there is no such user.
    pub fn credentials(&self, user: &str) -> Result<PathBuf> {
        if !self.users.iter().any(|known| known == user) {
            bail!("the lock store has no user {user}");
        }
        let directory = self.directory.join(format!("credentials-{user}"));
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("ca.crt"), Pki::open(&self.directory.join("pki")).authority()?)?;
        fs::write(directory.join("username"), user)?;
        fs::write(directory.join("password"), user)?;
        Ok(directory)
    }

    /// End it as a loss of power does; its data stays.
    ///
    /// # Errors
    /// It does not end.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Start it again with the data that it has.
    ///
    /// # Errors
    /// It does not start.
    pub fn begin(&mut self) -> Result<()> {
        let log =
            File::options().create(true).append(true).open(self.directory.join("etcd.log"))?;
        let pki = Pki::open(&self.directory.join("pki"));
        let plain = format!("http://127.0.0.1:{}", self.plain);
        let child = Command::new(&self.program)
            .arg(format!("--data-dir={}", self.directory.join("data").display()))
            .arg(format!("--listen-client-urls={},{plain}", self.endpoint()))
            .arg(format!("--advertise-client-urls={}", self.endpoint()))
            .arg("--listen-peer-urls=http://127.0.0.1:0")
            .arg(format!("--cert-file={}", pki.path("etcd.crt")))
            .arg(format!("--key-file={}", pki.path("etcd.key")))
            .args(["--unsafe-no-fsync", "--log-level=warn"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting {}", self.program.display()))?;
        self.child = Some(child);
        let begun = Instant::now();
        // Refused, once it has users: an answer all the same.
        while let Err(error) = self.post("/v3/maintenance/status", None, &json!({})) {
            if let Some(status) = self.child.as_mut().and_then(|child| child.try_wait().ok()?) {
                let log = fs::read_to_string(self.directory.join("etcd.log")).unwrap_or_default();
                bail!("the lock store has ended: {status}: {log}");
            }
            if begun.elapsed() > SERVES {
                return Err(error).context("waiting for the lock store");
            }
            sleep(POLL);
        }
        Ok(())
    }

    /// Its process, where it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// How many connections of others to where operators reach it are open. Its gateway has one
    /// to itself.
    ///
    /// # Errors
    /// The kernel's table cannot be read, or it does not run.
    pub fn connections(&self) -> Result<usize> {
        let table = fs::read_to_string("/proc/net/tcp").context("reading /proc/net/tcp")?;
        let remote = format!(":{:04X}", self.port);
        let own = self.sockets()?;
        let is_of_others = |line: &&str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, _, to, "01", _, _, _, _, _, inode, ..] = words[..] else { return false };
            to.ends_with(&remote) && !own.contains(&format!("socket:[{inode}]"))
        };
        Ok(table.lines().filter(is_of_others).count())
    }

    /// Its own sockets.
    fn sockets(&self) -> Result<Vec<String>> {
        let pid = self.pid().context("the lock store does not run")?;
        let files = fs::read_dir(format!("/proc/{pid}/fd")).context("reading its open files")?;
        let links = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        Ok(links.map(|link| link.to_string_lossy().into_owned()).collect())
    }

    /// The keys that begin so, with their values.
    ///
    /// # Errors
    /// It does not answer.
    pub fn keys(&self, prefix: &str) -> Result<Vec<(String, String)>> {
        let token = self.root_token()?;
        let end = prefix_end(prefix);
        let body = json!({ "key": STANDARD.encode(prefix), "range_end": STANDARD.encode(end) });
        let answer = self.ask("/v3/kv/range", Some(&token), &body)?;
        let text = |value: &Value| {
            let bytes = STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let all = answer["kvs"].as_array().into_iter().flatten();
        Ok(all.map(|kv| (text(&kv["key"]), text(&kv["value"]))).collect())
    }

    fn root_token(&self) -> Result<String> {
        let body = json!({ "name": "root", "password": ROOT_PASSWORD });
        let answer = self.ask("/v3/auth/authenticate", None, &body)?;
        answer["token"].as_str().map(str::to_string).context("root has no token")
    }

    fn set_up(&self, users: &[&str]) -> Result<()> {
        let ask = |path: &str, body: Value| self.ask(path, None, &body).map(drop);
        ask("/v3/auth/user/add", json!({ "name": "root", "password": ROOT_PASSWORD }))?;
        ask("/v3/auth/role/add", json!({ "name": "root" }))?;
        ask("/v3/auth/user/grant", json!({ "user": "root", "role": "root" }))?;
        ask("/v3/auth/role/add", json!({ "name": "locks" }))?;
        let permission = json!({
            "permType": "READWRITE",
            "key": STANDARD.encode(PREFIX),
            "range_end": STANDARD.encode(prefix_end(PREFIX)),
        });
        ask("/v3/auth/role/grant", json!({ "name": "locks", "perm": permission }))?;
        for user in users {
            ask("/v3/auth/user/add", json!({ "name": user, "password": user }))?;
            ask("/v3/auth/user/grant", json!({ "user": user, "role": "locks" }))?;
        }
        ask("/v3/auth/enable", json!({}))
    }

    fn ask(&self, path: &str, token: Option<&str>, body: &Value) -> Result<Value> {
        let (head, body) = self.post(path, token, body)?;
        if !head.contains(" 200 ") {
            bail!("{path}: {head}: {body}");
        }
        serde_json::from_str(&body).with_context(|| format!("reading the answer to {path}: {body}"))
    }

    /// One request in the clear, as the set-up makes them: head and body of the answer.
    fn post(&self, path: &str, token: Option<&str>, body: &Value) -> Result<(String, String)> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.plain))?;
        stream.set_read_timeout(Some(SERVES))?;
        let authorization = token.map(|t| format!("Authorization: {t}\r\n")).unwrap_or_default();
        write!(
            stream,
            "POST {path} HTTP/1.0\r\nHost: localhost\r\n{authorization}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("an answer without a body")?;
        Ok((head.to_string(), body.to_string()))
    }
}

impl Drop for LockStore {
    fn drop(&mut self) {
        // In good order, so that nothing is left of it; what has ended by itself is fine.
        if let Some(mut child) = self.child.take() {
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
            let _ = child.wait();
        }
    }
}

/// The first key behind all that begin so.
fn prefix_end(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("looking for a free port")?;
    Ok(listener.local_addr()?.port())
}
