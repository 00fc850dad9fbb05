//! A store of objects: S3, Google Cloud Storage or Azure. An object is created by
//! one conditional request, so the store itself sees to it that none is
//! overwritten. What is not known after an answer was lost is said as such; the
//! caller reads back what stands there.

use crate::address::{Bucket, ObjectAddress};
use crate::answers::{failure, is_absent, is_refused};
use crate::clock::Clock;
use crate::connect::client;
use crate::credentials::Credentials;
use crate::settings::Settings;
use futures::future::ready;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
};
use palladion_backup::names::{REPOSITORY, is_object};
use palladion_backup::store::{Created, Failure, Meta, Store, Undeleted};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use tokio::runtime::{Builder, Runtime};

/// A larger object is none of ours: pieces have 32 MiB, the manifest of a member
/// with a million components 150 MB. It is held in memory as a whole.
const LARGEST: u64 = 1024 * 1024 * 1024;

/// Where a list can begin.
#[derive(Clone, Copy, Debug)]
enum Begins {
    /// After any name.
    Anywhere,
    /// With the first one.
    First,
}

/// See the module.
pub struct Objects {
    client: Arc<dyn ObjectStore>,
    clock: Clock,
    address: ObjectAddress,
    /// Has the store refused to create a name twice?
    is_tried: AtomicBool,
    runtime: Option<Runtime>,
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Without waiting: it may end within another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Objects {
    /// A store at this address. Nothing is asked of it yet.
    ///
    /// # Errors
    /// Settings and credentials do not fit.
    pub fn open(
        address: &ObjectAddress,
        settings: &Settings,
        credentials: &Credentials,
    ) -> Result<Self, String> {
        let (client, clock) = client(address, settings, credentials)
            .map_err(|why| format!("cannot open the store {address}: {why}"))?;
        // Last: a runtime must not be dropped within another one, as an error would.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start a thread: {error}"))?;
        let (address, is_tried) = (address.clone(), AtomicBool::new(false));
        Ok(Self { client, clock, address, is_tried, runtime: Some(runtime) })
    }

    /// Do something on the thread of this store, and wait for it: the caller may
    /// be within a runtime of its own.
    fn wait<T: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let ended = || Error::Generic { store: "store", source: "its thread has ended".into() };
        let (send, receive) = mpsc::sync_channel(1);
        let runtime = self.runtime.as_ref().ok_or_else(ended)?;
        runtime.spawn(async move {
            // Nobody waits for it any more.
            let _ = send.send(request.await);
        });
        receive.recv().map_err(|_| ended())?
    }

    /// The name in the bucket.
    fn path(&self, name: &str) -> Result<Path, Failure> {
        match is_object(name) {
            true => self.below(name),
            false => Err(Failure(format!("`{name}` is not the name of an object"))),
        }
    }

