//! The process of a server, and the way to it.

use super::{ACCOUNT, ACCOUNT_KEY, Kind, azure, google};
use crate::support::front::{Behind, bytes};
use crate::support::s3::{ID, SECRET};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use s3s::{Body, HttpRequest, HttpResponse};
use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One in an interpreter takes seconds to start, and more where others want the processor.
const PATIENCE: Duration = Duration::from_secs(300);

/// See the module. It is killed when this goes, or the thread that has started it.
pub struct Process {
    child: Child,
    kind: Kind,
    address: SocketAddr,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Start it, and wait until it listens.
    pub fn start(kind: Kind, folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let said = folder.join("said");
        let data = folder.join("data");
        std::fs::create_dir(&data).unwrap();
        let out = File::create(&said).unwrap();
        let mut command = command(kind, address, &data);
        command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out);
        let mut child = command.spawn().unwrap();
        let begin = Instant::now();
        while TcpStream::connect(address).is_err() {
            let said = || std::fs::read_to_string(&said).unwrap_or_default();
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "{kind:?} has ended: {ended:?}: {}", said());
            if begin.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("{kind:?} does not listen on {address}: {}", said());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { child, kind, address }
    }

    /// What a layer stands before.
    pub fn behind(&self) -> Way {
        Way { kind: self.kind, address: self.address }
    }

    /// Make a bucket, as its administrator would.
    pub fn make_bucket(&self, name: &str) {
        let request = match self.kind {
            Kind::Moto => request("PUT", &format!("/{name}"), ""),
            Kind::Versitygw => signed_by_s3(self.address, name),
            Kind::FakeGcs => request(
                "POST",
                "/storage/v1/b?project=tests",
                &serde_json::json!({"name": name}).to_string(),
            ),
            Kind::Azurite => azure::make_container(self.address, name),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answer = runtime.block_on(self.behind().send(request)).unwrap();
        let status = answer.status();
        let body = runtime.block_on(bytes(answer.into_body())).unwrap();
        assert!(status.is_success(), "{status}: {}", String::from_utf8_lossy(&body));
    }
}

/// A request without anything but its body.
pub fn request(method: &str, path: &str, body: &str) -> HttpRequest {
    let request = hyper::Request::builder().method(method).uri(path);
    request.body(Body::from(body.to_string())).unwrap()
}

/// A request for a bucket, in whose path the signature is.
fn signed_by_s3(address: SocketAddr, bucket: &str) -> HttpRequest {
    use object_store::signer::Signer;
    let client = object_store::aws::AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_region("us-east-1")
        .with_endpoint(format!("http://{address}"))
        .with_allow_http(true)
        .with_access_key_id(ID)
        .with_secret_access_key(SECRET)
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let method = "PUT".parse().unwrap();
    let all = object_store::path::Path::default();
    let url = runtime.block_on(client.signed_url(method, &all, Duration::from_secs(600))).unwrap();
    let mut request = request("PUT", &format!("{}?{}", url.path(), url.query().unwrap()), "");
    request.headers_mut().insert("host", address.to_string().parse().unwrap());
    request
}

/// A file of an installation; a variable says where that is.
fn program(variable: &str, name: &str) -> PathBuf {
    let Some(folder) = std::env::var_os(variable) else {
        panic!(
            "{variable} does not say where the server is: run `cargo xtask soak --stores`, which installs it and runs these tests"
        )
    };
    PathBuf::from(folder).join(name)
}

fn command(kind: Kind, address: SocketAddr, data: &Path) -> Command {
    // With the thread that has started it: a test that is killed leaves no server.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    match kind {
        Kind::Moto => {
            command.arg(program("PALLADION_MOTO", "bin/python3")).args(["-m", "moto.server"]);
            command.args(["-H", &ip, "-p", &port]);
        }
        Kind::Versitygw => {
            command.arg(program("PALLADION_VERSITYGW", "versitygw"));
            command.args(["--quiet", "--access", ID, "--secret", SECRET]);
            command.args(["--port", &address.to_string(), "posix"]).arg(data);
        }
        Kind::FakeGcs => {
            command.arg(program("PALLADION_FAKE_GCS_SERVER", "fake-gcs-server"));
            command.args(["-backend", "filesystem", "-filesystem-root"]).arg(data);
            command.args(["-scheme", "http", "-host", &ip, "-port", &port, "-log-level", "error"]);
            command.args(["-public-host", google::HOST]);
        }
        Kind::Azurite => {
            let main = "node_modules/azurite/dist/src/blob/main.js";
            command.arg("node").arg(program("PALLADION_AZURITE", main));
            command.args(["--silent", "--disableTelemetry", "--blobHost", &ip]);
            command.args(["--blobPort", &port, "--location"]).arg(data);
            command.env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{ACCOUNT_KEY}"));
        }
    }
    command
}

/// The way to a process.
#[derive(Clone, Copy)]
pub struct Way {
    kind: Kind,
    address: SocketAddr,
}

impl Way {
    /// Send a request, and wait for all of its answer.
    pub async fn send(self, request: HttpRequest) -> io::Result<HttpResponse> {
        let (mut head, body) = request.into_parts();
        let host = match self.kind {
            // It is signed.
            Kind::Moto | Kind::Versitygw => None,
            Kind::FakeGcs => Some(google::HOST.to_string()),
            // As with the provider, the account is in the name of the host.
            Kind::Azurite => Some(format!("{ACCOUNT}.blob.core.windows.net")),
        };
        if let Some(host) = host {
            head.headers.insert("host", host.parse().map_err(io::Error::other)?);
        } else if !head.headers.contains_key("host") {
            let host = self.address.to_string().parse().map_err(io::Error::other)?;
            head.headers.insert("host", host);
        }
        // A connection for each: what breaks off is known to be of this request.
        head.headers.insert("connection", hyper::header::HeaderValue::from_static("close"));
        let body = Full::new(Bytes::from(bytes(body).await?));
        let stream = tokio::net::TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(other)?;
        tokio::spawn(connection);
        let answer = sender.send_request(hyper::Request::from_parts(head, body)).await;
        let (mut head, body) = answer.map_err(other)?.into_parts();
        let body = body.collect().await.map_err(other)?.to_bytes();
        head.headers.remove("connection");
        head.headers.remove("transfer-encoding");
        Ok(HttpResponse::from_parts(head, Body::from(body)))
    }
}

fn other(error: hyper::Error) -> io::Error {
    io::Error::other(error)
}

impl Behind for Way {
    async fn call(&self, request: HttpRequest) -> io::Result<HttpResponse> {
        match self.kind {
            Kind::Moto | Kind::Versitygw | Kind::Azurite => self.send(request).await,
            Kind::FakeGcs => google::answer(*self, request).await,
        }
    }

    fn forget(&self, path: &str) {
        panic!("a server of another project keeps {path}");
    }
}
