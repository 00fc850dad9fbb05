//! What the fake API server answers to requests that are not watches.

use super::merge::{conflicts, merge_patch, prune};
use super::path::Target;
use super::store::Store;
use http::Method;
use serde_json::{Value, json};

pub type Answer = (u16, Value);

pub fn status(code: u16, reason: &str, message: &str) -> Answer {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure",
        "code": code, "reason": reason, "message": message,
    });
    (code, body)
}

/// It names the object, unlike the answer to a path that is not served.
fn missing(target: &Target) -> Answer {
    let message = format!("{} {:?} not found", target.plural, target.name);
    let (code, mut body) = status(404, "NotFound", &message);
    body["details"] = json!({ "name": target.name, "kind": target.plural });
    (code, body)
}

/// With `dryRun` all is answered as it would be, and nothing kept.
pub fn answer(
    store: &mut Store,
    method: &Method,
    target: &Target,
    media: &str,
    body: Value,
) -> Answer {
    match target.parameter("dryRun") {
        "" => stored(store, method, target, media, body),
        _ => stored(&mut store.clone(), method, target, media, body),
    }
}

fn stored(store: &mut Store, method: &Method, target: &Target, media: &str, body: Value) -> Answer {
    match (method.as_str(), target.name.is_some()) {
        ("GET", true) => match store.get(&target.key()) {
            Some(object) => (200, object.clone()),
            None => missing(target),
        },
        ("GET", false) => {
            let version = store.version.to_string();
            (200, json!({"metadata": {"resourceVersion": version}, "items": store.list(target)}))
        }
        ("POST", _) => create(store, target, body),
        ("PUT", _) => replace(store, target, body),
        ("PATCH", _) if media.contains("apply-patch") => apply(store, target, body),
        ("PATCH", _) if media.contains("json-patch") => operations(store, target, &body),
        ("PATCH", _) => merge(store, target, body),
        ("DELETE", _) => delete(store, target, &body),
        (other, _) => status(405, "MethodNotAllowed", other),
    }
}

fn create(store: &mut Store, target: &Target, body: Value) -> Answer {
    let name = match body["metadata"]["name"].as_str() {
        Some(name) => name.to_string(),
        None => {
            let begin = body["metadata"]["generateName"].as_str().unwrap();
            format!("{begin}{:05}", store.version)
        }
    };
    let key = (target.plural.clone(), target.namespace.clone(), name);
    if store.get(&key).is_some() {
        return status(409, "AlreadyExists", "it exists");
    }
    (201, store.put(key, body))
}

/// The identity that a body names, against the stored one.
fn mismatch(stored: &Value, body: &Value) -> Option<Answer> {
    for field in ["uid", "resourceVersion"] {
        let named = &body["metadata"][field];
        if !named.is_null() && *named != stored["metadata"][field] {
            return Some(status(409, "Conflict", &format!("{field} does not match")));
        }
    }
    None
}

fn replace(store: &mut Store, target: &Target, body: Value) -> Answer {
    let key = target.key();
    let Some(stored) = store.get(&key) else {
        return missing(target);
    };
    if let Some(conflict) = mismatch(stored, &body) {
        return conflict;
    }
    (200, store.put(key, body))
}

fn apply(store: &mut Store, target: &Target, body: Value) -> Answer {
    let key = target.key();
    let mut said = body.clone();
    for field in ["uid", "resourceVersion"] {
        if let Some(Value::Object(metadata)) = said.get_mut("metadata") {
            metadata.remove(field);
        }
    }
    let Some(stored) = store.get(&key).cloned() else {
        if !body["metadata"]["uid"].is_null() {
            return status(409, "Conflict", "uid on an object that does not exist");
        }
        store.applied.insert(key.clone(), said.clone());
        return (201, store.put(key, said));
    };
    if let Some(conflict) = mismatch(&stored, &body) {
        return conflict;
    }
    let last = store.applied.get(&key).cloned();
    if last.is_none() && target.parameter("force") != "true" && conflicts(&stored, &said) {
        return status(409, "Conflict", "conflict with another field manager");
    }
    let mut object = stored;
    if let Some(last) = &last {
        prune(&mut object, last, &said);
    }
    merge_patch(&mut object, &said);
    store.applied.insert(key.clone(), said);
    (200, store.put(key, object))
}

fn merge(store: &mut Store, target: &Target, body: Value) -> Answer {
    let key = target.key();
    let Some(stored) = store.get(&key).cloned() else {
        return missing(target);
    };
    let mut named = body.clone();
    if target.status {
        // As the real one does for custom resources.
        named["metadata"]["uid"] = Value::Null;
    }
    if let Some(conflict) = mismatch(&stored, &named) {
        return conflict;
    }
    let mut object = stored.clone();
    if target.status {
        let mut status = stored["status"].clone();
        merge_patch(&mut status, &body["status"]);
        // A field that the schema does not have.
        if let Value::Object(map) = &mut status {
            map.remove("pruned");
        }
        object["status"] = status;
    } else {
        merge_patch(&mut object, &body);
        match stored.get("status") {
            Some(status) => object["status"] = status.clone(),
            None => {
                object.as_object_mut().unwrap().remove("status");
            }
        }
    }
    let done = object["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty);
    if !object["metadata"]["deletionTimestamp"].is_null() && done {
        let last = store.put(key.clone(), object);
        store.delete(&key);
        return (200, last);
    }
    (200, store.put(key, object))
}

/// A JSON patch of `test` and `add` on fields of objects.
fn operations(store: &mut Store, target: &Target, body: &Value) -> Answer {
    let key = target.key();
    let Some(mut object) = store.get(&key).cloned() else {
        return missing(target);
    };
    for operation in body.as_array().unwrap() {
        let path = operation["path"].as_str().unwrap();
        let value = &operation["value"];
        let (parent, field) = path.rsplit_once('/').unwrap();
        match operation["op"].as_str() {
            Some("test") if object.pointer(path) == Some(value) => {}
            Some("add") => object.pointer_mut(parent).unwrap()[field] = value.clone(),
            _ => return status(422, "Invalid", "the operation does not apply"),
        }
    }
    (200, store.put(key, object))
}

fn delete(store: &mut Store, target: &Target, body: &Value) -> Answer {
    let key = target.key();
    let Some(stored) = store.get(&key) else {
        return missing(target);
    };
    if let Some(conflict) = mismatch(stored, &json!({"metadata": body["preconditions"]})) {
        return conflict;
    }
    let last = store.delete(&key).unwrap();
    match last["metadata"]["deletionTimestamp"].is_null() {
        true => (200, json!({"kind": "Status", "apiVersion": "v1", "status": "Success"})),
        false => (200, last),
    }
}
