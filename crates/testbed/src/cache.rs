//! A directory outside the checkout for what is slow to make, keyed by content.
//!
//! An entry is made in a private directory and renamed into place when it is
//! complete, so an interrupted build leaves nothing that looks finished.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

/// Enough of a SHA-256 to tell entries apart, short enough to read.
const KEY_LENGTH: usize = 16;

/// The cache's root directory and what can be asked of it.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache of this user: `$XDG_CACHE_HOME/palladion`, else
    /// `~/.cache/palladion`.
    pub fn of_user() -> Result<Self> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let root = match (set("XDG_CACHE_HOME"), set("HOME")) {
            (Some(cache), _) => PathBuf::from(cache),
            (None, Some(home)) => PathBuf::from(home).join(".cache"),
            (None, None) => bail!(
                "finding the cache directory: neither XDG_CACHE_HOME nor HOME is set; set one"
            ),
        };
        Ok(Self::at(root.join("palladion")))
    }

    /// A cache at a directory of your choice.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The cache's own directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where an entry is, if it is complete.
    pub fn find(&self, kind: &str, key: &Key) -> Option<PathBuf> {
        let path = self.entry(kind, key);
        path.is_dir().then_some(path)
    }

    /// The entry of that key, made by `make` in the directory it is given if
    /// the cache does not hold it. Two processes that want the same entry at
    /// once make it once: the second waits for the first.
    pub fn get(
        &self,
        kind: &str,
        key: &Key,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let path = self.entry(kind, key);
        if path.is_dir() {
            return Ok(path);
        }
        let parent = self.root.join(kind);
        fs::create_dir_all(&parent).with_context(|| format!("creating {}", parent.display()))?;
        let lock_path = parent.join(format!(".{}.lock", key.0));
        let lock = File::create(&lock_path)
            .with_context(|| format!("creating the lock {}", lock_path.display()))?;
        lock.lock().with_context(|| format!("waiting for the lock {}", lock_path.display()))?;
        if path.is_dir() {
            return Ok(path);
        }
        let unfinished = parent.join(format!(".{}.unfinished", key.0));
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)
                .with_context(|| format!("removing the half-made {}", unfinished.display()))?;
        }
        fs::create_dir_all(&unfinished)
            .with_context(|| format!("creating {}", unfinished.display()))?;
        if let Err(error) = make(&unfinished) {
            // Gigabytes, perhaps, that nobody would look for.
            let _ = fs::remove_dir_all(&unfinished);
            return Err(error);
        }
        fs::rename(&unfinished, &path)
            .with_context(|| format!("putting {} into place", path.display()))?;
        Ok(path)
    }

    /// Removes all but the newest entries of a kind.
    pub fn keep_newest(&self, kind: &str, count: usize) -> Result<()> {
        let directory = self.root.join(kind);
        let listing = || format!("listing {}", directory.display());
        let mut entries = Vec::new();
        for entry in fs::read_dir(&directory).with_context(listing)? {
            let entry = entry.with_context(listing)?;
            let metadata = entry.metadata().with_context(listing)?;
            if metadata.is_dir() && !entry.file_name().as_encoded_bytes().starts_with(b".") {
                entries.push((metadata.modified().with_context(listing)?, entry.path()));
            }
        }
        entries.sort();
        entries.truncate(entries.len().saturating_sub(count));
        for (_, path) in entries {
            fs::remove_dir_all(&path).with_context(|| format!("removing {}", path.display()))?;
        }
        Ok(())
    }

    fn entry(&self, kind: &str, key: &Key) -> PathBuf {
        self.root.join(kind).join(&key.0)
    }
}

/// The name of a cache entry: what it is, then a hash of all that went into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Begins a key for an entry of that name.
    pub fn of(name: &str) -> KeyBuilder {
        KeyBuilder { name: name.to_owned(), hash: Sha256::new() }
    }

    /// The key as the directory name it becomes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Collects what goes into a [`Key`].
