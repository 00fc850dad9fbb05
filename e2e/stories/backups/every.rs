//! A keyspace with all that a schema can have, and rows of which it is known what they are.

use palladion_e2e::Ring;

pub const KEYSPACE: &str = "every";
/// What comes of it under another name.
pub const AGAIN: &str = "every_again";

/// Rows of each table, whatever its keyspace: what they are is the same wherever they are.
pub fn rows(ring: &Ring<'_>, keyspace: &str) -> Vec<Vec<String>> {
    rows_by(&|statement| ring.cql(&[statement]).expect("rows"), keyspace)
}

/// The same, by whoever can ask.
pub fn rows_by(ask: &dyn Fn(&str) -> Vec<String>, keyspace: &str) -> Vec<Vec<String>> {
    let asked = [
        "SELECT id, home, tags FROM {k}.people",
        "SELECT * FROM {k}.visits",
        "SELECT \"Id\", a, c FROM {k}.\"Mixed\"",
        // By the indexes.
        "SELECT id FROM {k}.people WHERE age = 30",
        "SELECT \"Id\" FROM {k}.\"Mixed\" WHERE c = 7",
    ];
    let rows = asked.map(|statement| {
        let mut found = ask(&statement.replace("{k}", keyspace));
        found.sort();
        found
    });
    rows.to_vec()
}

/// Create it, if it is not there.
pub fn made(ring: &Ring<'_>) {
    let there = format!(
        "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = '{KEYSPACE}'"
    );
    if !ring.cql(&[&there]).expect("an answer").is_empty() {
        return;
    }
    let schema = [
        "CREATE KEYSPACE {k} WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
        "CREATE TYPE {k}.place (street text, number int)",
        "CREATE TYPE {k}.home (at frozen<place>, since date)",
        "CREATE TABLE {k}.people (id int PRIMARY KEY, home frozen<home>, age int, tags map<text, frozen<list<int>>>, gone text) WITH gc_grace_seconds = 777 AND comment = 'it''s; all'",
        "CREATE INDEX people_by_age ON {k}.people (age)",
        "CREATE TABLE {k}.visits (page text PRIMARY KEY, times counter)",
        "CREATE TABLE {k}.\"Mixed\" (\"Id\" int, a text, c int, s int static, PRIMARY KEY (\"Id\", a)) WITH CLUSTERING ORDER BY (a DESC)",
        "CREATE INDEX mixed_by_c ON {k}.\"Mixed\" (c) USING 'sai'",
    ];
    let write = [
        "INSERT INTO {k}.people (id, home, age, tags, gone) VALUES (1, {at: {street: 'a; b', number: 3}, since: '2020-01-01'}, 30, {'x': [1, 2]}, 'g')",
        "INSERT INTO {k}.people (id, age, gone) VALUES (2, 30, 'g')",
        "INSERT INTO {k}.people (id, age) VALUES (3, 31)",
        "DELETE FROM {k}.people WHERE id = 3",
        "ALTER TABLE {k}.people DROP gone",
        "INSERT INTO {k}.people (id, age) VALUES (4, 32)",
        "UPDATE {k}.visits SET times = times + 41 WHERE page = 'p'",
        "UPDATE {k}.visits SET times = times + 1 WHERE page = 'p'",
        "INSERT INTO {k}.\"Mixed\" (\"Id\", a, c, s) VALUES (1, 'b', 7, 9)",
        "INSERT INTO {k}.\"Mixed\" (\"Id\", a, c) VALUES (1, 'a', 8)",
    ];
    let all: Vec<String> =
        schema.iter().chain(&write).map(|statement| statement.replace("{k}", KEYSPACE)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    ring.cql(&all).expect("a keyspace with everything");
    let rows = rows(ring, KEYSPACE);
    let counts: Vec<usize> = rows.iter().map(Vec::len).collect();
    assert_eq!(counts, [3, 1, 2, 2, 1], "{rows:?}");
    assert_eq!(rows[1], ["p 42"]);
}
