//! A store that speaks the protocol of S3, within the test: s3s-fs on a directory,
//! reached over HTTP as any other, with what goes wrong before it.

#![allow(dead_code, reason = "each test takes what it needs")]

use super::fault::Faults;
use super::front::{Behind, Front};
use palladion_store::address::{Address, ObjectAddress};
use palladion_store::credentials::Credentials;
use palladion_store::objects::Objects;
use palladion_store::settings::{Addressing, Settings};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{HttpRequest, HttpResponse};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The bucket that exists.
pub const BUCKET: &str = "bucket";
/// What is known of who asks.
pub const ID: &str = "AKIDEXAMPLE";
/// What proves it.
pub const SECRET: &str = "secret-of-a-test";

/// See the module.
pub struct S3 {
    root: tempfile::TempDir,
    front: Front,
    /// What goes wrong.
    pub faults: Arc<Faults>,
}

/// The service, and the directory of its buckets.
#[derive(Clone)]
struct Within(S3Service, PathBuf);

impl Behind for Within {
    async fn call(&self, request: HttpRequest) -> io::Result<HttpResponse> {
        let answer = self.0.call(request).await;
        answer.map_err(|error| io::Error::other(format!("{error:?}")))
    }

    fn forget(&self, path: &str) {
        let _ = std::fs::remove_file(self.1.join(path.trim_start_matches('/')));
    }
}

impl S3 {
    /// A store with an empty bucket.
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root.path()).unwrap());
        service.set_auth(SimpleAuth::from_single(ID, SECRET));
        let front = Front::before(Within(service.build(), root.path().to_path_buf()));
        let faults = front.faults.clone();
        Self { root, front, faults }
    }

    /// The files of the bucket: what really is in the store.
    pub fn bucket(&self) -> PathBuf {
        self.root.path().join(BUCKET)
    }

    /// Where it is reached.
    pub fn endpoint(&self) -> String {
        self.front.endpoint()
    }

    /// How it is reached.
    pub fn settings(&self) -> Settings {
        Settings { addressing: Some(Addressing::Path), ..self.front.settings() }
    }

    /// The store at an address, with the credentials that it knows.
    pub fn open(&self, address: &str) -> Objects {
        Objects::open(&objects(address), &self.settings(), &credentials()).unwrap()
    }
}

/// The address of a store of objects.
pub fn objects(text: &str) -> ObjectAddress {
    match text.parse().unwrap() {
        Address::Objects(address) => address,
        Address::Directory(_) => panic!("{text} is a directory"),
    }
}

/// Those that the store knows.
pub fn credentials() -> Credentials {
    Credentials {
        access_key_id: Some(ID.into()),
        secret_access_key: Some(SECRET.into()),
        ..Credentials::default()
    }
}
