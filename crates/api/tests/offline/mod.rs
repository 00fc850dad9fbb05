//! Where the offline evaluator knows less than the API server, the rule is
//! written for it in other words. What it says then is what the API server must
//! say to the same manifest, which the tests on the testbed hold it to.

use regex::Regex;
use serde_json::Value;

/// The schema with its rules in words that the offline evaluator knows.
pub fn adapted(mut schema: Value) -> Value {
    walk(&mut schema);
    schema
}

fn walk(schema: &mut Value) {
    let rules = schema.get_mut("x-kubernetes-validations").and_then(Value::as_array_mut);
    for rule in rules.into_iter().flatten() {
        for text in ["rule", "messageExpression"] {
            if let Some(words) = rule[text].as_str() {
                rule[text] = Value::String(words_it_knows(words));
            }
        }
    }
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    fields.into_iter().flat_map(|f| f.values_mut()).for_each(walk);
    for inner in ["items", "additionalProperties"] {
        schema.get_mut(inner).into_iter().for_each(walk);
    }
}

fn words_it_knows(rule: &str) -> String {
    // It lacks `type()`. A number differs from its text.
    let type_of = Regex::new(r"type\(([^()]*)\) == int").expect("should be a regular expression");
    let rule = type_of.replace_all(rule, "$1 != string($1)");
    // It takes `_` in the name of a field for a character to escape; to the API server it is a letter.
    let reserved =
        Regex::new(r"^!has\(self\.([a-z_]+)\)$").expect("should be a regular expression");
    reserved
        .replace(&rule, |found: &regex::Captures<'_>| {
            format!("!has(self.{})", found[1].replace('_', "__"))
        })
        .into_owned()
}
