//! Sentences for people stand in folders of `words/`, each crate's in its own,
//! and nowhere else: `words.rs` lists them. What else reads like prose in the
//! code is named here, with the reason.

mod tracked;

use tracked::{names, text};

/// Crates that speak to people through objects.
const CRATES: [&str; 14] = [
    "api",
    "plan",
    "cassandra",
    "zonedset",
    "zookeeper",
    "rabbitmq",
    "stack",
    "engine",
    "agent-core",
    "agent",
    "agent-gate",
    "agent-rabbitmq",
    "agent-transfer",
    "agent-zookeeper",
];
/// Fewer files than these, and the test reads in the wrong place.
const LEAST_FILES: usize = 200;
/// A literal with so many plain words in it is prose.
const WORDS: usize = 2;

/// Prose that is no sentence of ours in an object: where, and what it is.
const ELSEWHERE: [(&str, &str); 58] = [
    ("crates/agent-core/src/drain.rs", "printed by the drain command and logged"),
    ("crates/agent-core/src/http.rs", "answers to the kubelet's probes"),
    ("crates/agent-core/src/init/", "the log of the container"),
    ("crates/agent-core/src/install.rs", "the log of the init container"),
    ("crates/agent-core/src/kubernetes/", "errors for the log"),
    ("crates/agent-core/src/metrics.rs", "the help of metrics: docs/reference/metrics.md"),
    ("crates/agent-core/src/runtime.rs", "errors at the start, for the log"),
    ("crates/agent-gate/src/cli.rs", "errors for the log of the container"),
    ("crates/agent-gate/src/files.rs", "errors for the log of the container"),
    ("crates/agent-gate/src/run.rs", "errors for the log of the container"),
    ("crates/agent-core/src/service/member.rs", "reasons of rights: listed in the chart's roles"),
    ("crates/agent-rabbitmq/src/metrics", "the help of metrics: docs/reference/metrics.md"),
    ("crates/agent-rabbitmq/src/read/replicas.rs", "an expression of Erlang"),
    ("crates/agent-rabbitmq/src/read/signs.rs", "matched: what a server logs"),
    ("crates/agent-rabbitmq/src/report/last_words.rs", "matched: what a server logs"),
    ("crates/agent-rabbitmq/src/read/listing.rs", "expressions of Erlang"),
    ("crates/agent-rabbitmq/src/work/coordinator.rs", "expressions of Erlang"),
    ("crates/agent-rabbitmq/src/work/meet.rs", "expressions of Erlang"),
    ("crates/agent-rabbitmq/src/work/replicas.rs", "expressions of Erlang"),
    ("crates/agent-zookeeper/src/metrics", "the help of metrics: docs/reference/metrics.md"),
    ("crates/agent-zookeeper/src/read/srvr.rs", "matched: what a server answers"),
    ("crates/agent-zookeeper/src/report/last_words.rs", "matched: what a server logs"),
    ("crates/agent/src/access/roles.rs", "statements of CQL"),
    ("crates/agent/src/admin/mod.rs", "matched: what a server answers"),
    ("crates/agent/src/admin/jobs.rs", "matched: what a server calls its work"),
    ("crates/agent/src/agent/look.rs", "matched: what a server logs"),
    ("crates/agent/src/cql.rs", "matched: what a server answers"),
    ("crates/agent/src/kubernetes/", "reasons of rights: listed in the chart's roles"),
    ("crates/agent/src/metrics/", "the help of metrics: docs/reference/metrics.md"),
    ("crates/agent/src/report/last_words.rs", "matched: what a server logs"),
    ("crates/api/src/answers.rs", "matched: what the API server answers"),
    ("crates/engine/src/apply/create.rs", "matched: what the API server answers"),
    ("crates/api/src/crd.rs", "descriptions of fields: read in the CRDs"),
    ("crates/api/src/ids.rs", "how an identity looks, where it is parsed"),
    ("crates/api/src/metrics.rs", "a check for tests"),
    ("crates/api/src/rabbitmq/reserved.rs", "rules of the CRDs: listed from there"),
    ("crates/api/src/reasons.rs", "the catalogue of reasons: docs/reference/reasons.md"),
    ("crates/api/src/reserved.rs", "rules of the CRDs: listed from there"),
    ("crates/api/src/rules", "rules of the CRDs: listed from there"),
    ("crates/api/src/zoned_stateful_set", "rules of the CRDs: listed from there"),
    ("crates/api/src/zookeeper/ids.rs", "how an identity looks, where it is parsed"),
    ("crates/api/src/zookeeper/reserved.rs", "rules of the CRDs: listed from there"),
    ("crates/cassandra/src/decide/leave/resume.rs", "matched: what a server answers"),
    ("crates/cassandra/src/metrics.rs", "the help of metrics: docs/reference/metrics.md"),
    ("crates/cassandra/src/rights.rs", "reasons of rights: listed in the chart's roles"),
    ("crates/engine/src/apply/issue.rs", "reasons of rights: listed in the chart's roles"),
    ("crates/engine/src/decide.rs", "a panic without a message, for the log"),
    ("crates/engine/src/door/", "printed by kubectl palladion, in no object"),
    ("crates/engine/src/error.rs", "matched: what the API server answers"),
    ("crates/engine/src/leader/", "reasons of rights, and errors for the log"),
    ("crates/engine/src/metrics/", "the help of metrics: docs/reference/metrics.md"),
    ("crates/engine/src/report/events.rs", "reasons of rights: listed in the chart's roles"),
    ("crates/engine/src/run.rs", "errors at the end of the process, for the log"),
    ("crates/engine/src/serve.rs", "answers to the kubelet's probes"),
    ("crates/rabbitmq/src/rights.rs", "reasons of rights: listed in the chart's roles"),
    ("crates/stack/src/rights.rs", "reasons of rights: listed in the chart's roles"),
    ("crates/zonedset/src/rights.rs", "reasons of rights: listed in the chart's roles"),
    ("crates/zookeeper/src/rights.rs", "reasons of rights: listed in the chart's roles"),
];

