//! Is the ring at rest? Rows that are loaded while a member joins, leaves, moves or is down
//! could miss that member: streams reach those alone that own ranges then, and fail where one of
//! them is down.

use super::{Bench, down, ring};
use crate::words::calls::NotKnown;
use palladion_agent_transfer::words::stopped::{Stopped, Unsettled};
use palladion_api::member::{Liveness, MemberState, RingMember};
use palladion_api::words::Several;

/// It is, and this is the hash of its tokens with their owners: while that stays the same,
/// it has been at rest in between.
///
/// # Errors
/// It is not; or the server cannot be asked.
pub async fn settled(bench: &Bench) -> Result<String, Stopped> {
    let reading = bench.server()?.read().await.map_err(down)?;
    let unknown = || Stopped::ServerDown { why: NotKnown::Ring.to_string() };
    let members = Several(reading.members.ok_or_else(unknown)?.iter().filter_map(moves).collect());
    if !members.0.is_empty() {
        return Err(Stopped::Unsettled { members });
    }
    Ok(ring::view(bench.jobs()?).await?.tokens_hash)
}

fn moves(of: &RingMember) -> Option<Unsettled> {
    let member = of.address.to_string();
    match (of.state, of.liveness) {
        (MemberState::Joining, _) => Some(Unsettled::Joins { member }),
        (MemberState::Leaving, _) => Some(Unsettled::Leaves { member }),
        (MemberState::Moving, _) => Some(Unsettled::Moves { member }),
        (MemberState::Unknown, _) => Some(Unsettled::Unknown { member }),
        (MemberState::Normal, Liveness::Up) => None,
        (MemberState::Normal, _) => Some(Unsettled::Down { member }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::ids::{HostId, StaticAddress};

    #[test]
    fn only_a_normal_member_that_is_up_is_at_rest() {
        use Liveness::{Down, Up};
        use MemberState::{Joining, Leaving, Moving, Normal};
        let said = |state, liveness| {
            let (host_id, address) = (HostId::new("h"), StaticAddress::new("10.0.0.1"));
            let (datacenter, version) = (None, None);
            let of = RingMember { host_id, address, liveness, state, datacenter, version };
            moves(&of).map(|why| why.to_string())
        };
        assert_eq!(said(Normal, Up), None);
        assert_eq!(said(Normal, Down).as_deref(), Some("member 10.0.0.1 is down"));
        assert_eq!(said(Joining, Up).as_deref(), Some("member 10.0.0.1 joins"));
        assert!(said(Leaving, Up).is_some() && said(Moving, Up).is_some());
    }
}
