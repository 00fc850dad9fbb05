use super::{COMPACT, Restore, SHOP, There};

/// A table with a bit of everything.
const TABLE: &str = "CREATE TYPE a.u (x int, y text);
CREATE TYPE a.o (u frozen<u>);
CREATE TABLE a.t (p int, q text, c int, d text, s int static, v frozen<o>, l list<int>, was int, again int,
    PRIMARY KEY ((p, q), c, d)) WITH CLUSTERING ORDER BY (c ASC, d DESC) AND gc_grace_seconds = 10;
ALTER TABLE a.t DROP was USING TIMESTAMP 100;
ALTER TABLE a.t DROP again USING TIMESTAMP 200;
ALTER TABLE a.t ADD again int;";

/// How the table differs in a ring where some text is another one.
fn with(from: &str, to: &str) -> Option<String> {
    assert!(TABLE.contains(from), "{from}");
    Restore::of(TABLE, &TABLE.replace(from, to), "a.t").differs("a.t")
}

#[test]
fn a_table_fits_itself_and_what_differs_in_no_file() {
    for (from, to) in [
        ("gc_grace_seconds = 10", "comment = 'x'"),
        ("l list<int>", "l list<int>, more text"),
        ("q text", "q varchar"),
        ("v frozen<o>", "v frozen<a.o>"),
        // A type is only ever extended at its end.
        ("(x int, y text)", "(x int, y text, z int)"),
        ("p int, q text", "q text, p int"),
        // Gone is gone.
        ("TIMESTAMP 100", "TIMESTAMP 99"),
    ] {
        assert_eq!(with(from, to), None, "{from} -> {to}");
    }
}

#[test]
fn what_files_cannot_be_loaded_into_is_said() {
    for (from, to, message) in [
        ("(p, q)", "(q, p)", "its partition key is q and p in the ring, and p and q in the backup"),
        (
            "((p, q), c, d)",
            "(p, q, c, d)",
            "its partition key is p in the ring, and p and q in the backup",
        ),
        (
            "(p, q), c, d)",
            "(p, q), d, c)",
            "its clustering columns are d and c in the ring, and c and d in the backup",
        ),
        (
            "d DESC",
            "d ASC",
            "clustering column `d` is ascending in the ring, and descending in the backup",
        ),
        ("l list<int>, ", "", "column `l` of the backup is missing in the ring"),
        (
            "s int static",
            "s int",
            "column `s` is a regular column in the ring, and static in the backup",
        ),
        (
            "s int static",
            "s bigint static",
            "column `s` has type `bigint` in the ring, and `int` in the backup",
        ),
        (
            "l list<int>",
            "l frozen<list<int>>",
            "column `l` has type `frozen<list<int>>` in the ring, and `list<int>` in the backup",
        ),
        (
            "(x int, y text)",
            "(x int)",
            "type a.u has another definition in the ring than in the backup",
        ),
        (
            "(x int, y text)",
            "(y text, x int)",
            "type a.u has another definition in the ring than in the backup",
        ),
        (
            ";\nALTER TABLE a.t DROP again",
            "; ALTER TABLE a.t DROP l USING TIMESTAMP 5; ALTER TABLE a.t DROP again",
            "column `l` of the backup was dropped in the ring",
        ),
        (
            "ALTER TABLE a.t DROP was USING TIMESTAMP 100;",
            "",
            "column `was` was dropped in the backup, and a load would bring its old values back in the ring",
        ),
        (
            "TIMESTAMP 200",
            "TIMESTAMP 199",
            "column `again` was dropped in the backup, and a load would bring its old values back in the ring",
        ),
        (
            "TIMESTAMP 200",
            "TIMESTAMP 201",
            "column `again` was dropped in the ring and added again, so its values in the backup would not be seen",
        ),
        (
            "was int, ",
            "was text, ",
            "column `was` has type `text` in the ring, and `int` in the backup",
        ),
        (
            " AND gc_grace",
            " AND COMPACT STORAGE AND gc_grace",
            "the table has COMPACT STORAGE in the ring, and no COMPACT STORAGE in the backup",
        ),
    ] {
        assert_eq!(with(from, to).unwrap_or_default(), message, "{from} -> {to}");
    }
    let unknown = TABLE.replace("was int, ", "");
    let unknown = unknown.replace("ALTER TABLE a.t DROP was USING TIMESTAMP 100;", "");
    let message = "column `was` was dropped before the backup, and the ring does not know that it ever existed";
    assert_eq!(Restore::of(TABLE, &unknown, "a.t").differs("a.t").unwrap(), message);
    assert_eq!(Restore::of(&unknown, TABLE, "a.t").differs("a.t"), None);
}

