//! The pure crates cannot read the clock, randomness or the environment: clippy
//! refuses it by `clippy.toml`, and here it is seen to refuse.

use std::path::{Path, PathBuf};
use std::process::Command;

const PURE: [&str; 4] = ["api", "plan", "cassandra", "zonedset"];
const FORBID: &str =
    "#![forbid(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)]";

/// A line of a pure crate, and what of it is refused.
const REFUSED: [(&str, &str); 9] = [
    ("let _ = std::time::SystemTime::now();", "`std::time::SystemTime::now`"),
    ("let _ = std::time::Instant::now();", "`std::time::Instant::now`"),
    ("let _ = jiff::Timestamp::now();", "`jiff::Timestamp::now`"),
    ("let _ = std::env::var(\"HOME\");", "`std::env::var`"),
    ("let _ = std::hash::RandomState::new();", "`std::hash::RandomState`"),
    ("let _ = std::collections::HashMap::<u8, u8>::new();", "`std::collections::HashMap`"),
    ("let _ = std::fs::read_to_string(\"/etc/hostname\");", "`std::fs::read_to_string`"),
    ("std::thread::sleep(std::time::Duration::ZERO);", "`std::thread::sleep`"),
    ("println!();", "`std::println`"),
];

/// In the place of the real crate, of which only the paths matter. That they are
/// those of the real one clippy itself says where it checks the pure crates.
const JIFF: &str = "pub struct Timestamp; impl Timestamp { pub fn now() -> Self { Timestamp } }
    pub struct Zoned; impl Zoned { pub fn now() -> Self { Zoned } }
    pub mod tz { pub struct TimeZone; impl TimeZone { pub fn system() -> Self { TimeZone } } }";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A tool of the tool chain that builds this.
fn tool(name: &str) -> Command {
    Command::new(Path::new(env!("CARGO")).with_file_name(name))
}

fn compiled(mut compiler: Command, name: &str, text: &str) -> (bool, String) {
    let folder = folder();
    let file = folder.join(format!("{name}.rs"));
    std::fs::write(&file, text).expect("the folder should be writable");
    let output = compiler
        .env("CLIPPY_CONF_DIR", root())
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata"])
        .args(["--crate-name", name, "--extern", "jiff", "-L"])
        .arg(&folder)
        .arg("--out-dir")
        .arg(&folder)
        .arg(&file)
        .output()
        .expect("the compiler should run: rustup component add clippy");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pure");
    std::fs::create_dir_all(&folder).expect("the folder should be writable");
    folder
}

#[test]
fn clippy_refuses_the_clock_randomness_and_the_environment() {
    std::fs::write(folder().join("jiff.rs"), JIFF).expect("the folder should be writable");
    let made = tool("rustc")
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--out-dir"])
        .arg(folder())
        .arg(folder().join("jiff.rs"))
        .status();
    assert!(made.expect("rustc should run").success());

    let pure = format!("{FORBID}\npub fn decide() {{ let _ = 1; }}\n");
    let (accepted, said) = compiled(tool("clippy-driver"), "accepted", &pure);
    assert!(accepted && !said.contains("reachable"), "{said}");

    for (number, (line, what)) in REFUSED.iter().enumerate() {
        let text = format!("{FORBID}\npub fn decide() {{ {line} }}\n");
        let (accepted, said) = compiled(tool("clippy-driver"), &format!("refused{number}"), &text);
        assert!(!accepted, "clippy should refuse {line}");
        assert!(said.contains("use of a disallowed") && said.contains(what), "{line}: {said}");
    }
}

#[test]
fn every_pure_crate_asks_clippy_to_refuse_them() {
    for name in PURE {
        let path = root().join(format!("crates/{name}/src/lib.rs"));
        let text = std::fs::read_to_string(&path).expect("lib.rs should be readable");
        // Unit tests may read files; what is built is built without them.
        let attribute = FORBID.trim_start_matches("#![").trim_end_matches(']');
        let wanted = format!("#![cfg_attr(not(test), {attribute})]").replace(' ', "");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let forbids: String = code.flat_map(str::split_whitespace).collect();
        assert!(forbids.contains(&wanted), "{} must have {wanted}", path.display());
    }
}
