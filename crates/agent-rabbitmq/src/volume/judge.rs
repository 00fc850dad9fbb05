//! What a volume is, judged from what is on it and what is recorded of it. Pure.
//!
//! A node votes by the logs of its replicas. One whose data has become less votes for what
//! it has confirmed no more, and a cluster of such nodes loses messages without a word. So
//! data of which any part is gone is lost as a whole, and so is a copy of the volume from
//! before.

use super::Found;
use super::data::{Data, Kind};
use super::ledger::{Entered, Ledger, Membership};
use crate::words::volume::Wrong;
pub use palladion_agent_core::service::volume::Judgement;
use palladion_agent_core::service::volume::{self, Presence};
use palladion_api::ids::MemberName;
use palladion_api::service_member::{MemberVolumeState as State, ServiceMemberSpec};
use palladion_api::words::Names;

/// Judge a volume. `spec` is the last known one; without it nothing unmarked is taken
/// into use.
pub fn judge(found: &Found, member: &MemberName, spec: &ServiceMemberSpec) -> Judgement {
    match (&found.marker, &found.ledger) {
        (Some(_), Some(ledger)) => of_ledger(found, ledger, member, spec),
        (None, _) | (Some(_), None) if found.data != Data::Absent => {
            Judgement::Is(State::Unaccounted, Some(Wrong::NoLedger))
        }
        (None, _) | (Some(_), None) => volume::of_unmarked(&found.file_system, spec),
    }
}

fn of_ledger(
    found: &Found,
    ledger: &Ledger,
    member: &MemberName,
    spec: &ServiceMemberSpec,
) -> Judgement {
    if let Some((state, wrong)) = volume::unusable(ledger, found.owner.as_ref(), member, spec) {
        return Judgement::Is(state, Some(wrong));
    }
    match ledger.membership {
        Membership::Left => Judgement::Is(State::Left, None),
        Membership::Empty => {
            let data = match found.data {
                Data::Absent => Presence::None,
                Data::Partial(_) | Data::Unstarted | Data::Whole => Presence::Some,
            };
            let (state, wrong) = volume::never_started(ledger, spec, data);
            Judgement::Is(state, wrong)
        }
        Membership::Joining { .. } if !is_in_a_cluster(found, ledger) => match found.data {
            Data::Absent => Judgement::Is(State::Empty, None),
            Data::Partial(_) | Data::Unstarted | Data::Whole => {
                Judgement::Is(State::Incomplete, None)
            }
        },
        // Its application never ran there, so that it has no replica and has confirmed nothing.
        // The others count it already, and the first of two serves only beside it.
        Membership::Joining { .. }
            if found.data == Data::Unstarted && ledger.entered != Entered::Yes =>
        {
            Judgement::Is(State::Joined, None)
        }
        Membership::Joining { .. } | Membership::Joined => of_member(found),
    }
}

fn of_member(found: &Found) -> Judgement {
    match &found.data {
        Data::Whole => Judgement::Is(State::Joined, None),
        Data::Absent => Judgement::Is(State::Lost, Some(Wrong::DataGone)),
        Data::Unstarted => parts_gone(&[Kind::Quorum]),
        Data::Partial(missing) => parts_gone(missing),
    }
}

fn parts_gone(missing: &[Kind]) -> Judgement {
    let parts = Names::of(missing.iter().copied().map(Kind::part));
    Judgement::Is(State::Lost, Some(Wrong::PartsGone { parts }))
}