#[test]
fn types_are_compared_by_what_they_are() {
    let differs = |one: &str, other: &str| {
        let table = |kind| {
            format!("CREATE TYPE a.u (x int); CREATE TABLE a.t (p int PRIMARY KEY, v {kind});")
        };
        Restore::of(&table(one), &table(other), "a.t").differs("a.t").is_some()
    };
    for (one, other) in [
        ("tuple<int, text>", "frozen<tuple<int, varchar>>"),
        ("frozen<list<frozen<set<int>>>>", "frozen<list<set<int>>>"),
        ("map<int, frozen<u>>", "map<int, frozen<a.u>>"),
        ("vector<float, 3>", "VECTOR<FLOAT, 3>"),
        ("list<tuple<int>>", "list<frozen<tuple<int>>>"),
    ] {
        assert!(!differs(one, other) && !differs(other, one), "{one} {other}");
    }
    for (one, other) in [
        ("list<int>", "frozen<list<int>>"),
        ("frozen<u>", "u"),
        ("vector<float, 3>", "vector<float, 4>"),
        ("tuple<int, text>", "tuple<int, text, int>"),
        ("map<int, text>", "map<text, int>"),
        ("int", "'org.apache.cassandra.db.marshal.Int32Type'"),
        ("set<text>", "list<text>"),
    ] {
        assert!(differs(one, other) && differs(other, one), "{one} {other}");
    }
}

#[test]
fn a_difference_is_as_long_as_a_status_holds() {
    let table = |kind: &str| {
        format!("CREATE TABLE a.t (p int PRIMARY KEY, v tuple<{}int>);", kind.repeat(99))
    };
    let differs = Restore::of(&table("text, "), &table("blob, "), "a.t").differs("a.t").unwrap();
    assert_eq!(differs.chars().count(), 512);
}

#[test]
fn a_type_of_a_key_is_the_same_to_its_last_field() {
    let table = |key, fields| {
        format!(
            "CREATE TYPE a.u (x int{fields}); CREATE TABLE a.t (p int, c frozen<u>, v frozen<u>, PRIMARY KEY ({key}));"
        )
    };
    let differs = |key| Restore::of(&table(key, ""), &table(key, ", y int"), "a.t").differs("a.t");
    assert_eq!(differs("p"), None);
    assert_eq!(
        differs("p, c").unwrap(),
        "type a.u has another definition in the ring than in the backup"
    );
}

#[test]
fn a_view_of_the_name_is_in_the_way() {
    let ring = "CREATE MATERIALIZED VIEW b.t AS SELECT * FROM b.o WHERE x IS NOT NULL PRIMARY KEY (x) WITH gc_grace_seconds = 7;";
    let there = Restore::of(TABLE, ring, "a.t=b.t").there("b.t");
    let differs = Some("it is a materialized view in the ring".to_owned());
    assert_eq!(there, There::Table { gc_grace_seconds: 7, differs, storage_attached: None });
}

#[test]
fn indexes_that_add_to_files_are_named() {
    let there = |to: &str| match Restore::of(SHOP, SHOP, "").there(to) {
        There::Absent => panic!("{to} is there"),
        There::Table { gc_grace_seconds, differs, storage_attached } => {
            assert_eq!(differs, None);
            (gc_grace_seconds, storage_attached.unwrap_or_default())
        }
    };
    assert_eq!(there("shop.Carts"), (3600, String::new()));
    assert_eq!(there("shop.items"), (864_000, "items_ann".to_owned()));
    assert_eq!(there("shop.orders"), (864_000, "orders_state".to_owned()));
    for (using, is_attached) in [("'sai'", true), ("'SAI'", true), ("'legacy_local_table'", false)]
    {
        let ring = format!("{TABLE} CREATE INDEX \"I\" ON a.t (values(l)) USING {using};");
        let There::Table { storage_attached, .. } = Restore::of(TABLE, &ring, "a.t").there("a.t")
        else {
            panic!("a.t is there")
        };
        assert_eq!(storage_attached, is_attached.then(|| "I".to_owned()), "{using}");
    }
}

#[test]
fn compact_tables_fit_each_other() {
    assert_eq!(Restore::of(COMPACT, COMPACT, "").differs("old.wide"), None);
    assert_eq!(Restore::of(COMPACT, "", "").there("old.wide"), There::Absent);
}

#[test]
fn a_table_fits_in_another_keyspace() {
    let ring = TABLE.replace("a.", "b.");
    assert_eq!(Restore::of(TABLE, &ring, "a=b").differs("b.t"), None);
    let ring = ring.replace("x int", "x text");
    assert!(Restore::of(TABLE, &ring, "a=b").differs("b.t").unwrap().contains("type b.u"));
}
