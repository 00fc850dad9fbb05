use super::super::{Ids, altering};
use super::{COMPACT, Restore, SHOP, abouts, cql, name, read};
use std::collections::BTreeMap;

#[test]
fn keyspaces_types_and_tables_come_in_order() {
    let statements = Restore::of(SHOP, "", "").creating().unwrap();
    assert_eq!(
        abouts(&statements),
        [
            "keyspace Mixed",
            "keyspace shop",
            "type Mixed.Point",
            "type shop.street",
            "type shop.address",
            "type shop.Unused",
            "table Mixed.Orders",
            "table shop.Carts",
            "table shop.items",
            "table shop.items",
            "table shop.items",
            "table shop.orders",
            "table shop.orders",
            "table shop.orders",
            "table shop.orders",
        ]
    );
}

#[test]
fn what_is_not_renamed_stays_byte_for_byte() {
    let created = cql(&Restore::of(SHOP, "", "").creating().unwrap());
    let without_ids =
        SHOP.replace("WITH ID = 1b255f4d-ef25-40a6-0000-000000000000\n    AND", "WITH");
    let from = without_ids.find("CREATE TABLE shop.orders").unwrap();
    let to = without_ids.find("\n\nCREATE INDEX \"Orders").unwrap();
    assert!(created.contains(&without_ids[from..to]), "{created}");
    assert!(!created.contains(" ID "), "{created}");
}

#[test]
fn ids_are_kept_for_commit_logs_that_name_tables_by_them() {
    let mut restore = Restore::of(SHOP, "", "");
    (restore.ids, restore.gc_grace) = (Ids::Kept, Some(7));
    let created = cql(&restore.creating().unwrap());
    let id = "1b255f4d-ef25-40a6-0000-000000000000";
    assert!(created.contains(&format!("WITH ID = {id}\n    AND")), "{created}");
    let text = format!("CREATE KEYSPACE a; CREATE TABLE a.t (p int PRIMARY KEY) WITH ID = {id};");
    let mut short = Restore::of(&text, "CREATE KEYSPACE a;", "");
    (short.ids, short.gc_grace) = (Ids::Kept, Some(7));
    let created = cql(&short.creating().unwrap());
    assert!(created.contains(&format!("WITH ID = {id} AND gc_grace_seconds = 7")), "{created}");
    assert_eq!(short.backup.id(&name("a.t")), Some(id));
    assert_eq!(short.backup.id(&name("a.u")), None);
    let without = Restore::of("CREATE KEYSPACE a; CREATE TABLE a.t (p int PRIMARY KEY);", "", "");
    assert_eq!(without.backup.id(&name("a.t")), None);
}

#[test]
fn an_id_goes_wherever_it_stands() {
    let create = |options: &str, gc_grace| {
        let mut restore = Restore::of(
            &format!("CREATE KEYSPACE a; CREATE TABLE a.t (p int PRIMARY KEY){options};"),
            "CREATE KEYSPACE a;",
            "",
        );
        restore.gc_grace = gc_grace;
        restore
            .creating()
            .unwrap()
            .remove(0)
            .cql
            .replace("CREATE TABLE a.t (p int PRIMARY KEY)", "")
    };
    for (options, kept, raised) in [
        ("", "", " WITH gc_grace_seconds = 9"),
        (" WITH ID = 1b-2", "", " WITH gc_grace_seconds = 9"),
        (
            " WITH ID = 1b-2\n    AND comment = 'ID = 3 AND'",
            " WITH comment = 'ID = 3 AND'",
            " WITH comment = 'ID = 3 AND' AND gc_grace_seconds = 9",
        ),
        (
            " WITH caching = {'a': 'AND'} AND ID = 1b-2 AND cdc = true",
            " WITH caching = {'a': 'AND'} AND cdc = true",
            " WITH caching = {'a': 'AND'} AND cdc = true AND gc_grace_seconds = 9",
        ),
        (
            " WITH gc_grace_seconds = 10 AND ID = 1b-2",
            " WITH gc_grace_seconds = 10",
            " WITH gc_grace_seconds = 9",
        ),
    ] {
        assert_eq!(create(options, None), kept, "{options}");
        assert_eq!(create(options, Some(9)), raised, "{options}");
    }
}

#[test]
fn commas_that_cassandra_forgets_are_there() {
    let created = cql(&Restore::of(SHOP, "", "shop.items").creating().unwrap());
    assert!(
        created.contains("    gone int,\n    old frozen<tuple<text, int>>\n) WITH comment"),
        "{created}"
    );
}

