//! The pure crates cannot read the clock, randomness or the environment: clippy
//! refuses it by `clippy.toml`, and here it is seen to refuse.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const PURE: [&str; 8] =
    ["api", "plan", "cassandra", "zonedset", "zookeeper", "rabbitmq", "stack", "backup"];
const FORBID: &str =
    "#![forbid(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros)]";

/// Fewer, and the list is read in the wrong way.
const LEAST_PATHS: usize = 80;

/// Uses of paths that need more than their name: which types they are used with.
const USES: [(&str, &str); 26] = [
    ("std::env::var", "std::env::var::<&str>"),
    ("std::env::var_os", "std::env::var_os::<&str>"),
    ("std::env::set_var", "std::env::set_var::<&str, &str>"),
    ("std::env::remove_var", "std::env::remove_var::<&str>"),
    ("std::env::set_current_dir", "std::env::set_current_dir::<&str>"),
    ("std::fs::copy", "std::fs::copy::<&str, &str>"),
    ("std::fs::hard_link", "std::fs::hard_link::<&str, &str>"),
    ("std::fs::rename", "std::fs::rename::<&str, &str>"),
    ("std::fs::write", "std::fs::write::<&str, &str>"),
    ("std::net::TcpStream::connect", "std::net::TcpStream::connect::<&str>"),
    ("std::net::TcpListener::bind", "std::net::TcpListener::bind::<&str>"),
    ("std::net::UdpSocket::bind", "std::net::UdpSocket::bind::<&str>"),
    (
        "std::net::ToSocketAddrs::to_socket_addrs",
        "<str as std::net::ToSocketAddrs>::to_socket_addrs",
    ),
    ("std::os::unix::net::UnixStream::connect", "std::os::unix::net::UnixStream::connect::<&str>"),
    ("std::os::unix::net::UnixListener::bind", "std::os::unix::net::UnixListener::bind::<&str>"),
    ("std::os::unix::net::UnixDatagram::bind", "std::os::unix::net::UnixDatagram::bind::<&str>"),
    ("std::process::Command::new", "std::process::Command::new::<&str>"),
    ("std::thread::spawn", "std::thread::spawn::<fn(), ()>"),
    ("std::thread::scope", "|| std::thread::scope(|_| ())"),
    ("std::hash::RandomState", "std::hash::RandomState::new"),
    ("std::collections::HashMap", "std::collections::HashMap::<u8, u8>::new"),
    ("std::collections::HashSet", "std::collections::HashSet::<u8>::new"),
    ("std::print", "std::print!(\"\")"),
    ("std::println", "std::println!()"),
    ("std::eprint", "std::eprint!(\"\")"),
    ("std::eprintln", "std::eprintln!()"),
];

/// Functions of a file that take one path, or open or create one.
const OF_A_PATH: [&str; 17] = [
    "canonicalize",
    "create_dir",
    "create_dir_all",
    "exists",
    "metadata",
    "read",
    "read_dir",
    "read_link",
    "read_to_string",
    "remove_dir",
    "remove_dir_all",
    "remove_file",
    "set_permissions",
    "symlink_metadata",
    "File::create",
    "File::create_new",
    "File::open",
];

/// In the place of the real crate, of which only the paths matter. That they are
/// those of the real one clippy itself says where it checks the pure crates.
const JIFF: &str = "pub struct Timestamp; impl Timestamp { pub fn now() -> Self { Timestamp } }
    pub struct Zoned; impl Zoned { pub fn now() -> Self { Zoned } }
    pub mod tz { pub struct TimeZone; impl TimeZone { pub fn system() -> Self { TimeZone }
    pub fn try_system() -> Self { TimeZone } pub fn get() -> Self { TimeZone } } pub fn db() {} }";

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

/// Makes what stands in for jiff.
fn jiff() {
    std::fs::write(folder().join("jiff.rs"), JIFF).expect("the folder should be writable");
    let made = tool("rustc")
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--out-dir"])
        .arg(folder())
        .arg(folder().join("jiff.rs"))
        .status();
    assert!(made.expect("rustc should run").success());
}

/// Every path that `clippy.toml` forbids.
fn forbidden() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("clippy.toml")).expect("it should be there");
    let code = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let paths = code.filter_map(|line| line.split("path = \"").nth(1)?.split('"').next());
    paths.map(str::to_string).collect()
}

/// A use of a path, as a pure crate might write it.
fn used(path: &str) -> String {
    let named = USES.iter().find(|(of, _)| *of == path).map(|(_, used)| (*used).to_string());
    let file = path.strip_prefix("std::fs::").filter(|f| OF_A_PATH.contains(f));
    named.or(file.map(|_| format!("{path}::<&str>"))).unwrap_or_else(|| match path {
        "std::dbg" => "std::dbg!()".to_string(),
        path => path.to_string(),
    })
}

/// The paths that clippy does not refuse, each used on a line of its own of one
/// file.
fn unrefused(list: &BTreeSet<String>) -> BTreeSet<String> {
    let uses: String = list.iter().map(|path| format!("let _ = {};\n", used(path))).collect();
    let text = format!("{FORBID}\npub fn decide() {{\n{uses}}}\n");
    let (_, said) = compiled(tool("clippy-driver"), &format!("refused{}", list.len()), &text);
    assert!(!said.contains("error[E"), "add how it is used to USES: {said}");
    let is_refused = |path: &&String| {
        let kinds = ["method", "type", "macro"];
        kinds.iter().any(|kind| said.contains(&format!("use of a disallowed {kind} `{path}`")))
    };
    list.iter().filter(|path| !is_refused(path)).cloned().collect()
}

#[test]
fn clippy_refuses_the_clock_randomness_and_the_environment() {
    jiff();
    let pure = format!("{FORBID}\npub fn decide() {{ let _ = 1; }}\n");
    let (accepted, said) = compiled(tool("clippy-driver"), "accepted", &pure);
    assert!(accepted && !said.contains("reachable"), "{said}");

    let list = forbidden();
    assert!(list.len() >= LEAST_PATHS, "only {} paths in clippy.toml", list.len());
    assert_eq!(unrefused(&list), BTreeSet::new(), "clippy should refuse each path of clippy.toml");
}

#[test]
fn a_path_that_clippy_does_not_refuse_is_noticed() {
    jiff();
    let list = ["std::thread::sleep", "std::mem::drop::<u8>"].map(str::to_string);
    let left = unrefused(&list.into());
    assert_eq!(left, BTreeSet::from(["std::mem::drop::<u8>".to_string()]));
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
