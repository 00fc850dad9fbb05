//! Libraries are built once: what is built apart asks them for the same features. Each set of
//! features that differs builds a library again, and all that stands on it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The libraries of other people, with version and features, that cargo builds for this.
fn libraries(words: &[&str]) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let output = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p} [{f}]"])
        .args(words)
        .output()
        .expect("cargo should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let found: BTreeSet<String> =
        text.lines().filter(|l| !l.contains("palladion")).map(str::to_string).collect();
    assert!(found.iter().any(|library| library.starts_with("tokio v")), "{found:?}");
    found
}

#[test]
fn the_tasks_are_built_of_the_same_libraries_as_the_tests() {
    let of_tests = libraries(&["--workspace"]);
    let of_tasks = libraries(&["--package", "xtask", "--edges", "normal,build"]);
    let built_twice: Vec<_> =
        of_tasks.difference(&of_tests).filter(|l| !l.starts_with("xtask ")).collect();
    assert_eq!(
        built_twice,
        Vec::<&String>::new(),
        "ask for the features of `cargo tree --workspace` in xtask/Cargo.toml"
    );
}

#[test]
fn the_command_line_is_built_of_the_same_libraries_as_the_operator() {
    let edges = ["--edges", "normal,build"];
    let beside = ["--package", "palladion-agent", "--package", "palladion-checker"];
    let with = |package| libraries(&[&edges[..], &beside[..], &["--package", package]].concat());
    let (operator, command_line) = (with("palladion-operator"), with("kubectl-palladion"));
    let named = |set: &BTreeSet<String>| -> BTreeSet<String> {
        set.iter().filter_map(|l| l.split(" [").next()).map(str::to_string).collect()
    };
    let of_both: BTreeSet<String> =
        named(&operator).intersection(&named(&command_line)).cloned().collect();
    let built_twice: Vec<_> = command_line
        .difference(&operator)
        .filter(|l| l.split(" [").next().is_some_and(|name| of_both.contains(name)))
        .collect();
    assert_eq!(
        built_twice,
        Vec::<&String>::new(),
        "ask for the same features in the Cargo.toml of the workspace"
    );
}
