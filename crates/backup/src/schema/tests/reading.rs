use super::{COMPACT, Described, SHOP, name, read};
use crate::words::schema::{Opened, Unread};

#[test]
fn a_schema_is_read_whole() {
    let shop = read(SHOP);
    let tables: Vec<_> = shop.tables.keys().map(ToString::to_string).collect();
    let expected = ["Mixed.Orders", "shop.Carts", "shop.items", "shop.orders", "system_auth.roles"];
    assert_eq!(tables, expected);
    assert_eq!(shop.types.len(), 4);
    assert_eq!(shop.functions.len(), 3);
    assert_eq!(shop.indexes.len(), 5);
    assert_eq!(
        shop.views.keys().map(ToString::to_string).collect::<Vec<_>>(),
        ["shop.orders_by_number"]
    );
    let orders = &shop.tables[&name("shop.orders")];
    assert_eq!(orders.partition, ["customer", "day"]);
    assert!(orders.columns["state"].is_static);
    assert!(orders.columns.contains_key("back") && orders.columns.contains_key("Mixed"));
    assert_eq!(orders.dropped.keys().collect::<Vec<_>>(), ["back", "gone"]);
    assert_eq!(orders.columns["places"].kind.to_string(), "list<frozen<address>>");
    assert_eq!(orders.dropped["gone"].column.kind.to_string(), "frozen<tuple<text, int>>");
}

#[test]
fn gc_grace_is_that_of_the_table_or_of_cassandra() {
    let shop = read(SHOP);
    assert_eq!(shop.gc_grace_seconds(&name("shop.Carts")), Some(3600));
    assert_eq!(shop.gc_grace_seconds(&name("shop.items")), Some(864_000));
    assert_eq!(shop.gc_grace_seconds(&name("shop.carts")), None);
    assert_eq!(shop.gc_grace_seconds(&name("shop.orders_by_number")), None);
}

#[test]
fn a_compact_table_is_read_from_its_comment() {
    let old = read(COMPACT);
    assert!(old.tables[&name("old.wide")].is_compact);
    assert_eq!(old.gc_grace_seconds(&name("old.wide")), Some(77));
}

#[test]
fn nothing_is_read_of_nothing() {
    for text in ["", "\n", "-- a comment", "/* CREATE TABLE a.b (c int); */"] {
        assert!(read(text).tables.is_empty(), "{text}");
    }
}

#[test]
fn names_are_as_the_server_has_them() {
    let text = "CREATE TABLE KS.\"A\"\"b\" (\"Pk\" INT PRIMARY KEY, V Frozen<List<VARCHAR>>);";
    let described = read(text);
    let (name, table) = described.tables.first_key_value().unwrap();
    assert_eq!((name.to_string(), name.cql()), ("ks.A\"b".to_owned(), "ks.\"A\"\"b\"".to_owned()));
    assert_eq!(table.partition, ["Pk"]);
    assert_eq!(table.columns["v"].kind.to_string(), "frozen<list<text>>");
}

#[test]
fn what_does_not_end_is_a_schema_cut_off() {
    for (text, what, line) in [
        ("\nCREATE KEYSPACE a", Opened::Statement, 2),
        ("\n\n/* a", Opened::Comment, 3),
        ("CREATE 'a''", Opened::Text, 1),
        ("CREATE\n\"a\"\"", Opened::Name, 2),
        ("AS\n $$ a $", Opened::Body, 2),
    ] {
        assert_eq!(Described::parse(text).unwrap_err(), Unread::Open { what, line }, "{text}");
    }
    // Wherever it is cut, it is not read as a smaller schema without a word.
    let last = SHOP.rfind("*/").unwrap();
    let whole = read(SHOP).tables.len();
    for end in (0..last).filter(|end| SHOP.is_char_boundary(*end)) {
        if let Ok(cut) = Described::parse(&SHOP[..end]) {
            let before = SHOP[..end].trim_end();
            assert!(before.is_empty() || before.ends_with(';') || before.ends_with("*/"), "{end}");
            assert!(cut.tables.len() <= whole);
        }
    }
}

