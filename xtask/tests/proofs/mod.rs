//! Who has the right to make proofs: a type that implements `MakesProofs`. The
//! compiler refuses everybody else, and nobody implements a trait without
//! writing its name, so what is looked for is the name.

use super::wings::code;

const RIGHT: &str = "MakesProofs";

/// Where the right is declared, and the tests of all minds.
const GRAMMAR: [&str; 2] = ["plan/src/proof.rs", "plan/src/sim/planted.rs"];

fn is_evidence(path: &str) -> bool {
    let inside = path.split_once("/src/decide/evidence/");
    inside.is_some_and(|(mind, file)| !mind.contains('/') && !file.is_empty())
}

/// Does the file name the right? `None` = there is no such file.
pub fn reads(sources: &[(String, String)], path: &str) -> Option<bool> {
    sources.iter().find(|(p, _)| p == path).map(|(_, text)| code(text).contains(RIGHT))
}

/// What is wrong in files that name the right.
pub fn strangers(sources: &[(String, String)]) -> Vec<String> {
    let named = sources.iter().map(|(path, text)| (path, code(text)));
    let named =
        named.filter(|(path, text)| text.contains(RIGHT) && !GRAMMAR.contains(&path.as_str()));
    named.filter_map(|(path, text)| Some(format!("{path} {}", objection(path, &text)?))).collect()
}

fn objection(path: &str, text: &str) -> Option<String> {
    if !is_evidence(path) {
        return Some("names the right to make proofs".into());
    }
    let holders: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("impl MakesProofs for ")?.strip_suffix(" {}"))
        .collect();
    let [holder] = holders.as_slice() else {
        return Some(format!("gives the right to {} types", holders.len()));
    };
    if !text.lines().any(|line| line == format!("struct {holder};")) {
        return Some(format!("does not keep {holder} to itself"));
    }
    // Imported, and given to the one type; that one is made in calls and in nothing that has a name.
    let is_public = |line: &str| line.trim_start().starts_with("pub");
    let mentions = |line: &str| [RIGHT, *holder].iter().any(|name| line.contains(name));
    let shown = text.lines().find(|line| is_public(line) && mentions(line))?;
    Some(format!("shows it to others: {shown}"))
}
