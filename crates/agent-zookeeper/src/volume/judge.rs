//! What a volume is, judged from what is on it and what is recorded of it. Pure.
//!
//! A server votes by what is in its data. One whose data has become less votes for
//! what it has acknowledged no more, and an ensemble of such servers loses writes
//! without a word. So data of which any part is gone is lost as a whole, and so is
//! a copy of the volume from before.

use super::Found;
use super::data::Data;
use super::ledger::{Ledger, Membership};
use crate::words::volume::{Part, Wrong};
pub use palladion_agent_core::service::volume::Judgement;
use palladion_agent_core::service::volume::{self, Presence};
use palladion_api::ids::MemberName;
use palladion_api::service_member::{
    MemberVolumeState as State, ServerRole, ServiceMemberSpec, ServicePermitKind,
};
use palladion_api::words::Names;
use palladion_api::zookeeper::Zxid;

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
        Membership::Empty => never_started(found, ledger, spec),
        Membership::Joining { .. } if !has_voted(found, ledger) => match found.data {
            Data::Absent => Judgement::Is(State::Empty, None),
            Data::Partial(_) | Data::Unlogged | Data::Whole => {
                Judgement::Is(State::Incomplete, None)
            }
        },
        // It writes its epoch before its first log, and whatever is acknowledged is logged
        // before: the first server goes on with this, as long as nobody has seen it vote.
        Membership::Joining { kind: ServicePermitKind::Initialize, .. }
            if found.data == Data::Unlogged =>
        {
            Judgement::Is(State::Joined, None)
        }
        Membership::Joining { .. } | Membership::Joined => of_member(found),
    }
}

fn never_started(found: &Found, ledger: &Ledger, spec: &ServiceMemberSpec) -> Judgement {
    let data = match found.data {
        Data::Absent => Presence::None,
        Data::Partial(_) | Data::Unlogged | Data::Whole => Presence::Some,
    };
    let (state, wrong) = volume::never_started(ledger, spec, data);
    Judgement::Is(state, wrong)
}

fn of_member(found: &Found) -> Judgement {
    match &found.data {
        Data::Whole => Judgement::Is(State::Joined, None),
        Data::Absent => Judgement::Is(State::Lost, Some(Wrong::DataGone)),
        Data::Unlogged => parts_gone(&[Part::Logs]),
        Data::Partial(missing) => parts_gone(missing),
    }
}

fn parts_gone(missing: &[Part]) -> Judgement {
    let parts = Names::of(missing.iter().map(ToString::to_string));
    Judgement::Is(State::Lost, Some(Wrong::PartsGone { parts }))
}