/// May the node on this volume vote in its cluster, whether or not that was noted? What
/// it wrote itself says so: the agent may have ended right before it could note it.
pub fn is_in_a_cluster(found: &Found, ledger: &Ledger) -> bool {
    match ledger.membership {
        Membership::Empty | Membership::Left => false,
        Membership::Joined => true,
        // Of a node that was only ever by itself, and closed, nobody has anything.
        Membership::Joining { .. } => ledger.entered == Entered::Yes || found.members.len() > 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::ids::VolumeId;
    use palladion_api::rabbitmq::NodeName;
    use palladion_api::service_member::ServicePermitKind;

    fn found(membership: Option<Membership>, data: Data) -> Found {
        let ledger = membership.map(|membership| Ledger {
            cluster: (membership != Membership::Empty).then(|| "c".into()),
            membership,
            counter: 5,
            ..Ledger::new("v1".into(), None)
        });
        Found {
            file_system: "ext4/1/a".into(),
            marker: ledger.as_ref().map(|_| "v1".into()),
            owner: Some("m-0".into()),
            ledger,
            data,
            members: vec![NodeName::new("rabbit@a")],
        }
    }

    fn spec(volume: Option<&str>) -> ServiceMemberSpec {
        ServiceMemberSpec {
            cluster: "c".into(),
            volume_id: volume.map(VolumeId::new),
            ..Default::default()
        }
    }

    fn state(found: &Found) -> State {
        match judge(found, &"m-0".into(), &spec(Some("v1"))) {
            Judgement::Is(state, _) => state,
            other => panic!("expected a state, got {other:?}"),
        }
    }

    fn joining() -> Membership {
        Membership::Joining { kind: ServicePermitKind::Join, nonce: "n".into() }
    }

    #[test]
    fn membership_and_data_give_the_state() {
        let partial = || Data::Partial(vec![Kind::Quorum]);
        let table = [
            (Membership::Empty, Data::Absent, State::Empty),
            (Membership::Empty, partial(), State::Unaccounted),
            (joining(), Data::Absent, State::Empty),
            (joining(), partial(), State::Incomplete),
            (joining(), Data::Whole, State::Incomplete),
            (Membership::Joined, Data::Whole, State::Joined),
            (Membership::Joined, Data::Absent, State::Lost),
            (Membership::Joined, partial(), State::Lost),
            (Membership::Left, Data::Whole, State::Left),
        ];
        for (membership, data, expected) in table {
            let found = found(Some(membership.clone()), data.clone());
            assert_eq!(state(&found), expected, "{membership:?} {data:?}");
        }
    }

    /// The agent ended after its node had joined, and before it noted that. To wipe it then
    /// would have it come back empty under its old vote (R6).
    #[test]
    fn who_has_joined_is_a_member_although_nobody_noted_it() {
        let mut joined = found(Some(joining()), Data::Whole);
        joined.members.push(NodeName::new("rabbit@b"));
        assert_eq!(state(&joined), State::Joined);
        joined.data = Data::Partial(vec![Kind::Quorum]);
        assert_eq!(state(&joined), State::Lost);
        let mut noted = found(Some(joining()), Data::Whole);
        noted.ledger.as_mut().unwrap().entered = Entered::Yes;
        assert_eq!(state(&noted), State::Joined);
        noted.data = Data::Absent;
        assert_eq!(state(&noted), State::Lost);
    }

    /// Killed between `join_cluster` and `start_app`: what it has no replicas of it cannot have
    /// lost. One whose application has run, or that was noted to be a member, can.
    #[test]
    fn a_joiner_whose_application_never_ran_in_its_cluster_goes_on() {
        let mut joined = found(Some(joining()), Data::Unstarted);
        assert_eq!(state(&joined), State::Incomplete, "nobody has taken it in");
        joined.members.push(NodeName::new("rabbit@b"));
        assert_eq!(state(&joined), State::Joined);
        joined.ledger.as_mut().unwrap().entered = Entered::Asked;
        assert_eq!(state(&joined), State::Joined);
        joined.ledger.as_mut().unwrap().entered = Entered::Yes;
        assert_eq!(state(&joined), State::Lost, "its application ran when that was noted");
        let member = found(Some(Membership::Joined), Data::Unstarted);
        assert_eq!(state(&member), State::Lost);
        let nobodys = found(Some(Membership::Empty), Data::Unstarted);
        assert_eq!(state(&nobodys), State::Unaccounted);
    }

    /// Its replicas would vote empty (R6).
    #[test]
    fn a_part_that_is_gone_is_named() {
        let gone = found(Some(Membership::Joined), Data::Partial(vec![Kind::Quorum]));
        let Judgement::Is(State::Lost, Some(wrong)) =
            judge(&gone, &"m-0".into(), &spec(Some("v1")))
        else {
            panic!("it is lost");
        };
        assert!(wrong.to_string().contains("quorum/"), "{wrong}");
    }

    #[test]
    fn a_copy_from_before_and_the_data_of_others_are_used_by_nobody() {
        let joined = found(Some(Membership::Joined), Data::Whole);
        let judged = |spec: &ServiceMemberSpec, member: &str| match judge(
            &joined,
            &MemberName::new(member),
            spec,
        ) {
            Judgement::Is(state, _) => state,
            other => panic!("{other:?}"),
        };
        let copy = ServiceMemberSpec { starts: Some(6), ..spec(Some("v1")) };
        assert_eq!(judged(&copy, "m-0"), State::RolledBack);
        assert_eq!(judged(&spec(Some("v1")), "m-1"), State::Foreign);
        let other = ServiceMemberSpec { cluster: "another".into(), ..spec(Some("v1")) };
        assert_eq!(judged(&other, "m-0"), State::Foreign);
        let unaccounted = Found { marker: None, ledger: None, ..joined };
        assert_eq!(state(&unaccounted), State::Unaccounted);
    }
}
