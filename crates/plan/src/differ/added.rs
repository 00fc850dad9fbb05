//! What others have added to an object that is ours, and the merge patch that takes
//! it out: an apply leaves what others have added to a map or a list with names.

use serde_json::{Map, Value, json};

/// Maps whose every key means something to whoever reads them: a key that somebody
/// adds to a selector makes it select nothing. What an object of ours states
/// there is all that there should be.
const MAPS: [&str; 5] = [
    "/data",
    "/spec/selector",
    "/spec/selector/matchLabels",
    "/spec/podSelector",
    "/spec/podSelector/matchLabels",
];

/// Lists of which every word counts, by what they are in. In a rule of a NetworkPolicy one
/// more lets in everybody, an empty `namespaceSelector` for example, or nobody. Who states
/// one leaves out what the API server does not store.
const LISTS: [(&str, &str); 1] = [("/spec", "ingress")];

/// Where a set keeps what its pods are made of.
const POD: &str = "/spec/template/spec";

/// What of a pod somebody may have stated although we do not: it would hold for
/// every pod from its next restart on. The API server fills in none of them.
const OF_A_POD: [&str; 15] = [
    "affinity",
    "containers",
    "hostAliases",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "imagePullSecrets",
    "initContainers",
    "nodeSelector",
    "priorityClassName",
    "runtimeClassName",
    "shareProcessNamespace",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
];

/// The same of a container: the API server fills in none of them either.
const OF_A_CONTAINER: [&str; 12] = [
    "args",
    "command",
    "env",
    "envFrom",
    "lifecycle",
    "livenessProbe",
    "ports",
    "readinessProbe",
    "securityContext",
    "startupProbe",
    "volumeDevices",
    "volumeMounts",
];

/// Lists into which an apply of others can merge an item, and the field that its
/// items are told apart by (`x-kubernetes-list-map-keys` of the API).
const NAMED: [(&str, &str); 9] = [
    ("containers", "name"),
    ("env", "name"),
    ("hostAliases", "ip"),
    ("imagePullSecrets", "name"),
    ("initContainers", "name"),
    ("ports", "containerPort"),
    ("volumeDevices", "devicePath"),
    ("volumeMounts", "mountPath"),
    ("volumes", "name"),
];

/// The merge patch that takes out what others have added where all is ours; `None` =
/// they have added nothing.
pub fn without_added(observed: &Value, wanted: &Value) -> Option<Value> {
    let mut patch = Value::Null;
    for pointer in MAPS {
        let (Some(have), Some(want)) = (map(observed, pointer), map(wanted, pointer)) else {
            continue;
        };
        take_out(&mut patch, pointer, added_keys(have, want));
    }
    for (pointer, field) in LISTS {
        let (Some(have), Some(want)) = (map(observed, pointer), map(wanted, pointer)) else {
            continue;
        };
        let (have, want) = (have.get(field), want.get(field));
        // What lacks something is applied as a whole.
        if let (Some(have), Some(want)) = (have, want)
            && have != want
            && super::contains(have, want)
        {
            take_out(&mut patch, pointer, Map::from_iter([(field.to_string(), want.clone())]));
        }
    }
    if let Some(ports) = ports_of_ours(observed, wanted) {
        take_out(&mut patch, "/spec", Map::from_iter([("ports".to_string(), ports)]));
    }
    if let (Some(have), Some(want)) = (map(observed, POD), map(wanted, POD)) {
        take_out(&mut patch, POD, stated_by_others(have, want, &OF_A_POD));
    }
    patch.is_object().then_some(patch)
}

/// The ports of a load balancer without those that somebody has added, which would be open to
/// the outside; `None` = nobody has.
fn ports_of_ours(observed: &Value, wanted: &Value) -> Option<Value> {
    let (have, want) = (map(observed, "/spec")?, map(wanted, "/spec")?);
    if want.get("type")? != "LoadBalancer" {
        return None;
    }
    let (have, want) = (have.get("ports")?.as_array()?, want.get("ports")?.as_array()?);
    let is_ours = |port: &&Value| {
        want.iter().any(|w| w["port"] == port["port"] && w["protocol"] == port["protocol"])
    };
    let ours: Vec<&Value> = have.iter().filter(is_ours).collect();
    (ours.len() < have.len() && !ours.is_empty()).then(|| json!(ours))
}

fn map<'a>(object: &'a Value, pointer: &str) -> Option<&'a Map<String, Value>> {
    object.pointer(pointer)?.as_object()
}

