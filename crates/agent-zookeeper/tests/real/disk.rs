//! A disk of a test, as a directory.

use std::fs;
use std::path::Path;

/// Copy all that is below, as an image of the disk.
pub fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &to),
            false => {
                fs::copy(entry.path(), to).unwrap();
            }
        }
    }
}
