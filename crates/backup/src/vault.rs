//! A repository that was opened: its store, its keys, and whose it is. Every
//! object is sealed or none is; what stands there otherwise is refused.

use crate::Random;
use crate::document;
use crate::hash::Hash;
use crate::names::REPOSITORY;
pub use crate::repository::{FORMAT, Repository, Sealing};
use crate::seal::{Fingerprint, Keys, fingerprint};
use crate::store::{Created, Failure, Meta, Store, Undeleted};
use crate::words::trouble::{Torn, Trouble, Wrong};
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// An answer that is lost is asked for again so often.
const TRIES: usize = 3;

/// What became of an object that is written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is there, and as we wrote it: now, or by an earlier try.
    Ours,
    /// Another one was there before.
    Other(Vec<u8>),
}

/// An object as it was written, and the key that it is sealed with.
pub type Opened = (Vec<u8>, Option<Fingerprint>);

/// See the module.
pub struct Vault<'a> {
    store: &'a dyn Store,
    keys: Option<Keys>,
    random: &'a dyn Random,
    repository: Repository,
}

fn failed(doing: &str, name: &str) -> impl FnOnce(Failure) -> Trouble {
    let (doing, name) = (doing.to_string(), name.to_string());
    move |failure| Trouble::Store { doing, name, why: failure.0 }
}

impl<'a> Vault<'a> {
    /// Create a repository, or open it if it is this one.
    ///
    /// # Errors
    /// There is another one, the keys do not fit, or the store failed.
    pub fn create(
        store: &'a dyn Store,
        keys: Option<Keys>,
        random: &'a dyn Random,
        repository: Repository,
    ) -> Result<Self, Trouble> {
        // What stands there is looked at first: a store that overwrites what it should
        // only create must not lose the marker of another ring by our asking.
        let opened = match Self::open(store, keys.clone(), random) {
            Err(Trouble::NoRepository) => {
                let bytes = document::write(&repository)
                    .map_err(|why| Trouble::Document { name: REPOSITORY.into(), why })?;
                // And in either case once more: who is answered knows what others read.
                let put = store.put_if_absent(REPOSITORY, &bytes);
                match (Self::open(store, keys, random), put) {
                    (Err(Trouble::NoRepository), Err(failure)) => {
                        Err(failed("write", REPOSITORY)(failure))
                    }
                    (opened, _) => opened,
                }
            }
            opened => opened,
        }?;
        if opened.repository != repository {
            let (found, expected) = (opened.repository.id, repository.id);
            return Err(Trouble::Foreign { found, expected });
        }
        Ok(opened)
    }

    /// Open the repository of a store.
    ///
    /// # Errors
    /// There is none, it is of another format, the keys do not fit, or the store failed.
    pub fn open(
        store: &'a dyn Store,
        keys: Option<Keys>,
        random: &'a dyn Random,
    ) -> Result<Self, Trouble> {
        let bytes = store.get(REPOSITORY).map_err(failed("read", REPOSITORY))?;
        let bytes = bytes.ok_or(Trouble::NoRepository)?;
        let torn = |torn: Torn| object(REPOSITORY, Wrong::Torn { why: torn.to_string() });
        let (repository, _) = document::read::<Repository>(&bytes).map_err(torn)?;
        if repository.format != FORMAT {
            return Err(Trouble::OtherFormat { format: repository.format });
        }
        match (repository.sealing, &keys) {
            (Sealing::Sealed, None) => Err(Trouble::KeysMissing),
            (Sealing::Plain, Some(_)) => Err(Trouble::NotSealed),
            (Sealing::Sealed, Some(_)) | (Sealing::Plain, None) => {
                Ok(Self { store, keys, random, repository })
            }
        }
    }

    /// Some stores do not know the condition of a create, and overwrite. The marker is
    /// created once more with the bytes that it has, which hurts nobody, and must be refused.
    ///
    /// # Errors
    /// The store creates it again, or failed.
    pub fn try_condition(&self) -> Result<(), Trouble> {
        let there = self.stored(REPOSITORY)?.ok_or(Trouble::NoRepository)?;
        match self.created(REPOSITORY, &there)? {
            Created::Before => Ok(()),
            Created::Now => Err(Trouble::Unsuited),
        }
    }

