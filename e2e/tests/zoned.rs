//! `ZonedStatefulSet` on a real Kubernetes of three zones: zones, versions,
//! canary, configuration, active and passive pods, scaling, wrong input. Each
//! test applies the example that the documentation shows.

#[path = "../../tests/manifests/manifests.rs"]
#[expect(dead_code, reason = "the reader serves the unit tests, too")]
mod manifests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use palladion_e2e::{Bed, wait_for};
use serde_json::{Value, json};

/// A few pods have to be made and become ready one after another.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time for the label to move, on top of the probe's period × threshold.
const SLACK: Duration = Duration::from_secs(2);

fn bed() -> &'static Bed {
    static BED: OnceLock<Bed> = OnceLock::new();
    BED.get_or_init(Bed::attach)
}

fn example(name: &str) -> String {
    let path = format!(
        "{}/../examples/zonedstatefulset/{name}.yaml",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("reading {path}: {e}"))
}

/// One ZonedStatefulSet in a namespace of its own.
struct Zoned {
    namespace: &'static str,
    name: &'static str,
}

impl Zoned {
    fn start(namespace: &'static str, name: &'static str, manifest: &str) -> Self {
        bed().fresh_namespace(namespace).expect("a namespace");
        bed()
            .apply(namespace, manifest)
            .expect("the example is accepted");
        let zoned = Self { namespace, name };
        zoned.wait_ready();
        zoned
    }

    fn owner(&self) -> Result<Value> {
        bed()
            .get(self.namespace, "zonedstatefulset", self.name)?
            .context("the object is gone")
    }

    fn status(&self) -> Value {
        self.owner()
            .expect("the object")
            .pointer("/status")
            .cloned()
            .unwrap_or_default()
    }

    /// Ready, of the newest generation.
    fn wait_ready(&self) {
        self.wait("all pods to be ready", PATIENCE, |o| {
            o["status"]["ready"] == true
                && o["status"]["observedGeneration"] == o["metadata"]["generation"]
        });
    }

    fn wait(&self, what: &str, patience: Duration, test: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let found = wait_for(what, patience, || {
            last = self.owner()?;
            Ok(test(&last).then(|| last.clone()))
        });
        found.unwrap_or_else(|e| panic!("{e:#}; status: {}", last["status"]))
    }