fn added_keys(have: &Map<String, Value>, want: &Map<String, Value>) -> Map<String, Value> {
    let added = have.keys().filter(|key| !want.contains_key(*key));
    added.map(|key| (key.clone(), Value::Null)).collect()
}

/// For each of these fields that says more than is wanted: what it should be.
fn stated_by_others(
    have: &Map<String, Value>,
    want: &Map<String, Value>,
    fields: &[&str],
) -> Map<String, Value> {
    let mut right = Map::new();
    for field in fields {
        let Some(observed) = have.get(*field).filter(|value| !super::is_empty(value)) else {
            continue;
        };
        let wanted = want.get(*field).filter(|value| !super::is_empty(value));
        let kept = wanted.map_or(Value::Null, |wanted| ours(field, observed, wanted));
        if kept != *observed {
            right.insert((*field).to_string(), kept);
        }
    }
    right
}

/// What of the observed value is ours; in maps a null for each key that is not.
fn ours(field: &str, observed: &Value, wanted: &Value) -> Value {
    let key = NAMED.iter().find(|(list, _)| *list == field).map(|(_, key)| *key);
    match (observed, wanted, key) {
        (Value::Array(have), Value::Array(want), Some(key)) => {
            let same = |item: &Value| want.iter().find(|wanted| wanted[key] == item[key]);
            have.iter().filter_map(|item| Some(item_of_ours(item, same(item)?))).collect()
        }
        (Value::Object(have), Value::Object(want), None) if field == "nodeSelector" => {
            let added = added_keys(have, want);
            match added.is_empty() {
                true => observed.clone(),
                false => Value::Object(added),
            }
        }
        // An apply replaces it as a whole.
        _ => observed.clone(),
    }
}

/// An item of a list, which a merge patch replaces as a whole.
fn item_of_ours(item: &Value, wanted: &Value) -> Value {
    let (Value::Object(have), Value::Object(want)) = (item, wanted) else {
        return item.clone();
    };
    let mut kept = have.clone();
    for (field, value) in stated_by_others(have, want, &OF_A_CONTAINER) {
        match value {
            Value::Null => drop(kept.remove(&field)),
            value => drop(kept.insert(field, value)),
        }
    }
    Value::Object(kept)
}

