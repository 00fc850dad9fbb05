//! Citations lead somewhere: a safety rule, a decision record or a page that is
//! cited exists in this repository, and nothing cites a text that is not in it.

mod tracked;

use std::collections::BTreeSet;
use tracked::root;

const RULES: &str = "docs/concepts/safety.md";
const STORIES: &str = "crates/cassandra/tests/README.md";
/// Numbers in lists of requirements that are not in the repository: a letter and at most two digits.
const LISTS: &str = "TCYMQ";
/// What else points outside, in pieces so that this file does not.
const OUTSIDE: [[&str; 2]; 7] = [
    ["the ", "thesis"],
    ["(the", "sis"],
    ["document ", "Q"],
    ["document ", "D"],
    ["safety rules, ", "section"],
    ["safety, ", "section"],
    ["list of ", "requirements"],
];
/// Sums and locks that people do not write.
const NOT_READ: [&str; 4] = ["go.sum", "Cargo.lock", ".snap", "LICENSE"];

/// Every text file under version control or about to be, with its content.
fn files() -> Vec<(String, String)> {
    let is_read = |name: &String| !NOT_READ.iter().any(|end| name.ends_with(end));
    tracked::names(&[]).into_iter().filter(is_read).filter_map(tracked::text).collect()
}

/// The text in one line, without the marks of comments, so that a citation may
/// go over the end of a line.
fn flat(text: &str) -> String {
    let marks = ["//!", "///", "//", "#"];
    let bare = text.lines().map(|line| {
        let line = line.trim();
        marks.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim()
    });
    bare.collect::<Vec<_>>().join(" ")
}

/// `4.2` in "4.2, " or "4.2)".
fn number(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_ascii_digit());
    let (section, rule) = word.split_once('.')?;
    let is_number = |s: &str| !s.is_empty() && s.len() < 3 && s.parse::<u8>().is_ok();
    (is_number(section) && is_number(rule)).then(|| word.to_string())
}

/// The numbers after each "safety rule" or "safety rules": `1.3 to 1.5, 2.2 and 4.1`.
fn cited_rules(text: &str) -> Vec<String> {
    let text = flat(text);
    let mut cited = Vec::new();
    for part in text.split("afety rule").skip(1) {
        let words = part.trim_start_matches('s').split_whitespace();
        let list = words.take_while(|w| matches!(*w, "to" | "and") || number(w).is_some());
        cited.extend(list.filter_map(number));
    }
    cited
}

/// The numbers that `docs/concepts/safety.md` gives: lines that begin `**4.2`.
fn rules() -> BTreeSet<String> {
    let page = std::fs::read_to_string(root().join(RULES)).expect("the page should be readable");
    let heads = page.lines().filter_map(|l| l.strip_prefix("**"));
    heads.filter_map(|l| number(l.split([' ', '*']).next()?)).collect()
}

#[test]
fn cited_safety_rules_exist() {
    let rules = rules();
    assert!(rules.len() > 40, "only {rules:?} found in {RULES}");
    let mut count = 0;
    let mut unknown = Vec::new();
    for (name, text) in files() {
        for rule in cited_rules(&text) {
            count += 1;
            if !rules.contains(&rule) {
                unknown.push(format!("{name}: safety rule {rule}"));
            }
        }
    }
    assert!(count > 20, "only {count} citations found");
    assert!(unknown.is_empty(), "not in {RULES}: {unknown:#?}");
}

#[test]
fn each_number_of_a_safety_rule_is_given_once() {
    let page = std::fs::read_to_string(root().join(RULES)).expect("the page should be readable");
    let heads = page.lines().filter_map(|l| l.strip_prefix("**")?.split([' ', '*']).next());
    let numbers: Vec<String> = heads.filter_map(number).collect();
    let twice = numbers.iter().filter(|n| numbers.iter().filter(|m| m == n).count() > 1);
    assert_eq!(twice.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn cited_decisions_exist() {
    let records: BTreeSet<u32> = std::fs::read_dir(root().join("docs/adr"))
        .expect("docs/adr should be readable")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.get(..4)?.parse().ok())
        .collect();
    for (name, text) in files() {
        for part in flat(&text).split("ADR ").skip(1) {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            let Ok(record) = digits.parse::<u32>() else { continue };
            assert!(
                records.contains(&record),
                "{name} cites ADR {record}, which is not in docs/adr"
            );
        }
    }
}

#[test]
fn cited_pages_exist() {
    let of_a_path = |c: char| c.is_ascii_alphanumeric() || "/_.-".contains(c);
    let mut missing = Vec::new();
    for (name, text) in files() {
        for part in flat(&text).split("docs/").skip(1) {
            let path: String = part.chars().take_while(|c| of_a_path(*c)).collect();
            let Some((page, _)) = path.split_once(".md") else { continue };
            // Other projects have such folders, too.
            let elsewhere = name == "docs/sources.md";
            if !elsewhere && !root().join(format!("docs/{page}.md")).is_file() {
                missing.push(format!("{name}: docs/{page}.md"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// A number of such a list, as a word of its own.
fn of_a_list(word: &str) -> bool {
    let mut characters = word.chars();
    let letter = characters.next().is_some_and(|c| LISTS.contains(c));
    let digits: Vec<char> = characters.collect();
    letter && (1..=2).contains(&digits.len()) && digits.iter().all(char::is_ascii_digit)
}

#[test]
fn nothing_cites_a_text_that_is_not_in_the_repository() {
    let mut found = Vec::new();
    for (name, text) in files() {
        for (line, words) in text.lines().enumerate() {
            let mut numbers = words.split(|c: char| !c.is_alphanumeric() && c != '_');
            let by_number = numbers.find(|w| of_a_list(w));
            let by_name = OUTSIDE.iter().map(|p| p.concat()).find(|o| words.contains(o.as_str()));
            if let Some(what) = by_number.map(str::to_string).or(by_name) {
                found.push(format!("{name}:{}: {what}", line + 1));
            }
        }
    }
    assert!(found.is_empty(), "name a public source or a page of this repository: {found:#?}");
}

/// The words in backticks of the first column of a page's tables, without what
/// is in parentheses or before a dot.
fn verbs(page: &str) -> Vec<String> {
    let rows = page.lines().filter(|l| l.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let verbs = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    verbs.filter_map(|v| v.split('(').next()?.rsplit('.').next().map(str::to_string)).collect()
}

#[test]
fn the_verbs_that_the_page_on_stories_lists_exist() {
    let verbs = verbs(&std::fs::read_to_string(root().join(STORIES)).expect("a page"));
    assert!(verbs.len() > 30, "only {verbs:?}");
    let sources = files();
    let is_near =
        |name: &str| name.starts_with("crates/cassandra/tests/") || name.contains("/sim/");
    for verb in verbs {
        let defined = [format!("fn {verb}("), format!("pub {verb}:")];
        let exists = sources
            .iter()
            .any(|(name, text)| is_near(name) && defined.iter().any(|d| text.contains(d)));
        assert!(exists, "{STORIES} lists `{verb}`, which the simulator does not have");
    }
}

#[test]
fn a_wrong_citation_would_be_seen() {
    assert_eq!(
        cited_rules("//! held by safety rules\n//! 1.3 to 1.5, and 99.1."),
        ["1.3", "1.5", "99.1"]
    );
    assert_eq!(cited_rules("see safety rule 4.2 (and 5.1)"), ["4.2"]);
    assert!(!rules().contains("99.1"));
    assert!(of_a_list(&format!("{}12", 'T')) && !of_a_list("T") && !of_a_list("v12"));
}
