//! Mistakes in the manifests of staged services: each is named in a condition in time, with
//! the next step, and cured by correcting the manifest alone.

use std::time::Instant;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::mistakes::{Finder, Said, wait_named};
use palladion_e2e::stack::{Services, document, example};
use serde_json::{Value, json};

use super::agents::{Labelled, workers};

/// A mistake in the spec of a Component that is right otherwise.
struct Mistake {
    /// The name of the Component that has it.
    name: &'static str,
    wrong: fn(&mut Value),
    said: Said,
    finder: Finder,
}

pub(super) const fn said(
    type_: &'static str,
    reason: Reason,
    words: &'static [&'static str],
) -> Said {
    Said { type_, reason, words }
}

pub(super) fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": kind,
        "metadata": { "name": name }, "spec": spec,
    })
}

/// A Component that comes up by itself, with a text for its pod.
pub(super) fn right() -> Value {
    json!({
        "network": { "ports": [{ "name": "http", "port": 8080 }] },
        "config": { "files": [{ "name": "conf", "template": "port = {{ ports.http }}\n" }] },
        "template": { "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [
                { "name": "web", "image": "palladion.dev/tools:dev", "command": ["standin"] },
            ],
        } },
    })
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "typo",
        wrong: |spec| spec["config"]["files"][0]["template"] = json!("a\n{{ self.adress }}\n"),
        said: said("Accepted", Reason::TemplateInvalid, &["file conf fails in line 2"]),
        finder: Finder::Operator,
    },
    Mistake {
        name: "no-port",
        wrong: |spec| spec["config"]["files"][0]["template"] = json!("{{ ports.htp }}\n"),
        said: said("Accepted", Reason::TemplateInvalid, &["file conf fails in line 1"]),
        finder: Finder::Operator,
    },
    Mistake {
        name: "no-map",
        wrong: |spec| {
            spec["template"]["spec"]["volumes"] =
                json!([{ "name": "own", "configMap": { "name": "not-there" } }]);
        },
        said: said(
            "Accepted",
            Reason::ConfigMapMissing,
            &["ConfigMap not-there", "create it, or correct `template`"],
        ),
        finder: Finder::Operator,
    },
    Mistake {
        name: "no-class",
        wrong: |spec| spec["volumeClaimTemplates"] = claims("fast-and-missing"),
        said: said(
            "Accepted",
            Reason::StorageClassMissing,
            &["storage class fast-and-missing of claim data", "name another"],
        ),
        finder: Finder::Operator,
    },
    Mistake {
        name: "no-dependency",
        wrong: |spec| spec["dependsOn"] = json!([{ "kind": "Component", "name": "nobody" }]),
        said: said(
            "DependenciesReady",
            Reason::WaitingForDependency,
            &["Component nobody", "create it, or correct `dependsOn`"],
        ),
        finder: Finder::Operator,
    },
    Mistake {
        name: "no-secret",
        wrong: |spec| {
            spec["template"]["spec"]["volumes"] =
                json!([{ "name": "own", "secret": { "secretName": "not-there" } }]);
            // The kubelet waits for volumes that a container mounts, and for no others.
            spec["template"]["spec"]["containers"][0]["volumeMounts"] =
                json!([{ "name": "own", "mountPath": "/own" }]);
        },
        said: said(
            "Progressing",
            Reason::WaitingForVolumes,
            &["needs the Secrets not-there", "kubectl describe pod no-secret-0"],
        ),
        finder: Finder::Operator,
    },
    Mistake {
        name: "no-node",
        wrong: |spec| {
            spec["template"]["spec"]["nodeSelector"] =
                json!({ "topology.kubernetes.io/zone": "nowhere" });
        },
        said: said("Degraded", Reason::Unschedulable, &["no-node-0", "nodes are available"]),
        finder: Finder::Scheduler,
    },
    Mistake {
        name: "no-image",
        wrong: |spec| {
            spec["template"]["spec"]["containers"][0]["image"] =
                json!("palladion.dev/tools:not-there");
        },
        said: said("Degraded", Reason::ImagePullFailed, &["no-image-0", "not-there"]),
        finder: Finder::Kubelet,
    },
    Mistake {
        name: "no-variable",
        wrong: |spec| {
            let from = json!({ "secretKeyRef": { "name": "not-there", "key": "k" } });
            spec["template"]["spec"]["containers"][0]["env"] =
                json!([{ "name": "A", "valueFrom": from }]);
        },
        said: said("Degraded", Reason::PodFailing, &["no-variable-0", "not-there"]),
        finder: Finder::Kubelet,
    },
    Mistake {
        name: "no-process",
        wrong: |spec| {
            spec["reload"] =
                json!({ "policy": "Signal", "process": "standinn", "container": "web" });
        },
        said: said(
            "Degraded",
            Reason::ReloadUnconfirmed,
            &["correct `reload.process`", "kubectl logs no-process-0 -c reload"],
        ),
        finder: Finder::Agent,
    },
];

fn claims(class: &str) -> Value {
    json!([{ "metadata": { "name": "data" }, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": class,
        "resources": { "requests": { "storage": "64Mi" } },
    } }])
}

