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
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, ClientConfig, ClientConnection, DigitallySignedStruct, Error,
    SignatureScheme, StreamOwned,
};
use serde_json::Value;

/// The longest that anybody tries.
const MOST: Duration = Duration::from_secs(900);
/// In the pod of the client: while it is there, tries go on.
const FLAG: &str = "/tmp/hammer";
/// How long an answer is waited for.
const ANSWER: Duration = Duration::from_secs(1);
/// Of the native protocol.
const READY: u8 = 0x02;
const AUTH_SUCCESS: u8 = 0x10;

/// Tries that go on.
pub struct Hammer {
    namespace: &'static str,
    from_pod: JoinHandle<String>,
    forwarded: JoinHandle<Forwarded>,
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
    /// Those through a forwarded port.
    pub forwarded: Forwarded,
}

/// What came of tries through a port that is forwarded into the pod.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Forwarded {
    /// Those that a server answered in CQL, in the clear.
    pub in_the_clear: usize,
    /// Those that were refused because they showed no certificate: the seal alone does that.
    pub sealed: usize,
    /// Those that were asked who they are, and not let in.
    pub kept_out: usize,
    /// Those that were let in.
    pub in_: usize,
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
fn through(namespace: &str, member: &str, ends: &AtomicBool) -> Forwarded {
    let (begun, mut came, tls) = (Instant::now(), Forwarded::default(), whoever_it_is());
    let goes_on = || !ends.load(Ordering::Relaxed) && begun.elapsed() < MOST;
    while goes_on() {
        std::thread::sleep(Duration::from_millis(500));
        let Some((mut child, port)) = forward(namespace, member) else { continue };
        while goes_on() && child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let Some(mut plain) = connected(port) else { break };
            came.in_the_clear += usize::from(matches!(greeted(&mut plain), Greeted::Answered(_)));
            let Some(stream) = connected(port) else { break };
            came.over_tls(stream, &tls);
            std::thread::sleep(Duration::from_millis(100));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
    came
}

impl Forwarded {
    /// Without a certificate, as the user that everybody knows.
    fn over_tls(&mut self, stream: TcpStream, tls: &Arc<ClientConfig>) {
        let name = ServerName::try_from("localhost").expect("a name");
        let connection = ClientConnection::new(tls.clone(), name).expect("a client");
        let mut stream = StreamOwned::new(connection, stream);
        match greeted(&mut stream) {
            Greeted::Answered(READY) => self.in_ += 1,
            Greeted::Answered(_) => {
                let token = b"\0cassandra\0cassandra";
                let mut body = u32::try_from(token.len()).expect("short").to_be_bytes().to_vec();
                body.extend(token);
                match asked(&mut stream, 15, &body) {
                    Greeted::Answered(AUTH_SUCCESS) => self.in_ += 1,
                    Greeted::Answered(_) => self.kept_out += 1,
                    Greeted::Refused | Greeted::Nothing => {}
                }
            }
            Greeted::Refused => self.sealed += 1,
            Greeted::Nothing => {}
        }
    }
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

/// What came of a greeting.
enum Greeted {
    /// An answer in CQL, of this kind.
    Answered(u8),
    /// The server wants a certificate.
    Refused,
    /// Nothing, or nothing of CQL.
    Nothing,
}

fn connected(port: u16) -> Option<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    Some(stream)
}

fn greeted(stream: &mut (impl Read + Write)) -> Greeted {
    asked(stream, 1, b"\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0")
}

fn asked(stream: &mut (impl Read + Write), kind: u8, body: &[u8]) -> Greeted {
    let mut frame = vec![4, 0, 0, 0, kind];
    frame.extend(u32::try_from(body.len()).expect("short").to_be_bytes());
    frame.extend(body);
    let mut header = [0; 9];
    match stream.write_all(&frame).and_then(|()| stream.read_exact(&mut header)) {
        Ok(()) if header[0] & 0x80 != 0 => {
            let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
            let mut rest = vec![0; usize::try_from(length).expect("short").min(4096)];
            let _ = stream.read_exact(&mut rest);
            Greeted::Answered(header[4])
        }
        Ok(()) => Greeted::Nothing,
        Err(error) => match error.get_ref().and_then(|why| why.downcast_ref::<Error>()) {
            Some(Error::AlertReceived(AlertDescription::CertificateRequired)) => Greeted::Refused,
            Some(_) | None => Greeted::Nothing,
        },
    }
}

/// A client that looks at nobody's certificate and shows none.
fn whoever_it_is() -> Arc<ClientConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3 has the alert that tells")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        .with_no_client_auth();
    Arc::new(config)
}

#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _leaf: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
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