    /// Whose it is.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Randomness.
    pub fn random(&self) -> &dyn Random {
        self.random
    }

    /// The key that seals; none where nothing is sealed.
    pub fn seals_with(&self) -> Option<Fingerprint> {
        self.keys.as_ref().map(Keys::current)
    }

    /// Is the key there with which an object is sealed? Where all are sealed, it is not known of one
    /// that names none.
    pub fn opens(&self, key: Option<Fingerprint>) -> bool {
        match (&self.keys, key) {
            (None, key) => key.is_none(),
            (Some(keys), Some(key)) => keys.has(key),
            (Some(_), None) => false,
        }
    }

    /// The bytes of an object as they are stored.
    ///
    /// # Errors
    /// The cipher refused.
    pub fn sealed(&self, name: &str, plain: Vec<u8>) -> Result<Vec<u8>, Trouble> {
        let Some(keys) = &self.keys else { return Ok(plain) };
        let sealed = keys.seal(name, &plain, self.random.bytes());
        sealed.map_err(|why| object(name, Wrong::Sealed { why }))
    }

    /// As [`sealed`](Self::sealed), of bytes that are kept: a manifest may be long.
    fn stored_of<'p>(&self, name: &str, plain: &'p [u8]) -> Result<Cow<'p, [u8]>, Trouble> {
        let is_sealed = self.keys.is_some();
        if is_sealed { self.sealed(name, plain.to_vec()).map(Cow::Owned) } else { Ok(plain.into()) }
    }

    /// The bytes of an object as they were written.
    ///
    /// # Errors
    /// They are not what was sealed under this name, or are sealed where they should not be.
    pub fn unsealed(&self, name: &str, stored: Vec<u8>) -> Result<Vec<u8>, Wrong> {
        match &self.keys {
            Some(keys) => keys.open(name, &stored).map_err(|why| Wrong::Sealed { why }),
            // A file that begins like a sealed object is one, in a store that has none.
            None if fingerprint(&stored).is_some() && !name.starts_with(crate::names::SSTABLES) => {
                Err(Wrong::Unsealed)
            }
            None => Ok(stored),
        }
    }

    /// Write an object whose name nobody else uses.
    ///
    /// # Errors
    /// Another one is there, or it is not known whether it was written.
    pub fn write(&self, name: &str, plain: &[u8]) -> Result<(), Trouble> {
        let stored = self.stored_of(name, plain)?;
        match self.put(name, plain, &stored)? {
            Written::Ours => Ok(()),
            Written::Other(_) => Err(Trouble::Taken { name: name.to_string() }),
        }
    }

    /// Write what decides: the first who writes it has decided. It is read back
    /// in any case, so who is answered knows what everybody else reads.
    ///
    /// # Errors
    /// It is not known what stands there.
    pub fn decide(&self, name: &str, plain: &[u8]) -> Result<Written, Trouble> {
        let stored = self.stored_of(name, plain)?;
        let put = self.put(name, plain, &stored)?;
        match self.read(name)? {
            Some(there) if there == plain => Ok(Written::Ours),
            Some(there) => Ok(Written::Other(there)),
            None => match put {
                Written::Other(there) => Ok(Written::Other(there)),
                Written::Ours => Err(object(name, Wrong::Gone)),
            },
        }
    }

    /// Write stored bytes; what was there before is compared.
    ///
    /// # Errors
    /// It is not known whether they were written, or what was there before cannot be read.
    pub fn put(&self, name: &str, plain: &[u8], stored: &[u8]) -> Result<Written, Trouble> {
        match self.created(name, stored)? {
            Created::Now => Ok(Written::Ours),
            Created::Before => match self.read(name)? {
                Some(there) if there == plain => Ok(Written::Ours),
                Some(there) => Ok(Written::Other(there)),
                None => Err(object(name, Wrong::Gone)),
            },
        }
    }

    /// Write stored bytes under a name that nobody else uses; what is there
    /// before is compared byte by byte.
    ///
    /// # Errors
    /// Other bytes are there, or it is not known whether ours were written.
    pub fn put_new(&self, name: &str, stored: &[u8]) -> Result<(), Trouble> {
        match self.created(name, stored)? {
            Created::Now => Ok(()),
            Created::Before => match self.stored(name)? {
                Some(there) if there == stored => Ok(()),
                Some(_) => Err(Trouble::Taken { name: name.to_string() }),
                None => Err(object(name, Wrong::Gone)),
            },
        }
    }

    /// Was it created now, or was one there before? An answer that is lost is asked for
    /// again, so that what was there before may be ours.
    fn created(&self, name: &str, stored: &[u8]) -> Result<Created, Trouble> {
        let mut last = Failure(String::new());
        for _ in 0..TRIES {
            match self.store.put_if_absent(name, stored) {
                Ok(created) => return Ok(created),
                Err(failure) => last = failure,
            }
        }
        Err(failed("write", name)(last))
    }

    /// Read an object; `None` where the store says that there is none.
    ///
    /// # Errors
    /// The store failed, or the object is not what was written.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Trouble> {
        Ok(self.read_with_key(name)?.map(|(plain, _)| plain))
    }

    /// The same, with the key that it is sealed with.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_with_key(&self, name: &str) -> Result<Option<Opened>, Trouble> {
        let Some(stored) = self.stored(name)? else { return Ok(None) };
        let key = self.keys.as_ref().and_then(|_| fingerprint(&stored));
        let plain = self.unsealed(name, stored).map_err(|wrong| object(name, wrong))?;
        Ok(Some((plain, key)))
    }

    /// Read a small object, and its hash.
    ///
    /// # Errors
    /// As [`read`](Self::read); or it is torn.
    pub fn document<T: DeserializeOwned>(&self, name: &str) -> Result<Option<(T, Hash)>, Trouble> {
        let Some(plain) = self.read(name)? else { return Ok(None) };
        let torn = |torn: Torn| object(name, Wrong::Torn { why: torn.to_string() });
        document::read(&plain).map(Some).map_err(torn)
    }

    /// An object as it is stored.
    ///
    /// # Errors
    /// The store failed.
    pub fn stored(&self, name: &str) -> Result<Option<Vec<u8>>, Trouble> {
        self.store.get(name).map_err(failed("read", name))
    }

    /// What is listed of an object.
    ///
    /// # Errors
    /// The store failed.
    pub fn head(&self, name: &str) -> Result<Option<Meta>, Trouble> {
        self.store.head(name).map_err(failed("look at", name))
    }

    /// The objects whose names begin so.
    ///
    /// # Errors
    /// The list is not whole.
    pub fn list(&self, prefix: &str) -> Result<Vec<Meta>, Trouble> {
        self.store.list(prefix).map_err(failed("list", prefix))
    }

    /// The first `most` objects of a folder whose names come after `after`.
    ///
    /// # Errors
    /// The list is not whole up to there.
    pub fn list_after(&self, folder: &str, after: &str, most: usize) -> Result<Vec<Meta>, Trouble> {
        self.store.after(folder, after, most).map_err(failed("list", folder))
    }

    /// The folders of a folder, by name.
    ///
    /// # Errors
    /// The list is not whole.
    pub fn folders(&self, folder: &str) -> Result<Vec<String>, Trouble> {
        self.store.folders(folder).map_err(failed("list", folder))
    }

    /// Delete an object.
    ///
    /// # Errors
    /// It is not known whether it is gone.
    pub fn delete(&self, name: &str) -> Result<(), Trouble> {
        self.store.delete(name).map_err(|undeleted| match undeleted {
            Undeleted::Refused(Failure(why)) => {
                Trouble::Undeletable { name: name.to_string(), why }
            }
            Undeleted::Unknown(failure) => failed("delete", name)(failure),
        })
    }

    /// The time by the store's clock.
    ///
    /// # Errors
    /// The store cannot say.
    pub fn now(&self) -> Result<i64, Trouble> {
        self.store.now().map_err(failed("read the time of", "the store"))
    }
}

/// What is wrong with an object.
pub fn object(name: &str, wrong: Wrong) -> Trouble {
    Trouble::Object { name: name.to_string(), wrong }
}

/// The part that is wrong of trouble with an object.
pub fn wrong(trouble: Trouble) -> Wrong {
    match trouble {
        Trouble::Object { wrong, .. } => wrong,
        other => Wrong::Torn { why: other.to_string() },
    }
}