/// One after the other is made and has to be named; then all manifests are corrected, and
/// nothing else is touched.
pub(super) fn of_components() {
    let services = Services { namespace: "stack-mistakes" };
    bed().fresh_namespace(services.namespace).expect("a namespace");
    for mistake in MISTAKES {
        let mut spec = right();
        (mistake.wrong)(&mut spec);
        services.apply(&object("Component", mistake.name, &spec).to_string());
        let applied = Instant::now();
        let object = (services.namespace, "component", mistake.name);
        wait_named(object, &mistake.said, (mistake.finder, mistake.name), applied);
    }
    for mistake in MISTAKES {
        let mut spec = right();
        if mistake.name == "no-class" {
            spec["volumeClaimTemplates"] = claims("local");
        }
        services.apply(&object("Component", mistake.name, &spec).to_string());
    }
    for mistake in MISTAKES {
        services.wait_ready("component", mistake.name);
    }
    let class = object("Component", "no-class", &{
        let mut spec = right();
        spec["volumeClaimTemplates"] = claims("fast-and-missing");
        spec
    });
    let fixed = bed().apply(services.namespace, &class.to_string());
    let fixed = format!("{:#}", fixed.expect_err("the claims are made: they are fixed"));
    assert!(fixed.contains("`volumeClaimTemplates` is immutable"), "{fixed}");
    services.end();
}

/// Two that wait for each other are named, and both start once one of them does not.
pub(super) fn of_order() {
    let services = Services { namespace: "stack-circle" };
    bed().fresh_namespace(services.namespace).expect("a namespace");
    let on = |name: &str, other: &str| {
        let mut spec = right();
        spec["dependsOn"] = json!([{ "kind": "Component", "name": other }]);
        object("Component", name, &spec).to_string()
    };
    services.apply(&on("first", "second"));
    services.apply(&on("second", "first"));
    let applied = Instant::now();
    let circle = said(
        "DependenciesReady",
        Reason::DependencyCycle,
        &["second", "remove an entry of `dependsOn`"],
    );
    wait_named((services.namespace, "component", "first"), &circle, OPERATOR, applied);
    services.apply(&object("Component", "second", &right()).to_string());
    services.wait_ready("component", "second");
    services.wait_ready("component", "first");
    services.end();
}

pub(super) const OPERATOR: (Finder, &str) = (Finder::Operator, "");
const LABEL: &str = "example.com/mistake";

fn profile(name: &str, spec: &Value) -> String {
    object("NodeAgentProfile", name, spec).to_string()
}

/// Profiles that are missing, differ, or exclude each other.
pub(super) fn of_groups() {
    let services = Services { namespace: "stack-profiles" };
    bed().fresh_namespace(services.namespace).expect("a namespace");
    let labelled = Labelled(LABEL);
    labelled.set(&workers(&bed().cluster)[0], "made");
    let cards = |number: i32| json!({ "sriovConfiguration": { "numberOfVfs": number } });
    let mut spec = right();
    spec["config"]["files"][0]["template"] = json!("cards = {{ profile | length }}\n");
    let more = json!({
        "agent": "mistaken", "nodeSelector": { LABEL: "made" }, "network": {},
        "configuration": { "profiles": ["cards", "mode"] },
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    services.apply(&profile("cards", &cards(4)));
    services.apply(&object("NodeAgentGroup", "agents", &spec).to_string());
    let group = (services.namespace, "nodeagentgroup", "agents");
    let named = |said: Said| wait_named(group, &said, OPERATOR, Instant::now());
    named(said("Accepted", Reason::ProfileMissing, &["NodeAgentProfile mode", "create it"]));
    services.apply(&profile("mode", &cards(7)));
    named(said(
        "Accepted",
        Reason::ProfileConflict,
        &["cards and mode", "numberOfVfs", "set `override: true`"],
    ));
    services.apply(&profile("mode", &json!({ "kernelModeConfiguration": {} })));
    let fast = json!({ "dpdkConfiguration": { "coreMask": "0xf" } });
    services.apply(&profile("cards", &fast));
    named(said("Accepted", Reason::ModesExclusive, &["cards", "mode", "remove one of them"]));
    services.apply(&profile("cards", &cards(4)));
    services.wait_ready("nodeagentgroup", "agents");
    services.end();
}

/// A target without such a port, a service that does not exist, and a body that is no JSON.
pub(super) fn of_registrations() {
    let all = example("registration");
    let both = document(&all, "  name: register")
        + "\n---\n"
        + all.split("\n---\n").nth(1).expect("the second service");
    let services = Services::start("stack-miscalled", &both);
    services.wait_ready("component", "register");
    services.wait_ready("component", "web");
    let right = document(&all, "kind: Registration");
    let object = (services.namespace, "registration", "web");
    let named = |wrong: String, said: Said| {
        assert_ne!(wrong, right, "the case should change something");
        services.apply(&wrong);
        wait_named(object, &said, OPERATOR, Instant::now());
    };
    named(
        right.replace("port: http", "port: https"),
        said("Progressing", Reason::WaitingForTarget, &["no port `https`", "`target.port`"]),
    );
    named(
        right.replace(r#""address": "{{ pod.address }}""#, r#""address": {{ pod.adress }}"#),
        said("Accepted", Reason::TemplateInvalid, &["register.body"]),
    );
    services.apply(&right);
    services
        .wait((object.1, object.2), "all to be registered", |o| o["status"]["registered"] == "3/3");
    named(
        right.replace("{kind: Component, name: web}", "{kind: Component, name: wbe}"),
        said("Available", Reason::SelectedAbsent, &["Component wbe", "correct `select`"]),
    );
    services.apply(&right);
    services.wait((object.1, object.2), "all to be registered again", |o| {
        o["status"]["registered"] == "3/3"
            && o["status"]["observedGeneration"] == o["metadata"]["generation"]
    });
    services.end();
}
