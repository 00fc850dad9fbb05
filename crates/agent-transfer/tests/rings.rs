//! What is read of a backup that a ring begins with: its members and their tokens, and the roles.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_agent_transfer::tell::Done;
use palladion_agent_transfer::tokens;
use serde_json::json;
use support::backed::{Backed, SCHEMA, TAG, describe, refused};
use support::{BACKUP, Member, host, repository, run, tree};

#[test]
fn a_ring_is_read_with_all_its_members_and_their_tokens() {
    let backed = Backed::new(SCHEMA);
    let mut read = backed.read();
    read["work"]["amounts"] = json!("Ring");
    let Done::Read { sources, members, .. } = run(&read).done() else { panic!() };
    let [member] = &members[..] else { panic!("{members:?}") };
    assert_eq!(member.host_id.as_str(), host(1));
    assert_eq!((member.datacenter.as_str(), member.rack.as_str()), ("dc1", "r1"));
    assert_eq!((member.version.as_str(), member.tokens), ("5.0.5", 1));
    assert_eq!(member.tokens_hash, tokens::hash(["1"].into_iter()));
    assert_eq!(sources[0].sstables, 7);
    // Of a ring it is asked, too, where it has nothing of the tables.
    read["work"]["server"] = json!("4.1.9");
    read["work"]["tables"] = json!([{"from": "shop.orders"}]);
    refused(&read, "RestoreFailed", "was taken with Cassandra 5.0.5");
    // No member is named where nobody asks.
    let Done::Read { members, .. } = run(&backed.read()).done() else { panic!() };
    assert!(members.is_empty());
}

#[test]
fn tokens_are_those_of_the_manifest_that_the_hash_vouches_for() {
    let backed = Backed::new(SCHEMA);
    let tokens = |source: String, manifest: &str| {
        backed.member.settings(json!({
            "kind": "Tokens", "backup": BACKUP, "manifest": manifest, "sourceHostID": source,
        }))
    };
    let told = run(&tokens(host(1), &backed.manifest)).done();
    let Done::Tokens { manifest_hash, source, tokens: found } = told else { panic!("{told:?}") };
    assert_eq!((manifest_hash.as_str(), source.as_str()), (backed.manifest.as_str(), &*host(1)));
    assert_eq!(found, ["1"]);
    refused(&tokens(host(9), &backed.manifest), "RestoreFailed", &host(9));
    refused(&tokens(host(1), &"ab".repeat(32)), "RestoreFailed", "begin another restore");
    // Somebody has written another one under its name.
    let manifests = backed.path("store/backups");
    let mut changed = 0;
    for (name, text) in tree(&manifests) {
        let text = String::from_utf8(text).unwrap();
        let other = text.replace("\"tokens\":[\"1\"]", "\"tokens\":[\"2\"]");
        changed += usize::from(text != other);
        std::fs::write(manifests.join(name), other).unwrap();
    }
    assert!(changed > 0);
    refused(&tokens(host(1), &backed.manifest), "RepositoryDamaged", "SHA-256");
}

#[test]
fn members_with_a_token_in_common_become_no_ring() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    std::fs::create_dir_all(&store).unwrap();
    let base = json!({"repository": repository("Plain"), "store": {"at": store}});
    let both = [1, 2].map(|number| Member::new(folder.path(), number, base.clone()));
    assert_eq!(run(&both[0].prepare()).done(), Done::Prepared);
    let schema = describe(&both[0], SCHEMA);
    let sent = both.each_ref().map(|member| {
        member.write("users", "1", 1000);
        member.write("orders", "1", 1000);
        member.take_snapshot(TAG);
        let mut upload = member.upload(BACKUP, TAG, &schema);
        upload["work"]["member"]["tokens"] = json!(["7"]);
        let sent = run(&upload);
        sent.done();
        sent
    });
    let mut finish = both[0].finish(BACKUP, &[(1, &sent[0]), (2, &sent[1])]);
    for number in [1, 2] {
        finish["work"]["members"][host(number)]["tokens"] = json!(["7"]);
    }
    run(&finish).done();
    let schema = folder.path().join("restore.cql");
    let read = |amounts: &str| {
        both[0].settings(json!({
            "kind": "Read", "backup": BACKUP, "tables": [], "schema": schema, "amounts": amounts,
            "server": "5.0.5",
        }))
    };
    let (cause, said) = run(&read("Ring")).stopped();
    assert_eq!(cause, "RestoreFailed");
    assert!(said.contains(&host(1)) && said.contains(&host(2)), "{said}");
    // Rows are streamed to whoever owns them.
    let Done::Read { sources, .. } = run(&read("Sum")).done() else { panic!() };
    assert_eq!(sources.len(), 2);
}

#[test]
fn of_roles_those_tables_are_brought_that_the_ring_has() {
    let backed = Backed::with_roles();
    let mut batch = backed.batch(0, 1 << 40);
    batch["work"]["which"] = json!({"Auth": ["roles", "role_members", "peers"]});
    let told = run(&batch).done();
    let Done::Brought { sstables, all_sstables, tokens_hash, .. } = told else {
        panic!("{told:?}")
    };
    assert_eq!((sstables, all_sstables), (1, 1), "no table of users, and no other one");
    assert_eq!(tokens_hash, tokens::hash(["1"].into_iter()));
    let files = tree(&backed.path("into"));
    assert!(
        files.keys().all(|path| path.starts_with("1/system_auth/roles/nb-1-big-")),
        "{files:?}"
    );
    assert_eq!(files["1/system_auth/roles/nb-1-big-Data.db"], b"of roles");
    // They are none of the tables that are restored.
    let Done::Brought { all_sstables, .. } = run(&backed.batch(0, 0)).done() else { panic!() };
    assert_eq!(all_sstables, 7);
}
