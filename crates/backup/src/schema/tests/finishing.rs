use super::{Restore, SHOP, abouts, cql, names};

#[test]
fn functions_indexes_and_views_come_last() {
    let restore = Restore::of(SHOP, "", "");
    let created = names(&["shop.Carts", "shop.items", "shop.orders"]);
    let statements = restore.finishing(&created);
    assert_eq!(
        abouts(&statements),
        [
            "function shop.added",
            "function shop.added",
            "aggregate shop.total",
            "index shop.items_name_idx",
            "index shop.items_tags",
            "index shop.items_ann",
            "index shop.Orders by place",
            "index shop.orders_state",
            "materialized view shop.orders_by_number",
        ]
    );
    let text = cql(&statements);
    let view = SHOP.find("CREATE MATERIALIZED VIEW").unwrap();
    let view = &SHOP[view..SHOP.find("\n\nCREATE KEYSPACE \"Mixed\"").unwrap()];
    let view = view.replace("WITH ID = 3b255f4d-ef25-40a6-0000-000000000000\n    AND", "WITH");
    assert!(text.ends_with(&format!("{view}\n")), "{text}");
    assert!(
        text.contains("CREATE INDEX \"Orders by place\" ON shop.orders (full(place));"),
        "{text}"
    );
}

#[test]
fn tables_that_were_there_keep_what_they_have() {
    let restore = Restore::of(SHOP, "", "shop");
    let abouts_of = |tables: &[&str]| {
        restore
            .finishing(&names(tables))
            .into_iter()
            .map(|statement| statement.about)
            .collect::<Vec<_>>()
    };
    let functions = ["function shop.added", "function shop.added", "aggregate shop.total"];
    assert_eq!(abouts_of(&["shop.Carts"]), functions);
    assert_eq!(
        abouts_of(&["shop.orders"]).last().unwrap(),
        "materialized view shop.orders_by_number"
    );
}

#[test]
fn of_single_tables_only_the_indexes_come() {
    let restore = Restore::of(SHOP, SHOP, "shop.orders=shop.orders2,shop.items=new.items");
    let statements = restore.finishing(&names(&["shop.orders2", "new.items"]));
    assert_eq!(
        abouts(&statements),
        [
            "index shop.orders2_Orders by place",
            "index shop.orders2_orders_state",
            "index new.items_name_idx",
            "index new.items_tags",
            "index new.items_ann",
        ]
    );
    let text = cql(&statements);
    assert!(
        text.contains("CREATE INDEX \"orders2_Orders by place\" ON shop.orders2 (full(place));"),
        "{text}"
    );
    let sai = "CREATE CUSTOM INDEX items_ann ON new.items (embedding) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'cosine; shop.items'};";
    assert!(text.contains(sai), "{text}");
}

#[test]
fn a_name_of_an_index_that_is_taken_gets_that_of_its_table() {
    let taken = "CREATE KEYSPACE a; CREATE TABLE a.x (p int PRIMARY KEY, name text); CREATE INDEX items_name_idx ON a.x (name);";
    let mut restore = Restore::of(SHOP, taken, "shop.items=a.items");
    let text = cql(&restore.run());
    assert!(text.contains("CREATE INDEX items_items_name_idx ON a.items (name);"), "{text}");
    assert!(text.contains("CREATE INDEX items_tags ON a.items"), "{text}");
    assert_eq!(restore.run(), []);

    let both =
        "CREATE KEYSPACE a; CREATE TABLE a.t (p int PRIMARY KEY, v int); CREATE INDEX i ON a.t (v);
        CREATE KEYSPACE b; CREATE TABLE b.s (p int PRIMARY KEY, v int); CREATE INDEX i ON b.s (v);";
    let mut restore = Restore::of(both, "", "a=c,b=c");
    let text = cql(&restore.run());
    assert!(text.contains("INDEX i ON c.t") && text.contains("INDEX s_i ON c.s"), "{text}");
    assert_eq!(restore.run(), []);
}

#[test]
fn an_index_of_the_same_definition_is_there() {
    let ring = SHOP.replace("CREATE INDEX items_name_idx", "CREATE INDEX other_name");
    let statements = Restore::of(SHOP, &ring, "shop").finishing(&names(&["shop.items"]));
    assert_eq!(statements, []);
}

#[test]
fn a_view_in_the_way_of_its_own_name_is_left() {
    let ring = "CREATE KEYSPACE shop; CREATE TABLE shop.orders_by_number (p int PRIMARY KEY);";
    let statements = Restore::of(SHOP, ring, "shop").finishing(&names(&["shop.orders"]));
    assert!(!abouts(&statements).contains(&"materialized view shop.orders_by_number"));
}
