//! A store that speaks the protocol of S3: s3s-fs on a directory of the host, which listens in
//! the network of the testbed's control plane, where pods reach it as they reach the API server.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, HttpRequest, HttpResponse};

use palladion_testbed::Cluster;

use crate::bed::Bed;

/// The bucket that exists.
pub const BUCKET: &str = "backups";
/// What is known of who asks.
pub const ID: &str = "AKIDEXAMPLE";
/// What proves it.
pub const SECRET: &str = "secret-of-a-test";

/// What a story sets of it, and reads.
#[derive(Debug, Default)]
struct Wishes {
    is_away: AtomicBool,
    requests: AtomicU64,
}

/// The store. It goes with the process that has made it.
pub struct S3 {
    root: tempfile::TempDir,
    address: SocketAddrV4,
    wishes: Arc<Wishes>,
}

impl S3 {
    /// A store with an empty bucket, on a testbed.
    ///
    /// # Errors
    /// There is no port for it.
    pub fn on(cluster: &Cluster) -> Result<Self> {
        let root = tempfile::tempdir().context("making the directory of a store")?;
        std::fs::create_dir(root.path().join(BUCKET)).context("making a bucket")?;
        let site = cluster.site();
        let listener = listen(&site.network.control_plane(), site.plan.control_plane())?;
        let port = listener.local_addr().context("reading a port")?.port();
        let address = SocketAddrV4::new(site.plan.control_plane(), port);
        let wishes = Arc::new(Wishes::default());
        let mut service = S3ServiceBuilder::new(
            s3s_fs::FileSystem::new(root.path())
                .map_err(|why| anyhow::anyhow!("opening a store: {why:?}"))?,
        );
        service.set_auth(SimpleAuth::from_single(ID, SECRET));
        let (service, of_server) = (service.build(), wishes.clone());
        std::thread::Builder::new()
            .name("s3".into())
            .spawn(move || run(listener, &service, &of_server))
            .context("starting a store")?;
        Ok(Self { root, address, wishes })
    }

    /// The files of the bucket: what really is in the store.
    pub fn bucket(&self) -> PathBuf {
        self.root.path().join(BUCKET)
    }

    /// Where pods reach it.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where this process reaches it.
    ///
    /// # Errors
    /// The port cannot be forwarded.
    pub fn forwarded(&self, bed: &Bed) -> Result<String> {
        Ok(format!("http://127.0.0.1:{}", bed.cluster.forward(self.address)?))
    }

    /// From now on it answers everybody with 503, or does not any more.
    pub fn is_away(&self, is_away: bool) {
        self.wishes.is_away.store(is_away, Ordering::SeqCst);
    }

    /// So many requests it has had.
    pub fn requests(&self) -> u64 {
        self.wishes.requests.load(Ordering::SeqCst)
    }

    /// Bytes of all objects whose names begin with this.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn bytes_under(&self, prefix: &str) -> Result<u64> {
        bytes(&self.bucket().join(prefix))
    }

    /// All objects whose names begin with this, without it.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn objects_under(&self, prefix: &str) -> Result<BTreeSet<String>> {
        let root = self.bucket().join(prefix);
        let mut names = BTreeSet::new();
        each_file(&root, &mut |file| {
            let name = file.strip_prefix(&root).context("reading a name")?;
            names.insert(name.to_string_lossy().into_owned());
            Ok(())
        })?;
        Ok(names)
    }

    /// Every object is as old as if this time had passed: for whoever asks the store how old one
    /// is, its clock is so far ahead.
    ///
    /// # Errors
    /// A time cannot be set.
    pub fn ages(&self, by: Duration) -> Result<()> {
        each_file(&self.bucket(), &mut |file| {
            let open = File::options().write(true).open(file).context("opening an object")?;
            let written = open.metadata().and_then(|about| about.modified());
            let written = written.context("reading the time of an object")?;
            open.set_modified(written - by).context("setting the time of an object")
        })
    }

    /// The credentials that it knows, as a directory of files.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn credentials(&self) -> Result<tempfile::TempDir> {
        let folder = tempfile::tempdir().context("making a directory")?;
        for (name, text) in [("accessKeyId", ID), ("secretAccessKey", SECRET)] {
            std::fs::write(folder.path().join(name), text).context("writing a credential")?;
        }
        Ok(folder)
    }
}

/// A socket belongs to the namespace in which it was made, whoever accepts from it later.
fn listen(namespace: &str, address: Ipv4Addr) -> Result<TcpListener> {
    let path = Path::new("/run/netns").join(namespace);
    let making = std::thread::spawn(move || -> Result<TcpListener> {
        let there = File::open(&path).with_context(|| format!("opening {}", path.display()))?;
        let network = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(std::os::fd::AsFd::as_fd(&there), network)
            .context("entering the network of the control plane")?;
        TcpListener::bind((address, 0)).context("opening a port")
    });
    making.join().expect("opening a port should not panic")
}

fn run(listener: TcpListener, service: &S3Service, wishes: &Arc<Wishes>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("should build: nothing was asked of it");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("a socket of our own");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a socket of our own");
        while let Ok((stream, _)) = listener.accept().await {
            // Or each small answer waits for the delayed acknowledgement of the one before.
            let _ = stream.set_nodelay(true);
            let (service, wishes) = (service.clone(), wishes.clone());
            tokio::spawn(async move {
                let answer = hyper::service::service_fn(
                    move |request: HttpRequest<hyper::body::Incoming>| {
                        let (service, wishes) = (service.clone(), wishes.clone());
                        async move { answer(&service, &wishes, request.map(Body::from)).await }
                    },
                );
                let server = auto::Builder::new(TokioExecutor::new());
                // A client that is killed breaks off its connection.
                let _ = server.serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
}

async fn answer(
    service: &S3Service,
    wishes: &Wishes,
    request: HttpRequest,
) -> std::io::Result<HttpResponse> {
    wishes.requests.fetch_add(1, Ordering::SeqCst);
    if wishes.is_away.load(Ordering::SeqCst) {
        let mut answer = HttpResponse::new(Body::from(
            "<Error><Code>ServiceUnavailable</Code><Message>away</Message></Error>".to_string(),
        ));
        *answer.status_mut() = hyper::StatusCode::SERVICE_UNAVAILABLE;
        return Ok(answer);
    }
    let answer = service.call(request).await;
    answer.map_err(|error| std::io::Error::other(format!("{error:?}")))
}

fn bytes(path: &Path) -> Result<u64> {
    let mut sum = 0;
    each_file(path, &mut |file| {
        sum += file.metadata().context("looking at an object")?.len();
        Ok(())
    })?;
    Ok(sum)
}

/// Of a folder that is not there, there is none.
fn each_file(path: &Path, of: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("listing {}", path.display())),
    };
    for entry in entries {
        let path = entry.context("listing a bucket")?.path();
        if path.is_dir() { each_file(&path, of)? } else { of(&path)? }
    }
    Ok(())
}
