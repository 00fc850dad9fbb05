//! Where the sources of images and parts are: `images/` in the repository.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

/// The directory with the sources of what the testbed builds.
pub fn images_dir() -> Result<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let images = repository.join("images");
    ensure!(
        images.is_dir(),
        "finding the sources of the images: {} is not there; run from the checkout this program was built in",
        images.display()
    );
    Ok(images.canonicalize()?)
}