pub struct KeyBuilder {
    name: String,
    hash: Sha256,
}

impl KeyBuilder {
    /// Adds a piece of text, told apart from its neighbours by its length.
    pub fn text(mut self, text: &str) -> Self {
        self.add(text.as_bytes());
        self
    }

    /// Adds the content of a file.
    pub fn file(mut self, path: &Path) -> Result<Self> {
        let content = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        self.add(&content);
        Ok(self)
    }

    /// Adds the names, modes and content of all files below a directory.
    pub fn tree(mut self, directory: &Path) -> Result<Self> {
        self.add_tree(directory, directory)?;
        Ok(self)
    }

    /// The finished key.
    pub fn build(self) -> Key {
        let hash = hex(&self.hash.finalize());
        Key(format!("{}-{}", self.name, &hash[..KEY_LENGTH]))
    }

    fn add(&mut self, bytes: &[u8]) {
        self.hash.update((bytes.len() as u64).to_be_bytes());
        self.hash.update(bytes);
    }

    fn add_tree(&mut self, root: &Path, directory: &Path) -> Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let reading = || format!("reading the directory {}", directory.display());
        let mut paths = fs::read_dir(directory)
            .with_context(reading)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<std::io::Result<Vec<_>>>()
            .with_context(reading)?;
        paths.sort();
        for path in paths {
            let metadata =
                path.symlink_metadata().with_context(|| format!("reading {}", path.display()))?;
            if metadata.is_dir() {
                self.add_tree(root, &path)?;
                continue;
            }
            let name = path.strip_prefix(root).unwrap_or(&path);
            self.add(name.as_os_str().as_encoded_bytes());
            self.add(&(metadata.permissions().mode() & 0o777).to_be_bytes());
            let content = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            self.add(&content);
        }
        Ok(())
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_changes_with_any_input_and_with_where_inputs_end() {
        let key = |parts: &[&str]| {
            parts.iter().fold(Key::of("x"), |builder, part| builder.text(part)).build()
        };
        assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
        assert_ne!(key(&["a", "b"]), key(&["ab"]));
        assert_ne!(key(&["a", "b"]), key(&["b", "a"]));
    }

    #[test]
    fn a_tree_key_sees_content_name_and_mode() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("should make a directory");
        let key = || Key::of("x").tree(directory.path()).expect("should read").build();
        let file = directory.path().join("a");
        fs::write(&file, "1").expect("should write");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("should set");
        let first = key();
        fs::write(&file, "2").expect("should write");
        let second = key();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("should set");
        let third = key();
        fs::rename(&file, directory.path().join("b")).expect("should rename");
        let keys = [first, second, third, key()];
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[i + 1..].iter().all(|b| a != b), "{keys:?}");
        }
    }

    #[test]
    fn old_entries_go_and_new_ones_stay() {
        let directory = tempfile::tempdir().expect("should make a directory");
        let cache = Cache::at(directory.path());
        let make = |name: &str| {
            let key = Key::of(name).build();
            let path = cache.get("stores", &key, |_| Ok(())).expect("should make");
            std::thread::sleep(std::time::Duration::from_millis(20));
            path
        };
        let (old, new) = (make("old"), make("new"));
        cache.keep_newest("stores", 1).expect("should remove");
        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn an_interrupted_build_leaves_no_entry_and_the_next_one_starts_clean() {
        let directory = tempfile::tempdir().expect("should make a directory");
        let cache = Cache::at(directory.path());
        let key = Key::of("x").build();
        let failed = cache.get("parts", &key, |path| {
            fs::write(path.join("half"), "")?;
            bail!("interrupted")
        });
        assert!(failed.is_err());
        assert_eq!(cache.find("parts", &key), None);
        let made = cache
            .get("parts", &key, |path| Ok(fs::write(path.join("whole"), "")?))
            .expect("should make");
        assert!(made.join("whole").exists() && !made.join("half").exists());
        cache.get("parts", &key, |_| bail!("made twice")).expect("should come from the cache");
    }
}
