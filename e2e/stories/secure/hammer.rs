//! Somebody who tries to get in, from before the first pod until the ring serves and after: in the
//! clear and over TLS, without a name and as the user that everybody knows, from a pod and through
//! a port that is forwarded into the pod of a member.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use palladion_e2e::bed;
use serde_json::Value;

/// The longest that anybody tries.
const MOST: Duration = Duration::from_secs(900);
/// In the pod of the client: while it is there, tries go on.
const FLAG: &str = "/tmp/hammer";
/// How long an answer is waited for.
const ANSWER: Duration = Duration::from_secs(1);
/// Of the native protocol: READY and AUTHENTICATE.
const IN_THE_CLEAR: [u8; 2] = [0x02, 0x03];

/// Tries that go on.
pub struct Hammer {
    namespace: &'static str,
    from_pod: JoinHandle<String>,
    forwarded: JoinHandle<(usize, usize)>,
    ends: Arc<AtomicBool>,
}

/// What came of them.
#[derive(Debug)]
pub struct Came {
    /// Tries that a server answered in CQL, in the clear.
    pub in_the_clear: u64,
    /// Those that met TLS and were not let in.
    pub kept_out: u64,
    /// Those that were let in.
    pub in_: u64,
    /// Connections through a forwarded port, and those of them answered in the clear.
    pub forwarded: (usize, usize),
}

impl Hammer {
    /// Begin, with the client's pod running: at these Services, and through `member`.
    pub fn begin(namespace: &'static str, services: &[String], member: &str) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let touched = ["/bin/busybox", "touch", FLAG];
        palladion_e2e::wait_for("the client to answer", Duration::from_secs(90), || {
            bed().exec(namespace, "client", &touched).map(Some)
        })
        .expect("the pod of the client");
        let services = services.join(",");
        let seconds = MOST.as_secs().to_string();
        let from_pod = std::thread::spawn(move || {
            let command = ["python3", "-c", PROGRAM, FLAG, &seconds, &services];
            bed().exec(namespace, "client", &command).expect("tries from a pod")
        });
        let (member, until) = (member.to_string(), ends.clone());
        let forwarded = std::thread::spawn(move || through(namespace, &member, &until));
        Self { namespace, from_pod, forwarded, ends }
    }

    /// End, and say what came of it.
    pub fn end(self) -> Came {
        self.ends.store(true, Ordering::Relaxed);
        let removed = ["/bin/busybox", "rm", "-f", FLAG];
        bed().exec(self.namespace, "client", &removed).expect("the flag is removed");
        let said = self.from_pod.join().expect("the tries from a pod");
        let counted: Value = serde_json::from_str(said.trim()).expect("counts");
        let count = |name: &str| counted[name].as_u64().expect("a count");
        Came {
            in_the_clear: count("clear"),
            kept_out: count("kept out"),
            in_: count("in"),
            forwarded: self.forwarded.join().expect("the tries through a port"),
        }
    }
}

/// Through ports that are forwarded to a pod as long as it lives.
fn through(namespace: &str, member: &str, ends: &AtomicBool) -> (usize, usize) {
    let (begun, mut counts) = (Instant::now(), (0, 0));
    let goes_on = || !ends.load(Ordering::Relaxed) && begun.elapsed() < MOST;
    while goes_on() {
        std::thread::sleep(Duration::from_millis(500));
        let Some((mut child, port)) = forward(namespace, member) else { continue };
        while goes_on() && child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let Some(answer) = greeted(port) else { break };
            counts.0 += 1;
            counts.1 += usize::from(answer.is_some_and(|kind| IN_THE_CLEAR.contains(&kind)));
            std::thread::sleep(Duration::from_millis(100));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
    counts
}

fn forward(namespace: &str, member: &str) -> Option<(Child, u16)> {
    let site = bed().cluster.site();
    let mut child = Command::new(site.parts.program("kubectl"))
        .arg("--kubeconfig")
        .arg(site.kubeconfig("admin"))
        .args(["port-forward", "-n", namespace, &format!("pod/{member}"), ":9042"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut line = String::new();
    let output = child.stdout.take()?;
    let _ = BufReader::new(output).read_line(&mut line);
    let port =
        line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    if port.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    Some((child, port?))
}

/// A greeting in the clear: what kind of answer came, if one did; `None` without a connection.
fn greeted(port: u16) -> Option<Option<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    let body = b"\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0";
    let mut frame = vec![4, 0, 0, 0, 1, 0, 0, 0, u8::try_from(body.len()).ok()?];
    frame.extend(body);
    let mut header = [0; 9];
    let answer = stream.write_all(&frame).and_then(|()| stream.read_exact(&mut header));
    Some(answer.ok().map(|()| header[4]).filter(|_| header[0] & 0x80 != 0))
}

const PROGRAM: &str = r#"
import json, os, socket, ssl, struct, sys, time
flag, seconds, services = sys.argv[1], float(sys.argv[2]), sys.argv[3].split(',')
counts = {'clear': 0, 'kept out': 0, 'in': 0}
def frame(kind, body):
    return struct.pack('>BBHBI', 4, 0, 0, kind, len(body)) + body
def answer(stream):
    header = b''
    while len(header) < 9:
        part = stream.recv(9 - len(header))
        if not part:
            return None
        header += part
    length = struct.unpack('>I', header[5:9])[0]
    while length > 0:
        part = stream.recv(min(length, 4096))
        if not part:
            return None
        length -= len(part)
    return header[4] if header[0] & 0x80 else None
def greet(stream):
    stream.sendall(frame(1, b'\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0'))
    kind = answer(stream)
    if kind != 3:
        return kind, kind == 2
    token = b'\x00cassandra\x00cassandra'
    stream.sendall(frame(15, struct.pack('>i', len(token)) + token))
    return kind, answer(stream) == 16
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
end = time.time() + seconds
while os.path.exists(flag) and time.time() < end:
    for service in services:
        for encrypted in (False, True):
            try:
                stream = socket.create_connection((service, 9042), 1)
            except OSError:
                continue
            try:
                stream.settimeout(1)
                if encrypted:
                    stream = context.wrap_socket(stream)
                kind, is_in = greet(stream)
                if is_in:
                    counts['in'] += 1
                elif encrypted:
                    counts['kept out'] += 1
                elif kind in (2, 3):
                    counts['clear'] += 1
            except (OSError, ValueError):
                pass
            finally:
                stream.close()
    time.sleep(0.02)
print(json.dumps(counts))
"#;