/// May the server on this volume have voted or led, whether or not that was noted? What
/// it wrote itself says so: the agent may have ended right before it could note it.
pub fn has_voted(found: &Found, ledger: &Ledger) -> bool {
    let version = found.config.as_ref().map_or(Zxid::default(), |config| config.version);
    let role = found.config.as_ref().zip(ledger.server_id).and_then(|(c, id)| c.role(id));
    match &ledger.membership {
        Membership::Empty | Membership::Left => false,
        Membership::Joined => true,
        // It has a vote of its own from the beginning, and acknowledges once it leads.
        Membership::Joining { kind: ServicePermitKind::Initialize, .. } => {
            found.epoch.is_some_and(|epoch| epoch >= 1) || version > Zxid::default()
        }
        // The agent's file says that it observes: the server's own says otherwise.
        Membership::Joining {
            kind:
                ServicePermitKind::Join | ServicePermitKind::Rescue | ServicePermitKind::Unknown(_),
            ..
        } => role == Some(ServerRole::Participant),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Config;
    use palladion_api::ids::VolumeId;
    use palladion_api::service::LostMember;
    use palladion_api::service_member::{LossCause, VolumeLoss};
    use palladion_api::zookeeper::ServerId;

    fn found(marker: Option<&'static str>, membership: Option<Membership>, data: Data) -> Found {
        let ledger = membership.map(|membership| Ledger {
            cluster: (membership != Membership::Empty).then(|| "c".into()),
            membership,
            counter: 5,
            ..Ledger::new("v1".into(), None)
        });
        Found {
            file_system: "ext4/1/a".into(),
            marker: marker.map(Into::into),
            owner: Some("m-0".into()),
            ledger,
            data,
            config: None,
            epoch: None,
            last_zxid: None,
        }
    }

    fn spec(volume: Option<&str>, file_system: Option<&str>) -> ServiceMemberSpec {
        ServiceMemberSpec {
            cluster: "c".into(),
            volume_id: volume.map(VolumeId::new),
            file_system: file_system.map(Into::into),
            ..Default::default()
        }
    }

    fn state(found: &Found, spec: &ServiceMemberSpec) -> State {
        match judge(found, &"m-0".into(), spec) {
            Judgement::Is(state, _) => state,
            other => panic!("expected a state, got {other:?}"),
        }
    }

    fn missing(part: Part) -> Data {
        Data::Partial(vec![part])
    }

    #[test]
    fn an_unmarked_empty_volume_is_new_only_where_nothing_is_recorded() {
        let unmarked = found(None, None, Data::Absent);
        let judged = |spec: &ServiceMemberSpec| judge(&unmarked, &"m-0".into(), spec);
        assert_eq!(judged(&spec(None, None)), Judgement::New);
        let lost = Judgement::LostUnmarked { lost: "v0".into() };
        assert_eq!(judged(&spec(Some("v0"), Some("ext4/1/a"))), lost);
        for other in [spec(Some("v0"), Some("ext4/2/b")), spec(Some("v0"), None)] {
            assert_eq!(state(&unmarked, &other), State::NotMounted);
        }
    }

    #[test]
    fn an_unmarked_volume_elsewhere_takes_the_place_of_one_whose_loss_is_on_record() {
        let unmarked = found(None, None, Data::Absent);
        let marked = |lost: &'static str, file_system| ServiceMemberSpec {
            replace: Some(VolumeLoss {
                lost: LostMember {
                    volume_id: lost.into(),
                    server_id: None,
                    node_name: None,
                    address: None,
                    claim_uid: None,
                },
                cause: LossCause::Agent,
                reason: String::new(),
                revocable: false,
                earlier_server_ids: Vec::new(),
            }),
            ..spec(Some("v0"), Some(file_system))
        };
        let judged = |spec: &ServiceMemberSpec| judge(&unmarked, &"m-0".into(), spec);
        assert_eq!(judged(&marked("v0", "ext4/2/b")), Judgement::New);
        assert_eq!(state(&unmarked, &marked("another", "ext4/2/b")), State::NotMounted);
        let lost = Judgement::LostUnmarked { lost: "v0".into() };
        assert_eq!(judged(&marked("v0", "ext4/1/a")), lost, "it is that very volume");
    }

    #[test]
    fn data_without_marker_or_ledger_is_unaccounted() {
        for unmarked in [found(None, None, Data::Whole), found(Some("v1"), None, Data::Whole)] {
            assert_eq!(state(&unmarked, &spec(None, None)), State::Unaccounted);
        }
    }

    #[test]
    fn membership_and_data_give_the_state() {
        let joining = || Membership::Joining { kind: ServicePermitKind::Join, nonce: "n".into() };
        let table = [
            (Membership::Empty, Data::Absent, State::Empty),
            (Membership::Empty, missing(Part::Logs), State::Unaccounted),
            (joining(), Data::Absent, State::Empty),
            (joining(), missing(Part::Logs), State::Incomplete),
            (joining(), Data::Whole, State::Incomplete),
            (Membership::Joined, Data::Whole, State::Joined),
            (Membership::Joined, Data::Absent, State::Lost),
            (Membership::Left, Data::Whole, State::Left),
            (Membership::Left, Data::Absent, State::Left),
        ];
        for (membership, data, expected) in table {
            let found = found(Some("v1"), Some(membership.clone()), data.clone());
            assert_eq!(state(&found, &spec(Some("v1"), None)), expected, "{membership:?} {data:?}");
        }
    }

    /// Two servers without their logs elect each other, and what the logs held is gone
    /// without a complaint.
    #[test]
    fn a_member_without_any_one_part_of_its_data_is_lost() {
        for part in [
            Part::Snapshots,
            Part::Logs,
            Part::CurrentEpoch,
            Part::AcceptedEpoch,
            Part::Configuration,
        ] {
            let found = found(Some("v1"), Some(Membership::Joined), missing(part.clone()));
            let Judgement::Is(state, Some(wrong)) =
                judge(&found, &"m-0".into(), &spec(Some("v1"), None))
            else {
                panic!("expected a state with what is wrong");
            };
            assert_eq!(state, State::Lost);
            assert!(wrong.to_string().contains(&part.to_string()), "{wrong}");
        }
    }

    fn joining(kind: ServicePermitKind, config: &str, epoch: i64, data: Data) -> Found {
        let membership = Membership::Joining { kind, nonce: "n".into() };
        let mut found = found(Some("v1"), Some(membership), data);
        found.ledger.as_mut().unwrap().server_id = Some(ServerId::new(2));
        found.config = Some(Config::parse(config).unwrap());
        found.epoch = Some(epoch);
        found
    }

    /// The agent ended after the change of the configuration, and before it noted that.
    #[test]
    fn who_was_made_a_participant_is_a_member_although_nobody_noted_it() {
        let (first, join) = (ServicePermitKind::Initialize, ServicePermitKind::Join);
        let (votes, observes) = ("server.2=a:1:2:participant", "server.2=a:1:2:observer");
        let of = |kind, config, epoch| {
            state(&joining(kind, config, epoch, Data::Whole), &spec(Some("v1"), None))
        };
        assert_eq!(of(join, observes, 4), State::Incomplete);
        assert_eq!(of(join, votes, 4), State::Joined);
        assert_eq!(of(first, votes, 0), State::Incomplete);
        assert_eq!(of(first, votes, 1), State::Joined, "it has led");
        assert_eq!(of(first, &format!("{votes}\nversion=100000000"), 0), State::Joined);
        for gone in [missing(Part::Logs), Data::Unlogged] {
            let forgotten = joining(join, votes, 4, gone);
            assert_eq!(state(&forgotten, &spec(Some("v1"), None)), State::Lost);
        }
    }

    /// Its epoch is written before its first log: that it ends in between loses nothing, and
    /// without it the ensemble would never begin.
    #[test]
    fn a_first_server_that_ended_before_its_first_log_goes_on_until_it_was_seen_to_vote() {
        let (first, votes) = (ServicePermitKind::Initialize, "server.2=a:1:2:participant");
        let of = |found: &Found| state(found, &spec(Some("v1"), None));
        let mut ended = joining(first, votes, 1, Data::Unlogged);
        assert_eq!(of(&ended), State::Joined);
        // Logs of which a snapshot tells are gone; so are those of a server that was seen.
        assert_eq!(of(&joining(first, votes, 1, missing(Part::Logs))), State::Lost);
        ended.ledger.as_mut().unwrap().membership = Membership::Joined;
        assert_eq!(of(&ended), State::Lost);
    }

    #[test]
    fn a_copy_of_the_volume_from_before_is_rolled_back() {
        let joined = found(Some("v1"), Some(Membership::Joined), Data::Whole);
        let with = |volume: &str, starts| ServiceMemberSpec {
            starts: Some(starts),
            ..spec(Some(volume), None)
        };
        assert_eq!(state(&joined, &with("v1", 5)), State::Joined);
        assert_eq!(state(&joined, &with("v1", 6)), State::RolledBack);
        assert_eq!(state(&joined, &with("v0", 6)), State::Joined, "that was another volume");
    }

    #[test]
    fn the_data_of_another_cluster_or_member_is_foreign() {
        let mut joined = found(Some("v1"), Some(Membership::Joined), Data::Whole);
        let other = ServiceMemberSpec { cluster: "another".into(), ..spec(None, None) };
        assert_eq!(state(&joined, &other), State::Foreign);
        joined.owner = Some("m-1".into());
        assert_eq!(state(&joined, &spec(None, None)), State::Foreign);
        let mut left = found(Some("v1"), Some(Membership::Left), Data::Whole);
        left.owner = Some("m-1".into());
        assert_eq!(state(&left, &spec(None, None)), State::Left);
    }

    #[test]
    fn a_successor_is_lost_while_the_lost_volume_is_recorded() {
        let mut successor = found(Some("v1"), Some(Membership::Empty), Data::Absent);
        successor.ledger.as_mut().unwrap().successor_of = Some("v0".into());
        assert_eq!(state(&successor, &spec(Some("v0"), None)), State::Lost);
        assert_eq!(state(&successor, &spec(Some("v1"), None)), State::Empty);
    }
}
