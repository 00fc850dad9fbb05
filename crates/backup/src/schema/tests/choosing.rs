use super::super::chosen;
use super::{SHOP, mapping, read};

fn chosen_of(places: &str) -> Result<Vec<String>, String> {
    let chosen = chosen(&read(SHOP), &mapping(places)).map_err(|error| error.to_string())?;
    Ok(chosen.iter().map(|c| format!("{}={}/{}", c.from, c.to, c.gc_grace_seconds)).collect())
}

#[test]
fn by_default_all_tables_are_restored_but_those_of_the_system() {
    let all = [
        "Mixed.Orders=Mixed.Orders/864000",
        "shop.Carts=shop.Carts/3600",
        "shop.items=shop.items/864000",
        "shop.orders=shop.orders/864000",
    ];
    assert_eq!(chosen_of("").unwrap(), all);
}

#[test]
fn keyspaces_and_tables_go_where_they_are_sent() {
    for (places, expected) in [
        ("Mixed", vec!["Mixed.Orders=Mixed.Orders/864000"]),
        ("Mixed=m2", vec!["Mixed.Orders=m2.Orders/864000"]),
        ("shop.Carts=other.c", vec!["shop.Carts=other.c/3600"]),
        ("Mixed,Mixed.Orders", vec!["Mixed.Orders=Mixed.Orders/864000"]),
        ("system_auth=roles", vec!["system_auth.roles=roles.roles/7776000"]),
    ] {
        assert_eq!(chosen_of(places).unwrap(), expected, "{places}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (places, message) in [
        ("mixed", "the backup has no keyspace `mixed`; correct the name in spec.tables"),
        ("shop.carts", "the backup has no table `shop.carts`; correct the name in spec.tables"),
        (
            "shop.orders_by_number",
            "`shop.orders_by_number` is a materialized view, which is built from the rows of shop.orders; restore shop.orders instead",
        ),
        (
            "shop.items=a.b,shop.orders=a.b",
            "shop.items and shop.orders would both be restored to a.b; give one of them another name",
        ),
        (
            "shop=a,Mixed.Orders=a.items",
            "shop.items and Mixed.Orders would both be restored to a.items; give one of them another name",
        ),
        (
            "shop.items,shop.items=shop.items2",
            "shop.items would be restored twice, to shop.items and to shop.items2; restore it once, and again with another CassandraRestore",
        ),
        (
            "shop=a,shop.items=b.items",
            "shop.items would be restored twice, to a.items and to b.items; restore it once, and again with another CassandraRestore",
        ),
        (
            "shop=system_auth",
            "system_auth is in a keyspace of the system, which restores do not write to; restore it to another keyspace",
        ),
        (
            "system_auth.roles",
            "system_auth.roles is in a keyspace of the system, which restores do not write to; restore it to another keyspace",
        ),
        (
            "shop=a.b",
            "`shop` cannot be restored to `a.b`: a keyspace is restored to a keyspace, and a table to a table",
        ),
        (
            "shop.items=a",
            "`shop.items` cannot be restored to `a`: a keyspace is restored to a keyspace, and a table to a table",
        ),
        (
            "a.b.c",
            "`a.b.c` is not the name of a keyspace or of a table; write `keyspace` or `keyspace.table`",
        ),
        (
            "=a",
            "`` is not the name of a keyspace or of a table; write `keyspace` or `keyspace.table`",
        ),
    ] {
        assert_eq!(chosen_of(places).unwrap_err(), message);
    }
}
