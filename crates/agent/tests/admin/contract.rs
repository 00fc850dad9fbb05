//! What both back ends must say of one and the same ring: three members, the
//! third down, the second leaving.

use palladion_agent::admin::{
    DownReplicas, RepairScope, RepairState, RepairTicket, ServerAdmin, TooFewCopies,
};
use palladion_api::member::{Liveness, MemberState, RepairRanges};

pub const HOSTS: [(&str, &str); 3] = [("10.0.0.1", "h1"), ("10.0.0.2", "h2"), ("10.0.0.3", "h3")];

pub async fn a_look_tells_all(admin: &dyn ServerAdmin) {
    let reading = admin.read().await.unwrap();
    assert_eq!(reading.mode.as_deref(), Some("NORMAL"));
    assert_eq!((reading.native_transport, reading.gossip), (Some(true), Some(true)));
    assert!(reading.serves());
    assert_eq!(reading.host_id, Some("h1".into()));
    assert_eq!(reading.schema_agreed, Some(true));
    assert_eq!(reading.tokens.as_ref().map(Vec::len), Some(2));
    assert_eq!(reading.figures.load, Some(117_191.0));
    let members = reading.members.unwrap();
    let seen: Vec<_> = members
        .iter()
        .map(|m| (m.address.as_str(), m.host_id.as_str(), m.liveness, m.state))
        .collect();
    assert_eq!(
        seen,
        [
            ("10.0.0.1", "h1", Liveness::Up, MemberState::Normal),
            ("10.0.0.2", "h2", Liveness::Up, MemberState::Leaving),
            ("10.0.0.3", "h3", Liveness::Down, MemberState::Normal),
        ]
    );
}

pub async fn work_is_done_or_refused_in_the_servers_words(admin: &dyn ServerAdmin) {
    assert_eq!(admin.keyspaces().await.unwrap(), ["system_auth", "shop"]);
    assert_eq!(admin.copies().await.unwrap()["shop"], 2);
    admin.flush("shop").await.unwrap();
    admin.cleanup("shop").await.unwrap();
    admin.upgrade_sstables("shop").await.unwrap();
    admin.drain().await.unwrap();
    admin.remove_node(&"h3".into()).await.unwrap();
    let refused = admin.decommission(TooFewCopies::Refused).await.unwrap_err().to_string();
    assert!(refused.contains("Not enough live nodes"), "{refused}");
}

pub const PRIMARY: RepairScope =
    RepairScope { ranges: RepairRanges::Primary, down: DownReplicas::Fail };

pub async fn a_repair_is_followed_by_its_number(admin: &dyn ServerAdmin) {
    let ticket = admin.begin_repair("shop", PRIMARY).await.unwrap().unwrap();
    assert_eq!(ticket, RepairTicket { keyspace: "shop".into(), number: 7 });
    assert_eq!(admin.repair_state(&ticket).await.unwrap(), RepairState::Completed);
    assert_eq!(admin.begin_repair("system_auth", PRIMARY).await.unwrap(), None);
}
