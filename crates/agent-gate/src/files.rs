//! What the kubelet mounts: the labels of the pod, and the files of all pods, of
//! which this pod has its own.

use crate::labels::Labels;
use anyhow::{Context, Result};
use palladion_api::gate::{file_of_key, hash_of_files};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The labels of the pod.
///
/// # Errors
/// The file cannot be read.
pub fn labels(path: &Path) -> Result<Labels> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("reading the labels of this pod from {}", path.display()))?;
    Ok(Labels::parse(&text))
}

/// Hash of the files of this pod: those of its key, without the key. A pod
/// without configuration has none.
///
/// # Errors
/// A file cannot be read.
pub fn hash(mounted: Option<(&Path, &str)>) -> Result<String> {
    let mut files = BTreeMap::new();
    if let Some((directory, key)) = mounted {
        read(directory, key, &mut files)?;
    }
    Ok(hash_of_files(files.iter().map(|(name, text)| (name.as_str(), text.as_str()))))
}

fn read(directory: &Path, key: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    let entries = fs::read_dir(directory)
        .with_context(|| format!("listing the configuration in {}", directory.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("listing {}", directory.display()))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The kubelet's own links begin with two dots; keys of a pod never do.
        let Some(file) = file_of_key(key, &name).filter(|_| path.is_file()) else {
            continue;
        };
        let text = fs::read_to_string(&path)
            .with_context(|| format!("reading {} of this pod's configuration", path.display()))?;
        files.insert(file.to_string(), text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// As the kubelet mounts a ConfigMap: through links to a directory that it exchanges.
    #[test]
    fn the_files_of_this_pod_and_no_others_are_hashed() -> Result<()> {
        let mount = tempfile::tempdir()?;
        let data = mount.path().join("..2026_01_01");
        fs::create_dir(&data)?;
        symlink(&data, mount.path().join("..data"))?;
        for (name, text) in [("web-1", "own"), ("web-1.ini", "two"), ("web-10", "other")] {
            fs::write(data.join(name), text)?;
            symlink(Path::new("..data").join(name), mount.path().join(name))?;
        }
        let own = hash_of_files([("", "own"), ("ini", "two")]);
        assert_eq!(hash(Some((mount.path(), "web-1")))?, own);
        assert_eq!(hash(Some((mount.path(), "web-2")))?, hash(None)?, "none of its own");
        assert!(hash(Some((&mount.path().join("nowhere"), "web-1"))).is_err());
        Ok(())
    }

    #[test]
    fn labels_that_cannot_be_read_are_an_error_that_names_the_file() {
        let error = labels(Path::new("/nowhere/pod_labels")).expect_err("there is no file");
        assert!(error.to_string().contains("/nowhere/pod_labels"), "{error}");
    }
}