    fn condition(&self, type_: &str) -> Value {
        let status = self.status();
        let all = status["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter()
            .find(|c| c["type"] == type_)
            .unwrap_or_default()
    }

    fn patch(&self, patch: &Value) {
        bed()
            .patch(self.namespace, "zonedstatefulset", self.name, patch)
            .expect("patch");
    }

    /// Change the pods: another value of an annotation, and an image if one is named.
    fn set_template(&self, change: &str, image: Option<&str>) {
        let mut container = self.owner().expect("the object")["spec"]["template"]["spec"]["template"]["spec"]["containers"][0].clone();
        if let Some(image) = image {
            container["image"] = json!(image);
        }
        let template = json!({ "metadata": { "annotations": { "change": change } }, "spec": { "containers": [container] } });
        self.patch(&json!({ "spec": { "template": { "spec": { "template": template } } } }));
    }

    fn sets(&self) -> Vec<String> {
        let sets = bed()
            .list(self.namespace, "statefulsets")
            .expect("list sets");
        sets.iter()
            .filter_map(|s| s["metadata"]["name"].as_str().map(str::to_string))
            .collect()
    }

    fn pods(&self) -> Vec<Value> {
        bed().list(self.namespace, "pods").expect("list pods")
    }

    fn uids(&self) -> BTreeMap<String, String> {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
        self.pods()
            .iter()
            .map(|p| (text(&p["metadata"]["name"]), text(&p["metadata"]["uid"])))
            .collect()
    }

    fn active(&self) -> Vec<String> {
        let pods = self.pods();
        let active = pods
            .iter()
            .filter(|p| p["metadata"]["labels"]["palladion.dev/pod-active"] == "active");
        active
            .filter_map(|p| p["metadata"]["name"].as_str().map(str::to_string))
            .collect()
    }

    fn end(self) {
        bed().remove_namespace(self.namespace).expect("clean up");
    }
}

#[test]
fn d4_zones_each_zone_has_its_set_labels_environment_and_place() {
    let web = Zoned::start("zoned-zones", "web", &example("partitioned"));
    assert_eq!(web.sets(), ["web-z0", "web-z1"]);
    let nodes = bed()
        .kubectl("get nodes -l topology.kubernetes.io/zone=z2 -o name")
        .expect("nodes");
    for pod in web.pods() {
        let meta = &pod["metadata"];
        let name = meta["name"].as_str().unwrap_or_default();
        let index = if name.starts_with("web-z1") { "1" } else { "0" };
        let zone = if index == "1" { "z2" } else { "z1" };
        assert_eq!(meta["labels"]["palladion.dev/az-index"], index);
        assert_eq!(meta["labels"]["palladion.dev/az-name"], zone);
        assert_eq!(
            meta["labels"]["palladion.dev/pod-ordinal"],
            name.rsplit('-').next().unwrap_or_default()
        );
        assert_eq!(
            meta["annotations"]["palladion.dev/zones"],
            r#"["z1", "z2"]"#
        );
        let env = bed()
            .exec(web.namespace, name, &["busybox", "env"])
            .expect("env");
        let number = if index == "1" {
            "AZ_INDEX=2"
        } else {
            "AZ_INDEX=1"
        };
        for line in [
            format!("KUBE_AZ={zone}"),
            format!("BOSH_AZ={zone}"),
            format!("CF_OPERATOR_AZ={zone}"),
            number.into(),
            "REPLICAS=2".into(),
        ] {
            assert!(env.lines().any(|l| l == line), "{name} should have {line}");
        }
        let node = format!(
            "node/{}",
            pod["spec"]["nodeName"].as_str().unwrap_or_default()
        );
        assert_eq!(
            nodes.lines().any(|n| n == node),
            zone == "z2",
            "{name} runs on {node}"
        );
    }
    web.end();
}

#[test]
fn d4_scaling_by_the_scale_subresource_restarts_nobody() {
    let workers = Zoned::start("zoned-scale", "workers", &example("scaling"));
    let before = workers.uids();
    bed()
        .kubectl("scale zonedstatefulset workers --replicas=2 -n zoned-scale")
        .expect("scale");
    workers.wait("three replicas, because they must be odd", PATIENCE, |o| {
        o["status"]["pods"] == "6/6" && o["status"]["ready"] == true
    });
    let after = workers.uids();
    assert!(
        before
            .iter()
            .all(|(name, uid)| after.get(name) == Some(uid)),
        "scaling restarted a pod"
    );
    let scale = bed().kubectl("get --raw /apis/palladion.dev/v1alpha1/namespaces/zoned-scale/zonedstatefulsets/workers/scale").expect("scale");
    let scale: Value = serde_json::from_str(&scale).expect("a Scale");
    assert_eq!(scale["status"]["replicas"], 3);
    assert!(
        scale["status"]["selector"]
            .as_str()
            .is_some_and(|s| s.contains("az-index=0")),
        "{scale}"
    );
    assert_eq!(workers.condition("Degraded")["reason"], "ReplicasLimited");
    workers.end();
}

#[test]
fn d4_version_the_old_set_serves_until_a_pod_of_the_new_one_is_ready() {
    let front = Zoned::start("zoned-version", "front", &example("versioned"));
    assert_eq!(front.sets(), ["front-z0-v1", "front-z1-v1"]);
    let old = front.uids();
    front.set_template("bad", Some("palladion.dev/not-there:1"));
    front.wait("the bad version to fail", PATIENCE, |o| {
        o["status"]["rollout"] == "Failed"
    });
    assert_eq!(
        front.sets(),
        ["front-z0-v1", "front-z0-v2", "front-z1-v1", "front-z1-v2"]
    );
    let now = front.uids();
    assert!(
        old.iter().all(|(name, uid)| now.get(name) == Some(uid)),
        "the old version was touched"
    );
    let message = front.condition("Degraded")["message"]
        .as_str()
        .unwrap_or_default()
        .to_string();
    assert!(message.contains("not-there"), "{message}");
    // A third version in the middle.
    front.set_template("good", Some("palladion.dev/tools:dev"));
    front.wait_ready();
    assert_eq!(front.sets(), ["front-z0-v3", "front-z1-v3"]);
    assert_eq!(front.status()["version"], 3);
    front.end();
}

#[test]
fn d4_canary_a_bad_one_stops_at_one_pod_and_a_fix_overtakes_it() {
    let web = Zoned::start(
        "zoned-canary",
        "web",
        &example("partitioned").replace("watchSeconds: 60", "watchSeconds: 20"),
    );
    let before = web.uids();
    web.set_template("bad", Some("palladion.dev/not-there:1"));
    let failed = web.wait("the canary to fail", PATIENCE, |o| {
        o["status"]["rollout"] == "Failed"
    });
    assert_eq!(failed["status"]["ready"], false);
    assert_eq!(failed["status"]["sets"]["web-z1"]["state"], "Pending");
    let after = web.uids();
    let changed: Vec<&String> = before
        .iter()
        .filter(|(n, u)| after.get(*n) != Some(u))
        .map(|(n, _)| n)
        .collect();
    assert_eq!(changed, ["web-z0-1"]);
    assert_eq!(web.condition("Degraded")["reason"], "RolloutFailed");
    web.set_template("fixed", Some("palladion.dev/tools:dev"));
    web.wait_ready();
    assert_eq!(web.status()["rollout"], "Done");
    assert!(
        web.uids()
            .iter()
            .all(|(name, uid)| before.get(name) != Some(uid)),
        "a pod kept the old template"
    );
    let events = bed()
        .kubectl("get events -n zoned-canary -o jsonpath={.items[*].reason}")
        .expect("events");
    assert!(events.contains("RolloutFailed"), "{events}");
    web.end();
}

#[test]
fn d4_config_data_rolls_the_pods_and_metadata_does_not() {
    let conf = Zoned::start("zoned-config", "conf", &example("config"));
    let ns = conf.namespace;
    let first = conf.uids();
    bed()
        .kubectl("label configmap settings -n zoned-config touched=yes")
        .expect("label");
    std::thread::sleep(Duration::from_secs(10));
    assert_eq!(conf.uids(), first, "a label rolled the pods");

    for word in ["a", "b", "c"] {
        bed()
            .patch(
                ns,
                "configmap",
                "settings",
                &json!({ "data": { "GREETING": word } }),
            )
            .expect("patch");
    }
    conf.wait("version 2", PATIENCE, |o| {
        o["status"]["version"] == 2 && o["status"]["ready"] == true
    });
    let env = bed()
        .exec(ns, "conf-z0-0", &["busybox", "env"])
        .expect("env");
    assert!(env.contains("GREETING=c"), "{env}");
    assert_eq!(
        conf.status()["version"],
        2,
        "three changes should be one rollout"
    );

    let newer = example("config")
        .split("---")
        .nth(1)
        .unwrap_or_default()
        .replace("tls-v1", "tls-v2")
        .replace("key: one", "key: two");
    bed().apply(ns, &newer).expect("a newer Secret");
    conf.wait("version 3", PATIENCE, |o| {
        o["status"]["version"] == 3 && o["status"]["ready"] == true
    });
    let key = bed()
        .exec(ns, "conf-z0-0", &["busybox", "cat", "/tls/key"])
        .expect("cat");
    assert_eq!(key.trim(), "two");

    conf.patch(&json!({ "spec": { "updateOnConfigChange": false } }));
    let third = conf.uids();
    bed()
        .patch(
            ns,
            "configmap",
            "settings",
            &json!({ "data": { "GREETING": "d" } }),
        )
        .expect("patch");
    std::thread::sleep(Duration::from_secs(10));
    assert_eq!(conf.uids(), third, "rolled although switched off");
    conf.end();
}

/// Seconds until exactly one other pod is active; more than one is never seen.
fn fail_over(zoned: &Zoned, from: &str, within: Duration) -> Duration {
    let begin = Instant::now();
    let deadline = within + SLACK;
    loop {
        let active = zoned.active();
        assert!(active.len() <= 1, "two pods are active: {active:?}");
        if active.first().is_some_and(|a| a != from) {
            return begin.elapsed();
        }
        // Asking takes time of its own on a busy machine: a generous end, and
        // the figure is told.
        assert!(
            begin.elapsed() < deadline + Duration::from_secs(5),
            "no fail-over from {from}: {active:?}"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn endpoints(zoned: &Zoned, service: &str) -> Result<Vec<String>> {
    let slices = bed().list(zoned.namespace, "endpointslices")?;
    let of_service = slices
        .iter()
        .filter(|s| s["metadata"]["labels"]["kubernetes.io/service-name"] == service);
    let endpoints = of_service.flat_map(|s| s["endpoints"].as_array().cloned().unwrap_or_default());
    Ok(endpoints
        .filter_map(|e| e["targetRef"]["name"].as_str().map(str::to_string))
        .collect())
}

fn one_active(zoned: &Zoned) -> String {
    wait_for("a pod to be active", PATIENCE, || {
        let active = zoned.active();
        match active.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            more => bail!("{more:?} are active"),
        }
    })
    .expect("one active pod")
}

#[test]
fn d4_active_exactly_one_pod_is_reached_and_fails_over() {
    let queue = Zoned::start("zoned-active", "queue", &example("active-passive"));
    let first = one_active(&queue);
    wait_for("the Service to reach only it", PATIENCE, || {
        Ok((endpoints(&queue, "queue-active")? == [first.clone()]).then_some(()))
    })
    .expect("endpoints");

    // The probe fails: period 1 s × threshold 2.
    bed()
        .exec(queue.namespace, &first, &["busybox", "rm", "/tmp/lead"])
        .expect("stop leading");
    let took = fail_over(&queue, &first, Duration::from_secs(2));
    eprintln!("fail-over after a failing probe: {took:?} (period 1 s, threshold 2)");
    let second = one_active(&queue);
    wait_for("the Service to follow", PATIENCE, || {
        Ok((endpoints(&queue, "queue-active")? == [second.clone()]).then_some(()))
    })
    .expect("endpoints");

    // It is not given back, and a deleted pod is followed at once.
    bed()
        .exec(queue.namespace, &first, &["busybox", "touch", "/tmp/lead"])
        .expect("lead again");
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(queue.active(), std::slice::from_ref(&second));
    bed()
        .cluster
        .kubectl(&[
            "delete",
            "pod",
            &second,
            "-n",
            queue.namespace,
            "--wait=false",
        ])
        .expect("delete");
    let took = fail_over(&queue, &second, Duration::from_secs(0));
    eprintln!("fail-over after the active pod was deleted: {took:?}");
    assert_eq!(one_active(&queue), first);
    queue.end();
}

#[test]
fn d4_active_by_a_command_in_the_container() {
    let lock = Zoned::start("zoned-exec", "lock", &example("exec-probe"));
    let first = one_active(&lock);
    bed()
        .exec(lock.namespace, &first, &["busybox", "rm", "/tmp/lead"])
        .expect("let go");
    let took = fail_over(&lock, &first, Duration::from_secs(2));
    eprintln!("fail-over after a failing command: {took:?} (period 1 s, threshold 2)");
    lock.end();
}

#[test]
fn wrong_input_is_refused_with_the_way_out() {
    bed().fresh_namespace("zoned-wrong").expect("a namespace");
    let web = example("partitioned");
    let cases = [
        (web.replace("rollout: Partitioned", "rollout: Versioned").replace("      replicas: 2\n", "      replicas: 2\n      volumeClaimTemplates: [{metadata: {name: d}, spec: {}}]\n"), "use `rollout: Partitioned`"),
        (web.replace("  zones: [z1, z2]", "  activePassiveProbes: {nobody: {tcpSocket: {port: 1}}}"), "name of a container"),
        (web.replace("  zones: [z1, z2]", "  zones: [z1, z1]"), "each zone may be named once"),
        (web.replace("  name: web\n", "  name: a-name-that-is-much-too-long-for-pods-of-a-zone-of-it\n"), "the name is too long"),
        (web.replace("      replicas: 2\n", "      replicas: 2\n      selector: {matchLabels: {app: other}}\n"), "selector.matchLabels"),
        (web.replace("  zones: [z1, z2]", "  scaling: {min: 4, max: 2}"), "must not be above"),
    ];
    for (manifest, expected) in cases {
        assert_ne!(manifest, web, "the case should change something");
        let error = bed()
            .apply("zoned-wrong", &manifest)
            .expect_err("should be refused");
        assert!(format!("{error:#}").contains(expected), "{error:#}");
    }
    bed()
        .apply(
            "zoned-wrong",
            &web.replace("zones: [z1, z2]", "zones: [mars]"),
        )
        .expect("accepted");
    let zoned = Zoned {
        namespace: "zoned-wrong",
        name: "web",
    };
    zoned.wait("the zone to be named", PATIENCE, |o| {
        o["status"].to_string().contains("ZoneWithoutNodes")
    });
    zoned.end();
}

#[test]
fn recreate_never_runs_old_and_new_side_by_side() {
    let manifest = example("partitioned").replace("rollout: Partitioned", "rollout: Recreate");
    let web = Zoned::start("zoned-recreate", "web", &manifest);
    let old: Vec<String> = web.uids().into_values().collect();
    web.set_template("new", None);
    let begin = Instant::now();
    loop {
        let uids: Vec<String> = web.uids().into_values().collect();
        let (of_old, of_new): (Vec<_>, Vec<_>) = uids.iter().partition(|u| old.contains(u));
        assert!(
            of_old.is_empty() || of_new.is_empty(),
            "old and new pods at once"
        );
        if of_new.len() == 4 {
            break;
        }
        assert!(
            begin.elapsed() < PATIENCE,
            "no new pods; status: {}",
            web.status()
        );
    }
    web.wait_ready();
    assert_eq!(web.status()["version"], 2);
    web.end();
}

#[test]
fn a_secret_that_may_not_be_read_is_named_and_read_when_it_may() {
    let manifest = example("config");
    let role = manifest
        .find("kind: RoleBinding")
        .expect("the example should have a RoleBinding");
    let without = manifest.replace("name: palladion-operator", "name: somebody-else");
    assert!(role > 0 && without != manifest);
    bed().fresh_namespace("zoned-secret").expect("a namespace");
    bed().apply("zoned-secret", &without).expect("accepted");
    let conf = Zoned {
        namespace: "zoned-secret",
        name: "conf",
    };
    let told = conf.wait("the Secret to be named", PATIENCE, |o| {
        o["status"].to_string().contains("ConfigUnreadable")
    });
    assert!(
        told["status"].to_string().contains("Secret tls-v"),
        "{}",
        told["status"]
    );
    assert!(conf.sets().is_empty(), "nothing is made on a guess");
    bed().apply("zoned-secret", &manifest).expect("accepted");
    conf.wait_ready();
    conf.end();
}

#[test]
fn the_api_server_judges_every_manifest_as_the_unit_tests_do() {
    bed()
        .fresh_namespace("zoned-manifests")
        .expect("a namespace");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/manifests/zoned");
    let all = manifests::read_all(&folder);
    assert!(all.len() > 15, "{} manifests", all.len());
    for manifest in &all {
        let judge = |verb: &str, object: &Value| {
            let words = [verb, "--dry-run=server", "-n", "zoned-manifests", "-f", "-"];
            bed()
                .cluster
                .kubectl_with_input(&words, &object.to_string())
        };
        let outcome = match &manifest.old {
            None => judge("create", &manifest.new),
            Some(old) => {
                let mut old = old.clone();
                old["spec"]["paused"] = json!(true);
                bed()
                    .cluster
                    .kubectl_with_input(
                        &["create", "-n", "zoned-manifests", "-f", "-"],
                        &old.to_string(),
                    )
                    .expect("the old object");
                let outcome = judge("apply", &manifest.new);
                let name = old["metadata"]["name"]
                    .as_str()
                    .unwrap_or_default()
                    .to_string();
                bed()
                    .cluster
                    .kubectl(&["delete", "zonedstatefulset", &name, "-n", "zoned-manifests"])
                    .expect("delete");
                outcome
            }
        };
        match (manifest.verdict, outcome) {
            (manifests::Verdict::Accepted, Ok(_)) => {}
            (manifests::Verdict::Accepted, Err(error)) => {
                panic!("{} was refused: {error:#}", manifest.name)
            }
            (manifests::Verdict::Refused, Ok(_)) => panic!("{} was accepted", manifest.name),
            (manifests::Verdict::Refused, Err(error)) => {
                let error = format!("{error:#}");
                for words in &manifest.expect {
                    assert!(error.contains(words), "{}: {error}", manifest.name);
                }
            }
        }
    }
    bed().remove_namespace("zoned-manifests").expect("clean up");
}

#[test]
fn every_example_is_accepted() {
    bed()
        .fresh_namespace("zoned-examples")
        .expect("a namespace");
    for name in [
        "exposing",
        "scaling",
        "partitioned",
        "versioned",
        "config",
        "active-passive",
        "exec-probe",
    ] {
        let manifest = example(name);
        let dry = [
            "apply",
            "--dry-run=server",
            "-n",
            "zoned-examples",
            "-f",
            "-",
        ];
        bed()
            .cluster
            .kubectl_with_input(&dry, &manifest)
            .unwrap_or_else(|e| panic!("{name}: {e:#}"));
    }
    bed().remove_namespace("zoned-examples").expect("clean up");
}
