//! Servers that announce another address to clients.

use super::super::testing::*;
use super::super::*;
use crate::render::Clients;
use palladion_api::cluster::ClientAddresses;

fn at(world: World, address: Option<&'static str>) -> World {
    world.with(|w| {
        w.client_addresses = Some(ClientAddresses::LoadBalancer);
        w.spec().client_address = address.map(Into::into);
    })
}

#[test]
fn nobody_starts_without_the_address_of_its_load_balancer() {
    let joiner = || a_new_member().permit(PermitKind::Join, DataBeforeStart::MustBeEmpty);
    for world in [a_joined_member(), joiner(), a_new_member()] {
        at(world.clone(), None).waits(Reason::WaitingForAddress);
        // Also where it lacks a certificate, which is signed for the address.
        let lacks = |w: &mut World| w.lacks_certificate = Some(Waiting::NoCertificate);
        at(world, None).with(lacks).waits(Reason::WaitingForAddress);
    }
    for world in [a_joined_member(), joiner()] {
        let start = at(world, Some("203.0.113.7")).start();
        assert_eq!(start.identity.clients, Clients::At("203.0.113.7".into()));
        assert_eq!(start.identity.address, ADDRESS.into(), "members know it as ever");
    }
}

/// Operator and API server may be away: the spec beside the ledger has it.
#[test]
fn a_member_comes_back_with_the_address_that_it_had() {
    let saved = a_joined_member().with(|w| w.source = Source::Saved);
    let start = at(saved, Some("203.0.113.7")).start();
    assert_eq!(start.identity.clients, Clients::At("203.0.113.7".into()));
}

#[test]
fn a_server_that_runs_keeps_what_it_has_announced() {
    let running = at(a_running_member(), Some("203.0.113.8"));
    assert_eq!(running.action(), Action::Nothing);
    assert_eq!(at(a_running_member(), None).action(), Action::Nothing);
}

#[test]
fn other_rings_announce_as_before_whatever_is_on_record() {
    let start = |mode| {
        let record = |w: &mut World| {
            w.client_addresses = mode;
            w.spec().client_address = Some("203.0.113.7".into());
        };
        a_joined_member().with(record).start().identity.clients
    };
    assert_eq!(start(None), Clients::AsMembers);
    assert_eq!(start(Some(ClientAddresses::ServiceClusterIp)), Clients::AsMembers);
    assert_eq!(start(Some(ClientAddresses::PodIp)), Clients::OfPod);
}