/// Merge these fields into the patch at this place.
fn take_out(patch: &mut Value, pointer: &str, fields: Map<String, Value>) {
    if fields.is_empty() {
        return;
    }
    let mut at = patch;
    for field in pointer.split('/').skip(1) {
        if !at[field].is_object() {
            at[field] = json!({});
        }
        at = &mut at[field];
    }
    if let Some(map) = at.as_object_mut() {
        map.extend(fields);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_key_that_somebody_added_is_taken_out_of_what_is_wholly_ours() {
        let of = |observed: Value, wanted: Value| without_added(&observed, &wanted);
        let ours = json!({"data": {"a": "1"}});
        assert_eq!(of(ours.clone(), ours.clone()), None);
        let added = json!({"data": {"a": "1", "b": "2"}, "binaryData": {"c": ""}});
        assert_eq!(of(added, ours), Some(json!({"data": {"b": null}})));
        let service = json!({"spec": {"selector": {"app": "x"}}});
        let of_nothing =
            json!({"spec": {"selector": {"app": "x", "role": "y"}, "type": "ClusterIP"}});
        let patch = json!({"spec": {"selector": {"role": null}}});
        assert_eq!(of(of_nothing, service), Some(patch));
        let budget = json!({"spec": {"selector": {"matchLabels": {"app": "x"}}}});
        let of_less = json!({"spec": {"selector": {
            "matchLabels": {"app": "x", "role": "y"}, "matchExpressions": []}}});
        let patch = json!({"spec": {"selector": {
            "matchExpressions": null, "matchLabels": {"role": null}}}});
        assert_eq!(of(of_less, budget), Some(patch));
        let template = json!({"spec": {"template": {"metadata": {"annotations": {"a": "1"}}}}});
        assert_eq!(of(template, json!({"spec": {"template": {}}})), None, "others add there");
    }

    #[test]
    fn nobody_is_let_in_by_what_somebody_adds_to_a_rule() {
        let policy = |from: Value| {
            json!({ "spec": {
                "podSelector": { "matchLabels": { "app": "x" } },
                "ingress": [{ "ports": [{ "port": 7000 }], "from": from }],
            } })
        };
        let pods = json!({ "podSelector": { "matchLabels": { "app": "x" } } });
        let ours = policy(json!([pods]));
        assert_eq!(without_added(&ours, &ours), None);
        let mut everywhere = pods.clone();
        everywhere["namespaceSelector"] = json!({});
        let patch = json!({ "spec": { "ingress": ours["spec"]["ingress"] } });
        assert_eq!(without_added(&policy(json!([everywhere])), &ours), Some(patch));
        let more = policy(json!([pods, { "ipBlock": { "cidr": "0.0.0.0/0" } }]));
        assert_eq!(without_added(&more, &ours), None, "an apply replaces it");
        assert!(!super::super::contains(&more, &ours));
        let mut of_none = ours.clone();
        of_none["spec"]["podSelector"]["matchLabels"]["role"] = json!("none");
        let patch = json!({ "spec": { "podSelector": { "matchLabels": { "role": null } } } });
        assert_eq!(without_added(&of_none, &ours), Some(patch));
    }

    #[test]
    fn a_load_balancer_is_open_at_its_own_ports_alone() {
        let service =
            |type_: &str, ports: Value| json!({ "spec": { "type": type_, "ports": ports } });
        let cql = json!({ "port": 9042, "protocol": "TCP", "nodePort": 30001 });
        let ours = json!([{ "port": 9042, "protocol": "TCP" }]);
        let wanted = service("LoadBalancer", ours.clone());
        assert_eq!(without_added(&service("LoadBalancer", json!([cql])), &wanted), None);
        let more =
            json!([cql, { "port": 7000, "protocol": "TCP" }, { "port": 9042, "protocol": "UDP" }]);
        let patch = json!({ "spec": { "ports": [cql] } });
        assert_eq!(without_added(&service("LoadBalancer", more.clone()), &wanted), Some(patch));
        // Inside of the cluster others add what they like, as ever.
        assert_eq!(without_added(&service("ClusterIP", more), &service("ClusterIP", ours)), None);
        let other = service("LoadBalancer", json!([{ "port": 7000, "protocol": "TCP" }]));
        assert_eq!(without_added(&other, &wanted), None, "an apply puts ours there first");
    }

    fn set(spec: &Value) -> Value {
        json!({ "spec": { "template": { "spec": spec } } })
    }

    fn right(observed: &Value, wanted: &Value) -> Option<Value> {
        let patch = without_added(&set(observed), &set(wanted))?;
        Some(patch["spec"]["template"]["spec"].clone())
    }

    fn wanted() -> Value {
        json!({
            "containers": [
                { "name": "server", "image": "i", "env": [{ "name": "A", "value": "1" }] },
                { "name": "agent", "image": "j" },
            ],
            "volumes": [{ "name": "tmp", "emptyDir": {} }],
            "nodeSelector": { "disk": "ssd" },
        })
    }

    /// As the API server shows it: with what it fills in.
    fn shown() -> Value {
        let mut shown = wanted();
        for container in shown["containers"].as_array_mut().unwrap() {
            container["imagePullPolicy"] = json!("IfNotPresent");
            container["resources"] = json!({});
            container["terminationMessagePath"] = json!("/dev/termination-log");
        }
        shown["dnsPolicy"] = json!("ClusterFirst");
        shown["securityContext"] = json!({});
        shown["tolerations"] = json!([]);
        shown
    }

    #[test]
    fn what_the_api_server_fills_in_stays() {
        assert_eq!(right(&shown(), &wanted()), None);
    }

    #[test]
    fn containers_variables_and_volumes_of_others_go_out_of_the_template() {
        let mut more = shown();
        more["containers"].as_array_mut().unwrap().insert(1, json!({ "name": "theirs" }));
        more["containers"][0]["env"].as_array_mut().unwrap().push(json!({ "name": "B" }));
        more["containers"][2]["livenessProbe"] = json!({ "exec": { "command": ["false"] } });
        more["volumes"].as_array_mut().unwrap().push(json!({ "name": "host" }));
        more["initContainers"] = json!([{ "name": "first" }]);
        more["hostNetwork"] = json!(true);
        more["nodeSelector"]["zone"] = json!("z");
        let expected = json!({
            "containers": shown()["containers"],
            "volumes": shown()["volumes"],
            "initContainers": null,
            "hostNetwork": null,
            "nodeSelector": { "zone": null },
        });
        assert_eq!(right(&more, &wanted()), Some(expected));
    }

    #[test]
    fn what_an_apply_puts_right_is_left_to_it() {
        let mut other = shown();
        other["containers"][0]["image"] = json!("theirs");
        other["containers"][0]["env"][0]["value"] = json!("2");
        assert_eq!(right(&other, &wanted()), None);
        other["containers"].as_array_mut().unwrap().remove(1);
        assert_eq!(right(&other, &wanted()), None, "one that is missing");
    }
}
