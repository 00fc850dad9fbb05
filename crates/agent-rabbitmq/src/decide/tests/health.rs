//! What a look shows of a node's health.

use super::super::health::Seen;
use super::super::testing::*;
use super::super::*;
use crate::read::reading::Access;
use palladion_agent_core::service::health::Look as _;
use palladion_api::service_member::MemberHealth;

#[test]
fn each_look_has_one_result_and_says_why() {
    let denied = Reading { access: Access::Denied, ..Reading::default() };
    let table = [
        (reading(&["a", "b"], &["a"]), Seen::Healthy, MemberHealth::Healthy),
        (closed(&["a", "b"], &["a", "b"]), Seen::Closed, MemberHealth::Unhealthy),
        (reading(&["a", "b"], &["b"]), Seen::NotMember, MemberHealth::Unhealthy),
        (denied, Seen::Denied, MemberHealth::Unhealthy),
        (Reading::default(), Seen::Silent, MemberHealth::NoAnswer),
    ];
    for (reading, seen, result) in table {
        assert_eq!((Seen::of(&reading), seen.result()), (seen, result));
        assert_eq!(seen.why().is_none(), seen == Seen::Healthy);
    }
}
