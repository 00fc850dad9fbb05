//! The keys of a sealed repository, as a Secret is mounted: a file for each key
//! with 64 hexadecimal digits, and a file `current` with the name of the one
//! that seals.

use palladion_backup::seal::{Key, Keys};
use std::path::Path;

/// The file that names the key that seals.
const CURRENT: &str = "current";

/// Read the keys of a directory.
///
/// # Errors
/// It cannot be read, has no current key, or one of the files is no key.
pub fn read(directory: &Path) -> Result<Keys, String> {
    let shown = directory.display();
    let failed = |error: std::io::Error| format!("cannot read the keys in {shown}: {error}");
    let (mut current, mut all) = (None, Vec::new());
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        // What Kubernetes keeps beside the entries of a Secret.
        if name.starts_with('.') {
            continue;
        }
        let text = std::fs::read_to_string(directory.join(&name)).map_err(failed)?;
        if name == CURRENT {
            current = Some(text.trim().to_string());
            continue;
        }
        let digits = || {
            format!(
                "{shown}/{name} is not a key: write 64 hexadecimal digits (openssl rand -hex 32)"
            )
        };
        all.push((name.clone(), Key::parse(&text).ok_or_else(digits)?));
    }
    let missing =
        || format!("{shown} has no file `{CURRENT}`: write the name of the key that seals into it");
    let current = current.ok_or_else(missing)?;
    let found = all.iter().find(|(name, _)| *name == current).map(|(_, key)| key.clone());
    let found =
        found.ok_or(format!("{shown}/{CURRENT} names {current}, and there is no such file"))?;
    Ok(Keys::new(found, all.into_iter().map(|(_, key)| key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_a_secret_is_mounted() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let refused = || read(folder.path()).map(drop).unwrap_err();
        assert!(refused().contains("no file `current`"));
        write("current", "new\n");
        assert!(refused().contains("names new"));
        write("new", &format!("{}\n", "ab".repeat(32)));
        write("old", &"cd".repeat(32));
        std::fs::create_dir(folder.path().join("..data")).unwrap();
        let keys = read(folder.path()).unwrap();
        let old = Keys::new(Key::parse(&"cd".repeat(32)).unwrap(), []);
        let sealed = old.seal("a", b"text", [1; 32]).unwrap();
        assert_eq!(keys.open("a", &sealed).unwrap(), b"text");
        assert_ne!(keys.current(), old.current());
        write("old", "too short");
        assert!(refused().contains("is not a key"));
    }
}
