//! Names, numbers and versions that make no ring.

use super::{good, refused};
use crate::fixtures::a_cluster;
use palladion_api::cluster::Mode;
use palladion_api::reasons::Reason;

#[test]
fn names_that_no_object_could_bear_are_refused() {
    let most = 52 - "demo-dc1-".len();
    assert!(a_cluster().rack(&"r".repeat(most), 1).validate().is_ok());
    let too_long = a_cluster().rack(&"r".repeat(most + 1), 1);
    let words = ["demo-dc1-rrr", "53 characters", "maximum is 52", "shorten"];
    refused(&too_long, Reason::InvalidSpec, &words);

    for name in ["a b", "-a", "a_", "ä", ""] {
        let cluster = a_cluster().rack(name, 1);
        refused(&cluster, Reason::InvalidSpec, &["rack", "use letters"]);
        let cluster = good().spec(|spec| spec.datacenter.name = name.into());
        refused(&cluster, Reason::InvalidSpec, &["`datacenter.name`", "use letters"]);
    }
    for name in ["4ring", "a.b", "A", "a-"] {
        let cluster = good().meta(|meta| meta.name = name.into());
        let words = [name, "starts with a letter"];
        refused(&cluster, Reason::InvalidSpec, &words);
    }
    let cluster = good().spec(|spec| spec.ring_name = Some(String::new()));
    refused(&cluster, Reason::InvalidSpec, &["`ringName`"]);
}

#[test]
fn racks_need_names_of_their_own_as_objects_too() {
    for other in ["a", "A"] {
        let twice = good().rack(other, 1);
        refused(&twice, Reason::InvalidSpec, &[other, "is listed twice"]);
    }
    let alike = a_cluster().rack("a.1", 1).rack("a_1", 1);
    refused(&alike, Reason::InvalidSpec, &["rack a_1", "rename one"]);
    refused(&a_cluster(), Reason::InvalidSpec, &["`datacenter.racks` is empty"]);
}

#[test]
fn numbers_that_make_no_ring_are_refused() {
    let nobody = a_cluster().rack("a", 0).rack("b", 0);
    refused(&nobody, Reason::InvalidSpec, &["`members`", "1 or more"]);
    assert!(a_cluster().rack("a", 0).rack("b", 1).validate().is_ok());
    let cluster = good().spec(|spec| spec.num_tokens = 0);
    refused(&cluster, Reason::InvalidSpec, &["`numTokens` is 0"]);
    let cluster = good().spec(|spec| spec.seeds_per_rack = 0);
    refused(&cluster, Reason::InvalidSpec, &["`seedsPerRack` is 0"]);
    let cluster = good().spec(|spec| spec.termination_grace_period_seconds = 0);
    let words = ["`terminationGracePeriodSeconds` is 0"];
    refused(&cluster, Reason::InvalidSpec, &words);
}

#[test]
fn versions_are_of_a_known_line() {
    for version in ["4.0", "4.0.18", "4.1.9", "5.0.5", "5.0-rc1", "5.0.5-ours"] {
        let cluster = good().spec(|spec| spec.version = version.into());
        assert!(cluster.validate().is_ok(), "{version}");
    }
    for version in ["3.11.19", "5.01", "5.1.0", "latest", ""] {
        let cluster = good().spec(|spec| spec.version = version.into());
        let words = ["`version`", "4.0, 4.1, 5.0"];
        refused(&cluster, Reason::InvalidSpec, &words);
    }
    let scylla = good().spec(|spec| {
        spec.mode = Mode::Scylla;
        spec.version = "latest".into();
    });
    refused(&scylla, Reason::InvalidSpec, &["`version`", "Scylla"]);
}