    fn below(&self, name: &str) -> Result<Path, Failure> {
        let whole = match self.address.prefix.as_str() {
            "" => name.to_string(),
            prefix => format!("{prefix}/{name}"),
        };
        Path::parse(&whole).map_err(|error| Failure(format!("it has no valid name: {error}")))
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> Result<Created, Failure> {
        let (client, path) = (self.client.clone(), path.clone());
        let payload = PutPayload::from(bytes.to_vec());
        let options = PutOptions::from(PutMode::Create);
        match self.wait(async move { client.put_opts(&path, payload, options).await }) {
            Ok(_) => Ok(Created::Now),
            Err(Error::AlreadyExists { .. }) => Ok(Created::Before),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Some stores do not know the condition and overwrite. It is seen by the
    /// first object that we create: created once more with the same bytes, it must
    /// be refused.
    fn try_condition(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        if self.is_tried.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.create(path, bytes)? {
            Created::Before => {
                self.is_tried.store(true, Ordering::Relaxed);
                Ok(())
            }
            Created::Now => Err(Failure(format!(
                "{} overwrites objects instead of refusing (it ignores If-None-Match: *); use a store or a version of it that honours conditional writes",
                self.address
            ))),
        }
    }

    /// Azure has learnt only with its service version 2026-02-06 where a list should begin
    /// (`startFrom`). Servers that do not know it begin with the first name, or answer with none
    /// at all (apache/arrow-rs-object-store#695, Azure/Azurite#2619): it is not asked for it.
    fn begins(&self) -> Begins {
        match self.address.bucket {
            Bucket::S3 { .. } | Bucket::Gcs { .. } => Begins::Anywhere,
            Bucket::Azure { .. } => Begins::First,
        }
    }

    fn meta_of(&self, path: Path) -> Result<Option<ObjectMeta>, Failure> {
        let client = self.client.clone();
        let found = self.wait(async move {
            match client.head(&path).await {
                // Such an answer has no body: only a GET says what there is none of, the object
                // or its bucket.
                Err(Error::NotFound { .. }) => {
                    client.get_opts(&path, GetOptions::default()).await.map(|answer| answer.meta)
                }
                other => other,
            }
        });
        match found {
            Ok(meta) => Ok(Some(meta)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn meta(&self, of: &ObjectMeta) -> Option<Meta> {
        let name = of.location.as_ref().strip_prefix(&self.address.prefix)?;
        let name = name.trim_start_matches('/').to_string();
        Some(Meta { name, bytes: of.size, modified: of.last_modified.timestamp() })
    }

    /// What went wrong, for people, with the next step.
    fn failure(&self, error: &Error) -> Failure {
        failure(&self.address, error)
    }
}

impl Store for Objects {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        let path = self.path(name)?;
        match self.create(&path, bytes)? {
            Created::Now => {
                self.try_condition(&path, bytes)?;
                Ok(Created::Now)
            }
            // S3 answers 409 too while another request for the name is under way:
            // that is not there before it has ended, and may fail.
            Created::Before => match self.meta_of(path)? {
                Some(_) => Ok(Created::Before),
                None => Err(Failure(format!(
                    "{} answers that it exists, and does not show it; try again",
                    self.address
                ))),
            },
        }
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let (client, path) = (self.client.clone(), self.path(name)?);
        // A body that breaks off is asked for again from there, if it is still the
        // same object (If-Match); the client does that.
        let read = self.wait(async move {
            let answer = client.get_opts(&path, GetOptions::default()).await?;
            let size = answer.meta.size;
            let length = usize::try_from(size).ok().filter(|_| size <= LARGEST);
            let Some(length) = length else {
                return Err(other(format!(
                    "it has {size} bytes, and none of a repository has more than {LARGEST}"
                )));
            };
            let mut bytes = Vec::with_capacity(length);
            let mut parts = answer.into_stream();
            while let Some(part) = parts.try_next().await? {
                if part.len() > length - bytes.len() {
                    return Err(other(format!(
                        "it sends more than the {size} bytes that it announced"
                    )));
                }
                bytes.extend_from_slice(&part);
            }
            match bytes.len() == length {
                true => Ok(bytes),
                false => Err(other(format!("{} bytes came instead of {size}", bytes.len()))),
            }
        });
        match read {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn head(&self, name: &str) -> Result<Option<Meta>, Failure> {
        let there = self.meta_of(self.path(name)?)?;
        Ok(there.and_then(|there| self.meta(&there)))
    }

    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure> {
        // A store lists by folder here; the rest of the prefix is compared by us.
        let folder = prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
        let within = match (folder, self.address.prefix.as_str()) {
            ("", "") => None,
            ("", prefix) => Some(Path::parse(prefix).map_err(|e| Failure(e.to_string()))?),
            (folder, _) => Some(self.below(folder)?),
        };
        let client = self.client.clone();
        let listed =
            self.wait(async move { client.list(within.as_ref()).try_collect::<Vec<_>>().await });
        let listed = listed.map_err(|error| self.failure(&error))?;
        let all = listed.iter().filter_map(|of| self.meta(of));
        let mut all: Vec<Meta> = all.filter(|meta| meta.name.starts_with(prefix)).collect();
        all.sort();
        Ok(all)
    }

    fn after(&self, folder: &str, after: &str, most: usize) -> Result<Vec<Meta>, Failure> {
        let within = self.below(folder.trim_end_matches('/'))?;
        let from = if after.is_empty() { None } else { Some(self.path(after)?) };
        let (client, begins) = (self.client.clone(), self.begins());
        let listed = self.wait(async move {
            let listed = match (&from, begins) {
                (None, _) | (Some(_), Begins::First) => client.list(Some(&within)),
                (Some(from), Begins::Anywhere) => client.list_with_offset(Some(&within), from),
            };
            let is_after = |of: &ObjectMeta| from.as_ref().is_none_or(|from| of.location > *from);
            let listed = listed.try_filter(|of| ready(is_after(of)));
            listed.take(most).try_collect::<Vec<_>>().await
        });
        let listed = listed.map_err(|error| self.failure(&error))?;
        let mut all: Vec<Meta> = listed.iter().filter_map(|of| self.meta(of)).collect();
        all.sort();
        Ok(all)
    }

    fn folders(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let within = self.below(folder.trim_end_matches('/'))?;
        let client = self.client.clone();
        let listed = self.wait(async move { client.list_with_delimiter(Some(&within)).await });
        let listed = listed.map_err(|error| self.failure(&error))?;
        let names = listed.common_prefixes.iter().filter_map(|of| of.filename());
        let mut names: Vec<String> = names.map(str::to_string).collect();
        names.sort();
        Ok(names)
    }

    fn delete(&self, name: &str) -> Result<(), Undeleted> {
        let (client, path) = (self.client.clone(), self.path(name)?);
        match self.wait(async move { client.delete(&path).await }) {
            Ok(()) => Ok(()),
            Err(error) if is_absent(&error) => Ok(()),
            Err(error) if is_refused(&error) => Err(Undeleted::Refused(self.failure(&error))),
            Err(error) => Err(self.failure(&error).into()),
        }
    }

    fn now(&self) -> Result<i64, Failure> {
        self.clock.forget();
        self.meta_of(self.path(REPOSITORY)?)?;
        let unknown = || Failure(format!("{} answers without the header Date", self.address));
        self.clock.read().ok_or_else(unknown)
    }
}

fn other(why: String) -> Error {
    Error::Generic { store: "store", source: why.into() }
}
