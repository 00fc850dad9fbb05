//! What `deny.toml` forbids is not among the dependencies. cargo-deny asks more
//! (versions of one crate twice, advisories); this asks what needs no download.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The entries of one list of `deny.toml`: what is in quotes first on each line.
fn list(section: &str, name: &str) -> Vec<String> {
    let text =
        std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml should be readable");
    let section = text.split(&format!("[{section}]")).nth(1).expect("the section should exist");
    let list = section.split(&format!("\n{name} = [\n")).nth(1).expect("the list should exist");
    let lines = list.lines().take_while(|line| *line != "]");
    lines.filter_map(|line| Some(line.split('"').nth(1)?.to_string())).collect()
}

/// Name and licence of every package that is built on this machine, once each.
/// `cargo metadata` would list optional ones that nothing switches on.
fn packages() -> BTreeSet<(String, String)> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["tree", "--workspace", "--edges", "normal,build,dev", "--prefix", "none"])
        .args(["--format", "{p}|{l}", "--offline", "--locked"])
        .output()
        .expect("cargo tree should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names should be text");
    text.lines()
        .filter_map(|line| line.split_once('|'))
        .filter_map(|(package, licence)| Some((package.split(' ').next()?, licence)))
        .map(|(name, licence)| (name.to_string(), licence.trim_end_matches(" (*)").to_string()))
        .collect()
}

/// Does the list of allowed licences satisfy an expression of SPDX? Without a
/// precedence to speak of: each part that is joined by AND must have a part,
/// joined by OR, that is allowed.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let old_style = expression.replace(" / ", " OR ").replace('/', " OR ");
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for word in old_style.split(' ') {
        depth += word.matches('(').count();
        match word {
            "AND" if depth == 0 => parts.push(String::new()),
            _ => {
                let part = parts.last_mut().expect("there is a first part");
                part.push_str(word.trim_matches(['(', ')']));
                part.push(' ');
            }
        }
        depth -= word.matches(')').count();
    }
    parts
        .iter()
        .all(|part| part.trim().split(" OR ").any(|choice| allowed.iter().any(|a| a == choice)))
}

#[test]
fn no_banned_crate_is_among_the_dependencies() {
    let banned = list("bans", "deny");
    assert!(banned.iter().any(|b| b == "openssl"), "read from deny.toml: {banned:?}");
    let packages = packages();
    assert!(packages.len() > 100, "only {} packages", packages.len());
    let found: Vec<_> = packages.iter().filter(|(name, _)| banned.contains(name)).collect();
    assert!(found.is_empty(), "deny.toml says why not: {found:?}");
}

#[test]
fn every_licence_is_allowed() {
    let allowed = list("licenses", "allow");
    for (name, licence) in packages() {
        assert!(is_allowed(&licence, &allowed), "{name} has the licence `{licence}`");
    }
}

#[test]
fn every_dependency_comes_from_the_registry() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock is there");
    let sources: BTreeSet<&str> =
        lock.lines().filter_map(|line| line.strip_prefix("source = ")).collect();
    assert_eq!(sources.into_iter().collect::<Vec<_>>(), [format!("\"{REGISTRY}\"")]);
}

#[test]
fn a_licence_that_is_not_allowed_would_be_seen() {
    let allowed = ["MIT".to_string(), "Apache-2.0".to_string()];
    for good in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Apache-2.0"] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND GPL-3.0"] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}
