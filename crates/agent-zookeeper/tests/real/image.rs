//! What an image of ZooKeeper holds, unpacked: the libraries that `images/zookeeper`
//! names, fetched by Maven once and held to its list of hashes.

use palladion_agent_zookeeper::launch::Image;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest version of which there is an image.
pub const OLDEST: &str = "3.8.4";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../images/zookeeper")
}

/// The versions to try.
pub fn versions() -> Vec<String> {
    if let Ok(one) = std::env::var("ZOOKEEPER_VERSION") {
        return vec![one];
    }
    let names = fs::read_dir(sources()).unwrap().map(|e| e.unwrap().file_name());
    let mut versions: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    versions.sort();
    versions
}

/// The home of a version, in the layout of the stock image.
pub fn home(version: &str) -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("zookeeper-{version}"));
    let (library, own) = (home.join("lib"), sources().join(version));
    if !library.is_dir() {
        let part = home.join("lib.part");
        let mut maven = Command::new("mvn");
        maven
            .args(["-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"])
            .arg(format!("-DoutputDirectory={}", part.display()))
            .arg("-f")
            .arg(own.join("pom.xml"));
        assert!(maven.status().unwrap().success(), "{maven:?}");
        fs::rename(part, &library).unwrap();
    }
    let mut check = Command::new("sha256sum");
    check.args(["-c", "--quiet"]).arg(own.join("lib.sha256")).current_dir(&library);
    assert!(check.status().unwrap().success(), "{check:?}");
    for part in ["bin", "conf"] {
        fs::create_dir_all(home.join(part)).unwrap();
        for entry in fs::read_dir(sources().join("common").join(part)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), home.join(part).join(entry.file_name())).unwrap();
        }
    }
    Image::find(Some(&home), None, None).unwrap().class_path().unwrap();
    home
}
