//! Schemas of any shape: what is created is what the backup had, and nothing is created twice.

use super::{Restore, SHOP};
use proptest::prelude::*;

/// Places that the sample can be restored to, and rings that have some of it.
const PLACES: [&str; 8] = [
    "",
    "shop",
    "shop=copy",
    "shop=Copy,Mixed=table",
    "shop.orders=shop.orders2,shop.items",
    "shop.orders=x.orders,Mixed.Orders=x.Orders,shop.Carts=y.Carts",
    "shop=all,Mixed=all",
    "shop.items,shop.orders=shop.other,Mixed.Orders=z.orders",
];

#[test]
fn what_is_created_equals_the_backup_and_is_created_once() {
    for places in PLACES {
        for ring in ["", "CREATE KEYSPACE shop;\n", SHOP] {
            let mut restore = Restore::of(SHOP, ring, places);
            restore.run();
            for chosen in &restore.chosen {
                assert_eq!(restore.differs(&chosen.to.to_string()), None, "{places} {}", chosen.to);
            }
            assert_eq!(restore.run(), [], "{places}");
        }
    }
}

/// A crash after any statement, and the same again.
#[test]
fn what_was_interrupted_goes_on_where_it_stood() {
    for places in PLACES {
        let all = Restore::of(SHOP, "", places).run();
        let is_whole =
            |at: usize| !all.get(at).is_some_and(|next| next.cql.starts_with("ALTER TABLE"));
        for done in (0..all.len()).filter(|at| is_whole(*at)) {
            let mut restore = Restore::of(SHOP, "", places);
            restore.execute(&all[..done]);
            assert_eq!(restore.run(), all[done..], "{places} after {done}");
        }
    }
}

/// A type of CQL, and what its fields need.
fn kind() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("int".to_owned()),
        Just("text".to_owned()),
        Just("frozen<ks.u>".to_owned()),
        Just("frozen<\"U 2\">".to_owned()),
        Just("vector<float, 3>".to_owned()),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|part| format!("frozen<list<{part}>>")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("map<{a}, {b}>")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("frozen<tuple<{a}, {b}>>")),
        ]
    })
}

/// A name of a column as it is written: with anything in its quotes.
fn column() -> impl Strategy<Value = String> {
    let quoted = "[ -~\n]{0,6}".prop_map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    prop_oneof![
        "[a-z][a-z0-9_]{0,6}".prop_map(|name| format!("c_{name}")),
        quoted.prop_map(|name| name.replacen('"', "\"c ", 1))
    ]
}

prop_compose! {
    fn table()(
        columns in proptest::collection::btree_map(column(), (kind(), 0..3_u8), 1..8),
        comment in "[ -~\n]{0,20}",
        clustering in any::<bool>(),
    ) -> String {
        let key = if clustering { "pk int,\n    ck text" } else { "pk int PRIMARY KEY" };
        let mut text = format!("CREATE TABLE ks.\"T\" (\n    {key}");
        let mut later = String::new();
        for (name, (kind, fate)) in &columns {
            text.push_str(&format!(",\n    {name} {kind}"));
            if *fate > 0 {
                later.push_str(&format!("\nALTER TABLE ks.\"T\" DROP {name} USING TIMESTAMP {};", later.len()));
            }
            if *fate > 1 {
                later.push_str(&format!("\nALTER TABLE ks.\"T\" ADD {name} {kind};"));
            }
        }
        let end = if clustering { ",\n    PRIMARY KEY (pk, ck)\n) WITH ID = 1b25-ef\n    AND CLUSTERING ORDER BY (ck DESC)\n    AND" } else { "\n) WITH ID = 1b25-ef\n    AND" };
        format!("{text}{end} comment = '{}'\n    AND gc_grace_seconds = 5;{later}\n", comment.replace('\'', "''"))
    }
}

const AROUND: &str =
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': '1'};
CREATE TYPE ks.u (ks int, \"ks.u\" text);
CREATE TYPE ks.\"U 2\" (u frozen<u>, v list<frozen<ks.u>>);
";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_table_is_created_as_it_was(table in table()) {
        let backup = format!("{AROUND}{table}");
        for (places, to) in [("", "ks.T"), ("ks=other", "other.T"), ("ks.T=b.t", "b.t"), ("ks.T=ks.t2", "ks.t2")] {
            let mut restore = Restore::of(&backup, "", places);
            restore.run();
            prop_assert_eq!(restore.differs(to), None);
            // And the other way round: nothing was added.
            let back = Restore::of(&restore.ring, &backup, &format!("{to}=ks.T"));
            prop_assert_eq!(back.differs("ks.T"), None);
            prop_assert_eq!(restore.run(), []);
        }
    }

    #[test]
    fn no_text_makes_it_fall(text in "\\PC{0,200}") {
        let _ = super::Described::parse(&text);
    }

    #[test]
    fn no_damage_makes_it_fall(at in 0..SHOP.len(), with in "[ -~\n]{0,3}") {
        let start = (0..=at).rev().find(|at| SHOP.is_char_boundary(*at)).unwrap();
        let text = format!("{}{with}{}", &SHOP[..start], &SHOP[start..]);
        let _ = super::Described::parse(&text);
    }
}
