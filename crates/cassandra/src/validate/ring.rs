//! The ring that the datacenter belongs to, and where its members elsewhere are found.

use crate::words::refusal::Refusal;
use k8s_openapi::api::networking::v1::{IPBlock, NetworkPolicyPeer};
use palladion_api::cluster::{
    CassandraClusterSpec, ExternalSeeds, InternodeTlsMode, Mode, PolicyMode, RingOrigin,
};
use palladion_api::ids::SeedAddress;
use palladion_plan::words::Quoted;
use std::net::IpAddr;

/// What can be carried out of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValidElsewhere {
    /// Where the ring begins.
    pub origin: RingOrigin,
    /// Seeds in other datacenters, in the order of the spec, each once.
    pub seeds: Vec<SeedAddress>,
}

/// As the spec says.
///
/// # Errors
/// What admission refuses, too; addresses that are none; and TLS between members that those
/// elsewhere could not follow.
pub fn of(
    spec: &CassandraClusterSpec,
    internode_tls: InternodeTlsMode,
    reach: (InternodeTlsMode, InternodeTlsMode),
) -> Result<ValidElsewhere, Refusal> {
    let origin = spec.ring.map(|ring| ring.origin).unwrap_or_default();
    let places = &spec.external_seeds;
    if spec.mode == Mode::Scylla && (spec.ring.is_some() || !places.is_empty()) {
        return Err(Refusal::DatacentersOfScylla);
    }
    if spec.mode == Mode::Scylla && spec.datacenter.leave {
        return Err(Refusal::LeaveOfScylla);
    }
    let network = spec.network.as_ref();
    match (origin, places.is_empty()) {
        (RingOrigin::Existing, true) => return Err(Refusal::ExistingWithoutSeeds),
        (RingOrigin::New, true) => return Ok(ValidElsewhere::default()),
        (RingOrigin::New | RingOrigin::Existing, false) => {}
    }
    if !network.is_some_and(|network| network.cluster_ips_are_routed) {
        return Err(Refusal::SeedsNotRouted);
    }
    check_internode(spec, internode_tls, reach)?;
    let restores = spec.backup.as_ref().is_some_and(|backup| backup.restore.is_some());
    if origin == RingOrigin::Existing && restores {
        return Err(Refusal::ExistingIsNotRestored);
    }
    let is_managed = network.is_some_and(|network| network.policy == PolicyMode::Managed);
    let mut seeds: Vec<SeedAddress> = Vec::new();
    for place in places {
        if place.networks.is_empty() == is_managed {
            return Err(Refusal::SeedNetworks);
        }
        let of_this_name = places.iter().filter(|other| other.name == place.name);
        if place.addresses.is_empty() || of_this_name.count() > 1 {
            return Err(Refusal::SeedPlaces);
        }
        for address in &place.addresses {
            if SeedAddress::parse(address.as_str()).is_err() {
                return Err(Refusal::SeedAddress { text: Quoted(address.to_string()) });
            }
            if !seeds.contains(address) {
                seeds.push(address.clone());
            }
        }
    }
    Ok(ValidElsewhere { origin, seeds })
}

/// Members elsewhere show certificates of an authority of theirs, and take one step at a time with
/// us: how far they are is not seen here.
fn check_internode(
    spec: &CassandraClusterSpec,
    now: InternodeTlsMode,
    (from, to): (InternodeTlsMode, InternodeTlsMode),
) -> Result<(), Refusal> {
    let internode = spec.tls.as_ref().and_then(|tls| tls.internode.as_ref());
    let wanted = internode.map_or(now, |internode| internode.mode);
    let is_alone = internode.is_none_or(|internode| internode.additional_trust.is_empty());
    if (now, wanted) != (InternodeTlsMode::Off, InternodeTlsMode::Off) && is_alone {
        return Err(Refusal::InternodeTlsElsewhere);
    }
    if wanted < from || wanted > to {
        let next = wanted.clamp(from, to).as_str();
        return Err(Refusal::OneStepAtATime { wanted: wanted.as_str(), next });
    }
    Ok(())
}

/// Who connects to the port for members from elsewhere.
///
/// # Errors
/// A network that is no block of addresses.
pub fn peers(places: &[ExternalSeeds]) -> Result<Vec<NetworkPolicyPeer>, Refusal> {
    let networks = places.iter().flat_map(|place| &place.networks);
    let peer = |cidr: &String| match is_block(cidr) {
        true => Ok(NetworkPolicyPeer {
            ip_block: Some(IPBlock { cidr: cidr.clone(), except: None }),
            ..NetworkPolicyPeer::default()
        }),
        false => Err(Refusal::SeedNetwork { text: Quoted(cidr.clone()) }),
    };
    networks.map(peer).collect()
}