#[test]
fn what_is_not_known_is_refused() {
    for (text, message) in [
        (
            "\nGRANT ALL ON a TO b;",
            "line 2 of the schema begins a statement that this version does not know: `GRANT ALL ON a TO b`; use a newer palladion",
        ),
        (
            "CREATE TABLE a.b (c int,\n d int CHECK d > 3, PRIMARY KEY (c));",
            "cannot read table a.b: line 2 of the schema has `> 3, PRIMARY KEY (c))` where this version expects `,`; use a newer palladion",
        ),
        (
            "CREATE TABLE a.b (c int PRIMARY KEY, d int e int);",
            "cannot read table a.b: line 1 of the schema has `e` where this version expects `,`; use a newer palladion",
        ),
        (
            "CREATE TABLE b (c int PRIMARY KEY);",
            "cannot read a statement: line 1 of the schema has `(c int PRIMARY KEY)` where this version expects `.`; use a newer palladion",
        ),
        (
            "CREATE TABLE a.b (c int PRIMARY KEY) WITH gc_grace_seconds = 'x';",
            "cannot read table a.b: line 1 of the schema has `;` where this version expects gc_grace_seconds as a number; use a newer palladion",
        ),
        (
            "CREATE TABLE a.b (c int PRIMARY KEY, c int);",
            "cannot read table a.b: line 1 of the schema has `)` where this version expects a column that is not defined yet; use a newer palladion",
        ),
        (
            "ALTER TABLE a.b DROP c USING TIMESTAMP 1;",
            "cannot read table a.b: line 1 of the schema has `DROP c USING TIMESTAMP 1` where this version expects CREATE TABLE before it; use a newer palladion",
        ),
        (
            "CREATE TABLE a.b (c int PRIMARY KEY); ALTER TABLE a.b RENAME c TO d;",
            "cannot read table a.b: line 1 of the schema has `RENAME c TO d` where this version expects `ADD`; use a newer palladion",
        ),
        (
            "CREATE TABLE a.b (c int PRIMARY KEY); CREATE TABLE a.b (c int PRIMARY KEY);",
            "the schema defines table a.b twice; use another backup",
        ),
    ] {
        assert_eq!(Described::parse(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn a_text_that_another_lexer_would_take_for_another_statement_is_not_read() {
    // Cassandra ends a comment at a carriage return, too, and would create a role.
    let hostile = "CREATE --\r ROLE m WITH PASSWORD = 'x\n TABLE shop.t (a int PRIMARY KEY) WITH gc_grace_seconds = 1 AND read_repair = --' AND LOGIN = true AND SUPERUSER =\n true;\n";
    for text in [
        hostile,
        "CREATE TABLE shop.t (a int PRIMARY KEY) /* b */ WITH comment = '';",
        "CREATE TABLE shop.t (a int -- b\n PRIMARY KEY);",
        "CREATE TABLE shop.t (a int // b\n PRIMARY KEY);",
        "-- a\rDROP KEYSPACE shop;\n",
        "CREATE\rTABLE shop.t (a int PRIMARY KEY);",
    ] {
        let read = Described::parse(text);
        assert!(matches!(read, Err(Unread::Stray { .. })), "{text:?}: {read:?}");
    }
    // Between statements, and in strings, it says what Cassandra says.
    let fine =
        "/* a; */\n-- b\nCREATE TABLE shop.t (a int PRIMARY KEY) WITH comment = '-- \r /* c */';\n";
    assert_eq!(Described::parse(fine).map(drop), Ok(()));
}

#[test]
fn what_is_nested_too_deep_or_is_too_long_is_not_read() {
    let nested = |depth: usize| {
        let open = "frozen<list<".repeat(depth / 2);
        let close = ">".repeat(depth / 2 * 2);
        format!("CREATE TABLE shop.t (a int PRIMARY KEY, b {open}int{close});")
    };
    assert_eq!(Described::parse(&nested(20)).map(drop), Ok(()));
    let deep = Described::parse(&nested(100_000));
    assert!(matches!(deep, Err(Unread::Deep { .. })), "{:?}", deep.map(drop));
    let long = " ".repeat(17 * 1024 * 1024);
    assert!(matches!(Described::parse(&long), Err(Unread::Long { .. })));
}
