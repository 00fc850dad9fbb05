//! The little of Erlang's terms that the agent reads: names of nodes in a text, and the
//! answer to an expression.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use palladion_api::rabbitmq::NodeName;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Names of nodes in a text, each once, sorted: atoms with an `@`, quoted or not.
pub fn nodes(text: &str) -> Vec<NodeName> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '.' | '_' | '-');
    let words = text.split(|c: char| !is_part(c));
    let names = words.map(|word| word.trim_matches('.')).filter(|word| {
        let parts: Vec<&str> = word.split('@').collect();
        parts.len() == 2 && parts.iter().all(|part| !part.is_empty())
    });
    let all: BTreeSet<NodeName> = names.map(NodeName::new).collect();
    all.into_iter().collect()
}

/// An expression that gives what another one gives, as JSON in Base64: however Erlang breaks and
/// escapes a long text, this is found again by [`answer`].
pub fn as_json(expression: &str) -> String {
    format!("base64:encode(iolist_to_binary(rabbit_json:encode({expression}))).")
}

/// An expression that gives rows in which what many of them name, such as nodes, stands once, in
/// a list of words, and a row has its place in it. The name of a node has 60 characters and a
/// queue of three names seven: said each time, that would be most of the answer, and some
/// thousand queues more than a call may give. `words` lists them all, `row` puts `G(X)` in their
/// place; both are made of `R`, the rows.
pub fn by_words(rows: &str, words: &str, row: &str) -> String {
    format!(
        "(fun() -> R = {rows}, W = lists:usort({words}), \
         M = maps:from_list(lists:zip(W, lists:seq(0, length(W) - 1))), \
         G = fun(X) -> maps:get(X, M) end, #{{words => W, rows => {row}}} end)()"
    )
}

/// Such an answer.
#[derive(Deserialize, Debug)]
pub struct Table<Row> {
    words: Vec<Option<String>>,
    /// The rows.
    pub rows: Vec<Row>,
}

impl<Row> Table<Row> {
    /// The word in this place. `None` where there is no such place, `Some(None)` where nothing
    /// is said there.
    pub fn word(&self, at: usize) -> Option<Option<&str>> {
        self.words.get(at).map(Option::as_deref)
    }

    /// The nodes in these places.
    pub fn nodes(&self, at: &[usize]) -> Option<Vec<NodeName>> {
        at.iter().map(|at| self.word(*at).flatten().map(NodeName::new)).collect()
    }
}

/// The JSON of such an answer: the text itself or, printed as a term, what stands between quotes,
/// in pieces.
pub fn answer(text: &str) -> Option<String> {
    let text = match text.contains('"') {
        true => text.split('"').skip(1).step_by(2).collect(),
        false => text.trim().to_string(),
    };
    let bytes = STANDARD.decode(text).ok().filter(|bytes| !bytes.is_empty())?;
    String::from_utf8(bytes).ok()
}

/// A text as a binary of Erlang, whatever is in it.
pub fn binary(text: &str) -> String {
    let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
    format!("<<{}>>", bytes.join(","))
}

/// A text as an atom of Erlang, as the name of a node is one.
pub fn atom(text: &str) -> String {
    format!("binary_to_atom({}, utf8)", binary(text))
}

/// Assert that a text is one expression: on one line, with an end, its brackets closed.
#[cfg(test)]
pub fn assert_one_expression(text: &str) {
    let count = |c: char| text.chars().filter(|other| *other == c).count();
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
        assert_eq!(count(open), count(close), "{open} in {text}");
    }
    assert!(text.ends_with(").") && !text.contains('\n'), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_found_in_a_term_each_once() {
        let term = "{['rabbit@r-0.r-nodes.x.svc.cluster.local',rabbit@b],['rabbit@r-0.r-nodes.x.svc.cluster.local']}.";
        let expected = ["rabbit@b", "rabbit@r-0.r-nodes.x.svc.cluster.local"].map(NodeName::new);
        assert_eq!(nodes(term), expected);
        assert!(nodes("a@ @b user@x@y").is_empty());
    }

    #[test]
    fn an_answer_is_read_however_it_is_broken() {
        let text = STANDARD.encode(r#"[{"name":"q"}]"#);
        let (one, two) = text.split_at(7);
        let printed = format!("<<\"{one}\"\n  \"{two}\">>\n");
        assert_eq!(answer(&printed).as_deref(), Some(r#"[{"name":"q"}]"#));
        assert_eq!(answer(&format!("{text}\n")).as_deref(), Some(r#"[{"name":"q"}]"#));
        assert_eq!(answer("{error,undef}"), None);
        assert_eq!(answer(""), None);
        assert_eq!(answer("<<\"not base64!\">>"), None);
    }

    #[test]
    fn a_name_cannot_bring_in_code() {
        assert_eq!(binary("a\">>)."), "<<97,34,62,62,41,46>>");
        assert_eq!(binary("ä"), "<<195,164>>");
    }
}
