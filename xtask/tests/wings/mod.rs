//! Which wings of a crate use which: read from `use` and from whole paths in
//! the text of its sources. A wing is a file or folder right under `src`; a
//! `decide` with folders in it is as many wings as it has entries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// From one wing to another.
pub type Arrow = (String, String);

/// Every source below `src` but tests: path and text.
pub fn sources(src: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![src.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a source folder can be read") {
            let path = entry.expect("a source folder can be read").path();
            let name = path.strip_prefix(src).expect("it is below").to_string_lossy().to_string();
            let is_test = name.contains("tests") || name == "fixtures.rs";
            if is_test {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(&path).expect("a source can be read");
                found.push((name, text));
            }
        }
    }
    found
}

/// Segments of the module that a file is.
fn module(path: &str) -> Vec<&str> {
    let stem = path.trim_end_matches(".rs");
    stem.split('/').filter(|s| !matches!(*s, "mod" | "lib")).collect()
}

/// The arrows between wings, without those of a table of contents to its parts.
pub fn arrows(sources: &[(String, String)]) -> BTreeSet<Arrow> {
    let has_folders = sources
        .iter()
        .any(|(path, _)| path.starts_with("decide/") && path.matches('/').count() > 1);
    let wing = |module: &[String]| -> Option<String> {
        let depth = if has_folders && module.first()? == "decide" { 2 } else { 1 };
        (module.len() >= depth).then(|| module[..depth].join("/"))
    };
    let mut found = BTreeSet::new();
    for (path, text) in sources {
        let own: Vec<String> = module(path).into_iter().map(str::to_string).collect();
        let Some(from) = wing(&own) else { continue };
        for used in paths(&code(text)) {
            let Some(to) = absolute(&own, &used).and_then(|to| wing(&to)) else { continue };
            if to != from && sources.iter().any(|(path, _)| is_of(path, &to)) {
                found.insert((from.clone(), to));
            }
        }
    }
    found
}

fn is_of(path: &str, wing: &str) -> bool {
    path.strip_prefix(wing).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
}

/// Arrows whose end leads back to their start.
pub fn on_circles(arrows: &BTreeSet<Arrow>) -> BTreeSet<Arrow> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows {
        next.entry(from).or_default().push(to);
    }
    let leads = |start: &str, end: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(at) = open.pop() {
            if seen.insert(at.to_string()) {
                open.extend(next.get(at).into_iter().flatten());
            }
        }
        seen.contains(end)
    };
    arrows.iter().filter(|(from, to)| leads(to, from)).cloned().collect()
}

/// The text without comments and without its own tests.
pub fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path that starts at the crate or at a parent, with `{}` spread out.
fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':')) {
                continue;
            }
            spread("", &code[at..], &mut found);
        }
    }
    found
}

/// Read one path, or one with a list at its end; returns how much was read.
fn spread(prefix: &str, text: &str, found: &mut Vec<String>) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let path = format!("{prefix}{}", &text[..end]);
    if !path.ends_with("::") || !text[end..].starts_with('{') {
        found.push(path);
        return end;
    }
    let mut at = end + 1;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.starts_with('}') && !rest.is_empty())
    {
        match rest.starts_with(is_part) {
            true => at += spread(&path, rest, found),
            false => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    at + 1
}

/// The segments from the crate on of a path as it stands in a module.
fn absolute(own: &[String], path: &str) -> Option<Vec<String>> {
    let mut at: Vec<String> = own.to_vec();
    for (index, segment) in path.split("::").enumerate() {
        match segment {
            "crate" if index == 0 => at.clear(),
            "super" => drop(at.pop()?),
            "self" | "" => {}
            name => at.push(name.to_string()),
        }
    }
    Some(at)
}