#[test]
fn a_renamed_keyspace_leaves_nothing_of_its_name_behind() {
    let mut restore = Restore::of(SHOP, "", "shop=copy,Mixed=Copy2");
    let text = cql(&restore.run());
    // The only ones left are those of strings and bodies.
    let strings = [
        "'a cart; it''s /* not */ shop.orders'",
        "'cosine; shop.items'",
        "'shop.orders'",
        "// shop.added; it's \"right\"",
    ];
    let bare = strings.iter().fold(text.clone(), |text, string| {
        assert!(text.contains(string), "{string}");
        text.replace(string, "")
    });
    assert!(!bare.contains("shop") && !bare.contains("\"Mixed\"."), "{bare}");
    for part in [
        "CREATE KEYSPACE copy WITH",
        "CREATE TABLE \"Copy2\".\"Orders\" (",
        "other \"Copy2\".\"Point\"",
        "places list<frozen<copy.address>>",
        "ALTER TABLE copy.orders DROP gone USING TIMESTAMP 1589286942065003;",
        "FINALFUNC copy.added",
        "place frozen<copy.address>",
        "ON copy.items (entries(tags))",
        "FROM copy.orders\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_table_takes_the_types_that_it_needs_along() {
    let restore = Restore::of(SHOP, "", "shop.orders=new.copies");
    let statements = restore.creating().unwrap();
    let table = ["table new.copies"; 4];
    let before = ["keyspace new", "type new.street", "type new.address"];
    assert_eq!(abouts(&statements), [&before[..], &table[..]].concat());
    assert!(statements[3].cql.starts_with("CREATE TABLE new.copies ("), "{}", statements[3].cql);
    assert!(statements[4].cql.starts_with("ALTER TABLE new.copies DROP back"));
}

#[test]
fn reserved_and_mixed_names_are_quoted() {
    let text = cql(&Restore::of(SHOP, "", "shop.items=Other.Table,shop.Carts=table.select")
        .creating()
        .unwrap());
    for part in [
        "CREATE KEYSPACE \"Other\" ",
        "CREATE TABLE \"Other\".\"Table\" (",
        "CREATE TABLE \"table\".\"select\" (",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn datacenters_are_renamed_in_replication_only() {
    let mut restore = Restore::of(SHOP, "", "");
    restore.datacenters = BTreeMap::from([("dc1".to_owned(), "east".to_owned())]);
    let text = cql(&restore.creating().unwrap());
    assert!(
        text.contains("{'class': 'NetworkTopologyStrategy', 'east': '3', 'dc2': '2'}  AND durable"),
        "{text}"
    );
    assert!(text.contains("{'class': 'SimpleStrategy', 'replication_factor': '1'}"), "{text}");
    restore.datacenters = BTreeMap::from([("dc1".to_owned(), "dc2".to_owned())]);
    let error = restore.creating().unwrap_err().to_string();
    assert_eq!(
        error,
        "two datacenters of keyspace shop would both be renamed to dc2; correct spec.datacenters, or create the keyspace in the ring"
    );
    let swapped = [("dc1", "dc2"), ("dc2", "dc1")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    restore.datacenters = swapped.into();
    assert!(cql(&restore.creating().unwrap()).contains("'dc2': '3', 'dc1': '2'"));
}

#[test]
fn a_name_that_is_no_datacenter_of_the_backup_is_refused_before_anything_is_created() {
    for name in ["dc7", "class", "1", "replication_factor"] {
        let mut restore = Restore::of(SHOP, "", "");
        let map = [("dc1", "east"), (name, "x")];
        restore.datacenters = map.map(|(from, to)| (from.to_owned(), to.to_owned())).into();
        let error = restore.creating().unwrap_err().to_string();
        let words = format!(
            "no keyspace of the backup is replicated to a datacenter `{name}`; correct spec.datacenters"
        );
        assert_eq!(error, words);
    }
}

#[test]
fn gc_grace_is_raised_of_what_is_there_and_of_what_is_created() {
    let mut restore = Restore::of(SHOP, &SHOP.replace("shop.orders", "shop.others"), "shop");
    restore.gc_grace = Some(864_000);
    let statements = restore.creating().unwrap();
    let last = statements.last().unwrap();
    assert_eq!(last.cql, "ALTER TABLE shop.\"Carts\" WITH gc_grace_seconds = 864000");
    assert_eq!(
        abouts(&statements).iter().filter(|about| **about != "table shop.orders").count(),
        1
    );
    restore.gc_grace = None;
    assert!(!cql(&restore.creating().unwrap()).contains("Carts"));
}

#[test]
fn a_type_of_another_definition_is_refused() {
    let ring = "CREATE KEYSPACE shop; CREATE TYPE shop.street (name text);";
    let error = Restore::of(SHOP, ring, "shop").creating().unwrap_err().to_string();
    assert_eq!(
        error,
        "type shop.street of the ring has another definition than in the backup; restore to another keyspace, or alter the type"
    );
    let more = ring.replace("text", "text, number int, more int");
    let created = Restore::of(SHOP, &more, "shop").creating().unwrap();
    assert!(!abouts(&created).contains(&"type shop.street"));

    let two = "CREATE KEYSPACE a; CREATE TYPE a.u (x int); CREATE TABLE a.t (p int PRIMARY KEY, u frozen<u>);
        CREATE KEYSPACE b; CREATE TYPE b.u (x text); CREATE TABLE b.s (p int PRIMARY KEY, u frozen<u>);";
    let error = Restore::of(two, "", "a=c,b=c").creating().unwrap_err().to_string();
    assert_eq!(
        error,
        "a.u and b.u differ, and both are needed as type c.u; restore them to different keyspaces"
    );
    let same = two.replace("x text", "x int");
    assert_eq!(
        abouts(&Restore::of(&same, "", "a=c,b=c").creating().unwrap()),
        ["keyspace c", "type c.u", "table c.t", "table c.s"]
    );
}

#[test]
fn what_cannot_be_created_is_refused() {
    let needs = |text: &str, places: &str| {
        Restore::of(text, "", places).creating().unwrap_err().to_string()
    };
    assert_eq!(
        needs(COMPACT, ""),
        "old.wide has COMPACT STORAGE, and Cassandra does not describe how to create it; create old.wide in the ring, or leave it out of spec.tables"
    );
    let text = "CREATE KEYSPACE a; CREATE TABLE a.t (p int PRIMARY KEY, u frozen<u>);";
    assert_eq!(
        needs(text, ""),
        "type a.u is needed by a table of the backup, but is not in its schema; use another backup"
    );
    let text = "CREATE KEYSPACE a; CREATE TABLE a.t (p int PRIMARY KEY, u 'org.apache.cassandra.db.marshal.UserType(a,75,78:Int32Type)');";
    assert!(needs(text, "a=b").contains("Java class"));
    assert_eq!(Restore::of(text, "", "a").creating().unwrap().len(), 2);
    let text =
        "CREATE KEYSPACE a; CREATE TABLE a.t (p int PRIMARY KEY, u int MASKED WITH a.hidden(1));";
    assert_eq!(
        needs(text, ""),
        "function a.hidden masks a column of a.t, but is not in the schema of the backup; use another backup, or create the table in the ring"
    );
}

#[test]
fn masks_come_with_their_functions() {
    let text = "CREATE KEYSPACE a; CREATE FUNCTION a.hidden(x text, y int) CALLED ON NULL INPUT RETURNS text LANGUAGE java AS $$return null;$$;
        CREATE TABLE a.t (p int PRIMARY KEY, u text MASKED WITH a.hidden(1, (2)), w text MASKED WITH system.mask_inner(1, null));";
    let mut restore = Restore::of(text, "", "a=b");
    let statements = restore.creating().unwrap();
    assert_eq!(abouts(&statements), ["keyspace b", "function b.hidden", "table b.t"]);
    assert!(statements[2].cql.contains(
        "u text MASKED WITH b.hidden(1, (2)), w text MASKED WITH system.mask_inner(1, null)"
    ));
    assert_eq!(restore.run().len(), 3);
}

#[test]
fn an_interrupted_table_is_altered_to_its_end() {
    let mut restore = Restore::of(SHOP, "", "shop.orders=a.b");
    let statements = restore.creating().unwrap();
    let first = statements.iter().position(|s| s.cql.starts_with("CREATE TABLE")).unwrap();
    for done in first + 1..=statements.len() {
        restore.ring.clear();
        restore.execute(&statements[..done]);
        let rest = altering(&restore.backup, &read(&restore.ring), &restore.chosen);
        assert_eq!(rest, statements[done..], "{done}");
        restore.execute(&rest);
        assert_eq!(restore.differs("a.b"), None);
    }
}
