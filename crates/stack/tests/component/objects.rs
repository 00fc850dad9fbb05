//! The objects that are made.

use crate::world::{NAME, World, a_spec, signalled, with};
use palladion_stack::resources as kinds;
use serde_json::json;

fn services(world: &World) -> Vec<String> {
    world.store.list(kinds::SERVICE).map(|(key, _)| key.name.clone()).collect()
}

#[test]
fn each_pod_has_an_address_that_stays_and_gives_it_back_in_the_end() {
    let mut world = World::settled(a_spec());
    assert_eq!(services(&world), ["web-0", "web-1", "web-client", "web-nodes"]);
    let address = world.get(kinds::SERVICE, "web-1").unwrap()["spec"]["clusterIP"].clone();
    world.delete_pod("web-1");
    world.pass(10);
    let again = world.get(kinds::SERVICE, "web-1").unwrap()["spec"]["clusterIP"].clone();
    assert_eq!(again, address);
    world.set_spec(with(a_spec(), "/replicas", json!(1)));
    world.pass(10);
    assert_eq!(services(&world), ["web-0", "web-client", "web-nodes"]);
}

#[test]
fn the_pod_has_the_gate_first_and_what_the_gate_needs() {
    let spec = with(
        a_spec(),
        "/template/spec/initContainers",
        json!([{ "name": "own", "image": "own:1" }]),
    );
    let world = World::settled(spec);
    let pod = world.pod("web-0");
    let init = &pod["spec"]["initContainers"];
    assert_eq!((&init[0]["name"], &init[1]["name"]), (&json!("init"), &json!("own")));
    assert_eq!(init[0]["image"], "agent:1");
    assert_eq!(init[0]["command"], json!(["/palladion-agent", "gate"]));
    assert_eq!(
        init[0]["args"],
        json!([
            "--labels",
            "/tmp/podinfo/pod_labels",
            "--config",
            "/configs",
            "--key",
            "$(PALLADION_CONFIG_KEY)"
        ])
    );
    let volumes: Vec<&str> = pod["spec"]["volumes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["name"].as_str().unwrap())
        .collect();
    assert_eq!(volumes, ["palladion", "status", "config"]);
    let mounts = &pod["spec"]["containers"][0]["volumeMounts"];
    assert_eq!(mounts[0]["mountPath"], "/configs", "the whole map in every container");
    let set = world.set();
    assert_eq!(set["spec"]["updateStrategy"]["type"], "OnDelete");
    assert_eq!(set["spec"]["podManagementPolicy"], "Parallel");
}

#[test]
fn a_signalled_pod_has_a_container_beside_that_of_the_process() {
    let security = json!({ "runAsUser": 7 });
    let spec = with(a_spec(), "/template/spec/containers/0/securityContext", security.clone());
    let spec = with(
        spec,
        "/reload",
        json!({ "policy": "Signal", "signal": "USR1", "process": "api", "container": "api" }),
    );
    let spec = with(
        spec,
        "/readiness",
        json!({ "http": { "container": "api", "port": 8082, "path": "/status" } }),
    );
    let pod = World::settled(spec).pod("web-0");
    let [api, reload] = pod["spec"]["containers"].as_array().unwrap().as_slice() else {
        panic!("two containers");
    };
    assert_eq!(reload["image"], "good:1");
    assert_eq!(reload["securityContext"], security, "its rights are those of the process");
    let args = reload["args"].as_array().unwrap();
    assert!(args.ends_with(&["--process", "api", "--signal", "USR1"].map(|a| json!(a))));
    assert_eq!(pod["spec"]["shareProcessNamespace"], true);
    assert_eq!(
        api["readinessProbe"]["exec"]["command"],
        json!([
            "/palladion/palladion-agent",
            "probe",
            "--host",
            "127.0.0.1",
            "--port",
            "8082",
            "--path",
            "/status"
        ])
    );
}

#[test]
fn pods_on_the_network_of_their_nodes_need_no_services_of_their_own() {
    let spec = with(signalled(a_spec()), "/network/addresses", json!("HostNetwork"));
    let world = World::settled(spec);
    assert_eq!(services(&world), ["web-client", "web-nodes"]);
    assert_eq!(world.pod("web-0")["spec"]["hostNetwork"], true);
    assert_eq!(world.pod("web-0")["spec"]["dnsPolicy"], "ClusterFirstWithHostNet");
}

#[test]
fn a_map_that_somebody_has_changed_is_put_right_and_read_back_before_a_gate_opens() {
    let mut world = World::settled(a_spec());
    let texts = world.texts();
    let key = palladion_plan::ObjectKey::new(kinds::CONFIG_MAP, "shop", "web-config");
    let patch = json!({ "data": { "web-0.conf": "broken" } });
    world.store.merge(&key, &patch, palladion_plan::Subresource::None).unwrap();
    world.restart_sandbox("web-0");
    world.pass(10);
    assert_eq!(world.texts(), texts);
    assert_eq!(world.kubelet.starts.len(), 3);
    assert_eq!(world.kubelet.starts[2].2, world.label("web-0", "palladion.dev/config"));
}

#[test]
fn an_object_of_somebody_else_is_not_touched() {
    let mut world = World::new(a_spec());
    let key = palladion_plan::ObjectKey::new(kinds::SERVICE, "shop", "web-client");
    world.store.create(&key, &json!({ "metadata": { "name": "web-client" } })).unwrap();
    world.ring(3, 3);
    world.pass(60);
    assert!(world.shows(palladion_api::Reason::ForeignObject), "{}", world.status());
    assert!(world.get(kinds::STATEFUL_SET, NAME).is_none());
}
