//! What is asked of a store. Names are written once: nothing is ever overwritten.

#[cfg(any(test, feature = "sim"))]
pub mod memory;

/// An object, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meta {
    /// Its name.
    pub name: String,
    /// Its length in the store.
    pub bytes: u64,
    /// When it was written, by the store's clock, in seconds since 1970.
    pub modified: i64,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// The object is new.
    Now,
    /// There was one of this name before, and it is unchanged. Whose it is, and
    /// whether it is the same, is for the caller to compare.
    Before,
}

/// The store did not answer, or refused. What was asked may have been done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

/// An object was not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undeleted {
    /// The store does not let us: a right is missing. It is there.
    Refused(Failure),
    /// It is not known whether it is gone.
    Unknown(Failure),
}

impl From<Failure> for Undeleted {
    fn from(failure: Failure) -> Self {
        Self::Unknown(failure)
    }
}

/// A store of objects.
pub trait Store {
    /// Write an object, unless there is one of this name. The object is there as
    /// a whole and for good when this returns.
    ///
    /// # Errors
    /// It is not known whether it was written.
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure>;

    /// Read an object; `None` where the store answers that there is none.
    ///
    /// # Errors
    /// It is not known whether there is one.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure>;

    /// What is listed of one object, asked by its name.
    ///
    /// # Errors
    /// It is not known whether there is one.
    fn head(&self, name: &str) -> Result<Option<Meta>, Failure>;

    /// All objects whose names begin so, sorted by name. One that was written a
    /// moment ago may be missing, one that was deleted a moment ago listed.
    ///
    /// # Errors
    /// The list is not whole.
    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure>;

    /// As [`list`](Self::list), of those in a folder, which ends with `/`: the first `most` whose
    /// names come after `after`. For folders that are longer than should be held at a time.
    ///
    /// # Errors
    /// The list is not whole up to there.
    fn after(&self, folder: &str, after: &str, most: usize) -> Result<Vec<Meta>, Failure> {
        let mut all = self.list(folder)?;
        all.retain(|meta| meta.name.as_str() > after);
        all.truncate(most);
        Ok(all)
    }

    /// The folders in a folder, which ends with `/`, by name, each without it.
    ///
    /// # Errors
    /// The list is not whole.
    fn folders(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let all = self.list(folder)?;
        let within = all.iter().filter_map(|meta| meta.name.strip_prefix(folder)?.split_once('/'));
        let mut names: Vec<String> = within.map(|(name, _)| name.to_string()).collect();
        names.dedup();
        Ok(names)
    }

    /// Delete an object. One that is gone already is a success.
    ///
    /// # Errors
    /// The store does not let us, or it is not known whether it is gone.
    fn delete(&self, name: &str) -> Result<(), Undeleted>;

    /// The time by the clock that dates the objects, in seconds since 1970.
    ///
    /// # Errors
    /// The store cannot say.
    fn now(&self) -> Result<i64, Failure>;
}
