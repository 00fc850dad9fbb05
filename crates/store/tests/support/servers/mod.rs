//! Servers of other projects, each a process of its own on the loopback, behind the layer in
//! which things go wrong. `cargo xtask soak --stores` installs them and says where they are.

#![allow(dead_code, reason = "each test takes what it needs")]

mod azure;
mod google;
mod process;

use crate::support::fault::Faults;
use crate::support::front::Front;
use crate::support::s3::{BUCKET, ID, SECRET, objects};
use palladion_store::credentials;
use palladion_store::objects::Objects;
use palladion_store::settings::{Addressing, Patience, Settings};
use process::Process;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The account of Azure that exists.
pub const ACCOUNT: &str = "palladion";
/// Its key: "secret-of-a-test".
pub const ACCOUNT_KEY: &str = "c2VjcmV0LW9mLWEtdGVzdA==";

/// One of the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The protocol of S3, in Python; knows no signatures.
    Moto,
    /// The protocol of S3, in Go, on a directory.
    Versitygw,
    /// Google Cloud Storage, in Go; asks nobody who he is.
    FakeGcs,
    /// Azure Blob Storage, in JavaScript.
    Azurite,
}

/// A test of each server by its name.
#[macro_export]
macro_rules! with_each_server {
    ($($test:ident),+) => {
        $crate::with_each_server!(moto Moto $($test),+);
        $crate::with_each_server!(versitygw Versitygw $($test),+);
        $crate::with_each_server!(fake_gcs_server FakeGcs $($test),+);
        $crate::with_each_server!(azurite Azurite $($test),+);
    };
    ($module:ident $kind:ident $($test:ident),+) => {
        mod $module {
            $(
                #[test]
                #[ignore = "needs servers of other projects: cargo xtask soak --stores"]
                fn $test() {
                    super::$test(&$crate::servers::Server::start($crate::servers::Kind::$kind));
                }
            )+
        }
    };
}

/// A server that runs, with an empty bucket. It ends with this.
pub struct Server {
    /// Which.
    pub kind: Kind,
    front: Front,
    /// What goes wrong.
    pub faults: Arc<Faults>,
    folder: tempfile::TempDir,
    // After the layer before it.
    _process: Process,
}

impl Server {
    /// Start one.
    pub fn start(kind: Kind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let process = Process::start(kind, folder.path());
        process.make_bucket(BUCKET);
        let front = Front::before(process.behind());
        let faults = front.faults.clone();
        let server = Self { kind, front, faults, folder, _process: process };
        server.write_credentials();
        server
    }

    /// Below this prefix of the bucket.
    pub fn address(&self, prefix: &str) -> String {
        self.address_in(BUCKET, prefix)
    }

    /// The same of any bucket.
    pub fn address_in(&self, bucket: &str, prefix: &str) -> String {
        match self.kind {
            Kind::Moto | Kind::Versitygw => format!("s3://{bucket}/{prefix}"),
            Kind::FakeGcs => format!("gs://{bucket}/{prefix}"),
            Kind::Azurite => format!("azure://{ACCOUNT}/{bucket}/{prefix}"),
        }
    }

    /// Where it is reached.
    pub fn endpoint(&self) -> String {
        self.front.endpoint()
    }

    /// Does it speak the protocol of S3?
    pub fn is_s3(&self) -> bool {
        match self.kind {
            Kind::Moto | Kind::Versitygw => true,
            Kind::FakeGcs | Kind::Azurite => false,
        }
    }

    /// Does it look at who asks?
    pub fn knows_who_asks(&self) -> bool {
        match self.kind {
            Kind::Versitygw | Kind::Azurite => true,
            Kind::Moto | Kind::FakeGcs => false,
        }
    }

    /// Does it compare what arrives with the checksum that came with it? The protocol of S3 has
    /// one, of which Moto takes no notice; the two others have none but that of TLS.
    pub fn compares_what_arrives(&self) -> bool {
        match self.kind {
            Kind::Versitygw => true,
            Kind::Moto | Kind::FakeGcs | Kind::Azurite => false,
        }
    }

    /// How it is reached, by whoever does not want to wait long.
    pub fn settings(&self) -> Settings {
        let addressing = self.is_s3().then_some(Addressing::Path);
        Settings { addressing, ..self.front.settings() }
    }

    /// The Secret of its credentials, as it is mounted.
    pub fn credentials(&self) -> PathBuf {
        self.folder.path().join("credentials")
    }

    fn write_credentials(&self) {
        let folder = self.credentials();
        std::fs::create_dir(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        match self.kind {
            Kind::Moto | Kind::Versitygw => {
                write("accessKeyId", ID);
                write("secretAccessKey", SECRET);
            }
            Kind::FakeGcs => write("serviceAccount.json", &google::service_account()),
            Kind::Azurite => write("accountKey", ACCOUNT_KEY),
        }
    }

    /// The store below this prefix.
    pub fn open(&self, prefix: &str) -> Objects {
        self.open_at(&self.address(prefix), &self.settings(), &self.credentials())
    }

    /// The same by somebody who has time: a machine that is busy must not look like a store
    /// that lacks something.
    pub fn patient(&self, prefix: &str) -> Objects {
        let settings = Settings { patience: Patience::default(), ..self.settings() };
        self.open_at(&self.address(prefix), &settings, &self.credentials())
    }

    /// The store at any address.
    pub fn open_at(&self, address: &str, settings: &Settings, folder: &Path) -> Objects {
        let credentials = credentials::read(folder).unwrap();
        Objects::open(&objects(address), settings, &credentials).unwrap()
    }

    /// Every object is so many seconds older than it was.
    pub fn age(&self, seconds: i64) {
        self.front.age(seconds);
    }
}