fn is_block(cidr: &str) -> bool {
    let Some((address, length)) = cidr.split_once('/') else {
        return false;
    };
    let longest = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.parse::<u8>().is_ok_and(|length| length <= longest)
}

#[cfg(test)]
mod tests {
    use crate::fixtures::a_cluster;
    use crate::words::refusal::Refusal;
    use palladion_api::cluster::{
        AdditionalTrust, CassandraClusterSpec, ExternalSeeds, InternodeCertificates, InternodeTls,
        InternodeTlsMode, Network, PolicyMode, Ring, RingOrigin, Tls,
    };

    /// Of an authority whose key nobody has.
    const A_CERTIFICATE: &str = include_str!("../../tests/authority-of-nobody.pem");

    fn existing(spec: &mut CassandraClusterSpec) {
        spec.ring = Some(Ring { origin: RingOrigin::Existing, ..Ring::default() });
        spec.external_seeds = vec![ExternalSeeds {
            name: "west".into(),
            addresses: vec!["10.97.0.1".into(), "seeds.west".into(), "10.97.0.1".into()],
            networks: Vec::new(),
        }];
        spec.network = Some(Network { cluster_ips_are_routed: true, ..Network::default() });
    }

    fn refusal(change: impl FnOnce(&mut CassandraClusterSpec)) -> Refusal {
        let cluster = a_cluster().rack("a", 1).spec(existing).spec(change);
        cluster.validate().expect_err("should be refused")
    }

    #[test]
    fn seeds_elsewhere_are_kept_in_order_and_once() {
        let valid = a_cluster().rack("a", 1).spec(existing).valid();
        let seeds: Vec<&str> = valid.elsewhere.seeds.iter().map(|seed| seed.as_str()).collect();
        assert_eq!(seeds, ["10.97.0.1", "seeds.west"]);
        assert_eq!(valid.elsewhere.origin, RingOrigin::Existing);
    }

    #[test]
    fn what_admission_refuses_is_refused_here_too() {
        assert_eq!(refusal(|s| s.external_seeds.clear()), Refusal::ExistingWithoutSeeds);
        assert_eq!(refusal(|s| s.network = None), Refusal::SeedsNotRouted);
        let managed = |s: &mut CassandraClusterSpec| {
            s.network.get_or_insert_default().policy = PolicyMode::Managed;
        };
        assert_eq!(refusal(managed), Refusal::SeedNetworks);
        let without = refusal(|s| s.external_seeds[0].networks = vec!["10.97.0.0/16".into()]);
        assert_eq!(without, Refusal::SeedNetworks);
        let port = |s: &mut CassandraClusterSpec| {
            s.external_seeds[0].addresses[0] = "10.97.0.1:7000".into();
        };
        assert!(matches!(refusal(port), Refusal::SeedAddress { .. }));
        let block = |s: &mut CassandraClusterSpec| {
            managed(s);
            s.external_seeds[0].networks = vec!["10.97.0.0/33".into()];
        };
        assert!(matches!(refusal(block), Refusal::SeedNetwork { .. }));
    }

    /// The same with TLS between members, and so many authorities of others.
    fn speaks_tls(spec: &mut CassandraClusterSpec, others: usize) {
        let other = AdditionalTrust { name: "west".into(), certificate: A_CERTIFICATE.into() };
        let internode = InternodeTls {
            mode: InternodeTlsMode::Require,
            certificates: Some(InternodeCertificates::default()),
            additional_trust: vec![other; others],
        };
        spec.tls = Some(Tls { internode: Some(internode), ..Tls::default() });
    }

    #[test]
    fn with_tls_the_authorities_of_others_are_named() {
        assert_eq!(refusal(|s| speaks_tls(s, 0)), Refusal::InternodeTlsElsewhere);
        a_cluster().rack("a", 1).spec(existing).spec(|s| speaks_tls(s, 1)).valid();
    }

    #[test]
    fn members_elsewhere_take_each_step_with_us() {
        use InternodeTlsMode::{Accept, Off, Prefer, Require};
        let mut spec = CassandraClusterSpec::default();
        speaks_tls(&mut spec, 1);
        let of = |reach| super::check_internode(&spec, Accept, reach).err();
        let too_far = |next| Some(Refusal::OneStepAtATime { wanted: "Require", next });
        assert_eq!((of((Off, Accept)), of((Off, Prefer))), (too_far("Accept"), too_far("Prefer")));
        assert_eq!((of((Accept, Require)), of((Off, Require))), (None, None));
    }
}