/// A literal and the code of its statement before it.
struct Literal {
    before: String,
    text: String,
}

/// The literals of a source file but for comments and the tests at its end.
fn literals(source: &str) -> Vec<Literal> {
    const TESTS: &str = "\n#[cfg(test)]\n";
    let opens_module = |rest: &str| {
        let line = rest.lines().next().unwrap_or_default();
        line.contains("mod ") && line.ends_with('{')
    };
    let mut ends = source.match_indices(TESTS).map(|(at, _)| at);
    let end = ends.find(|at| opens_module(&source[at + TESTS.len()..])).unwrap_or(source.len());
    let lines = source[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: Vec<char> = lines.flat_map(|line| line.chars().chain(['\n'])).collect();
    let (mut found, mut before, mut at) = (Vec::new(), String::new(), 0);
    while at < code.len() {
        match code[at] {
            // A character, unless it is a lifetime.
            '\'' if code.get(at + 1) == Some(&'\\') => at += 3,
            '\'' if code.get(at + 2) == Some(&'\'') => at += 2,
            '"' => {
                let start = at + 1;
                at = start;
                while at < code.len() && code[at] != '"' {
                    at += if code[at] == '\\' { 2 } else { 1 };
                }
                let text = code[start..at.min(code.len())].iter().collect();
                found.push(Literal { before: before.clone(), text });
            }
            ';' | '{' | '}' => before.clear(),
            other => before.push(other),
        }
        at += 1;
    }
    found
}

/// Does it read like a sentence, or a part of one? What varies is no word.
fn is_prose(text: &str) -> bool {
    let mut outside = String::new();
    let mut depth = 0_u32;
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            other if depth == 0 => outside.push(other),
            _ => {}
        }
    }
    let is_word = |word: &&str| {
        let word = word.trim_matches([',', ';', ':', '.', '?']);
        word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase() || c == '\'')
    };
    outside.split(' ').filter(is_word).count() >= WORDS
}

/// For the log, for a developer, or the noun of a count.
fn is_for_others(before: &str) -> bool {
    let marks = ["tracing::", "expect(", "unreachable!(", "assert", "reason = ", "Count::of("];
    marks.iter().any(|mark| before.contains(mark))
}

/// Prose of a source file.
fn prose(source: &str) -> Vec<String> {
    let all = literals(source).into_iter().filter(|l| !is_for_others(&l.before));
    all.map(|l| l.text).filter(|text| is_prose(text)).collect()
}

fn is_of_words(name: &str) -> bool {
    ["/words/", "/words.rs", "/tests", "/sim/", "/testing.rs"].iter().any(|p| name.contains(p))
}

#[test]
fn sentences_stand_in_words_and_nowhere_else() {
    let patterns = CRATES.map(|name| format!("crates/{name}/src/*.rs"));
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let sources: Vec<_> = names(&patterns).into_iter().filter_map(text).collect();
    assert!(sources.len() >= LEAST_FILES, "only {} files", sources.len());
    let mut unused: Vec<&str> = ELSEWHERE.iter().map(|(place, _)| *place).collect();
    let mut found = Vec::new();
    for (name, source) in sources.iter().filter(|(name, _)| !is_of_words(name)) {
        let prose = prose(source);
        match ELSEWHERE.iter().find(|(place, _)| name.starts_with(place)) {
            Some((place, _)) if !prose.is_empty() => unused.retain(|p| p != place),
            Some(_) => {}
            None => found.extend(prose.into_iter().map(|text| format!("{name}: {text:?}"))),
        }
    }
    assert!(found.is_empty(), "these belong into words/:\n{}", found.join("\n"));
    assert_eq!(unused, Vec::<&str>::new(), "no prose is left there");
}

#[test]
fn a_planted_sentence_is_found() {
    for planted in [
        "fn f() { draft.wait(\"the ring is being stopped\".into()) }",
        "fn f() -> String { format!(\"member {member} is {state} again\") }",
        "#[error(\"cannot reach the server at {url}\")]",
        "let c = '\"'; bail!(\"the volume has no ledger\");",
        "x.with_context(|| format!(\"reading the file {}\", path.display()))",
    ] {
        assert_eq!(prose(planted).len(), 1, "{planted}");
    }
}

#[test]
fn what_is_for_others_is_no_sentence() {
    for fine in [
        "tracing::info!(id = 1, \"the server has ended\");",
        "x.expect(\"names should be text\")",
        "// the ring is \"being stopped now\"",
        "#[expect(clippy::cast, reason = \"a figure for people\")]",
        "let at = \"/status/conditions/0\";",
        "Count::of(3, \"other member\")",
        "fn f() {}\n#[cfg(test)]\nmod tests {\n const A: &str = \"the ring is well\";\n}",
    ] {
        assert_eq!(prose(fine), Vec::<String>::new(), "{fine}");
    }
}
