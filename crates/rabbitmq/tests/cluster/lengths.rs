//! How long texts and lists may be, as the CRDs say: a status that breaks that is refused
//! whole by the API server, and nothing of it is ever seen.

use palladion_api::crd;
use palladion_plan::ObjectKey;
use palladion_rabbitmq::resources as kinds;
use serde_json::Value;
use std::sync::LazyLock;

/// Schemas of the cluster and of its members.
static SCHEMAS: LazyLock<[Value; 2]> = LazyLock::new(|| {
    let of = |kind: &str| {
        let all = crd::all();
        let definition = all.iter().find(|d| d.spec.names.kind == kind);
        definition.map(crd::schema).unwrap_or_default()
    };
    [of(kinds::CLUSTER.kind), of(kinds::MEMBER.kind)]
});

/// What the API server refuses because of its length.
pub fn fits(key: &ObjectKey, _: Option<&Value>, new: &Value) -> Result<(), String> {
    let [cluster, member] = &*SCHEMAS;
    if key.resource == kinds::CLUSTER {
        return check("", cluster, new);
    }
    if key.resource == kinds::MEMBER {
        return check("", member, new);
    }
    Ok(())
}

fn check(at: &str, schema: &Value, value: &Value) -> Result<(), String> {
    let most = |limit: &str| {
        let most = schema[limit].as_u64().and_then(|most| usize::try_from(most).ok());
        most.unwrap_or(usize::MAX)
    };
    match value {
        Value::String(text) if text.chars().count() > most("maxLength") => {
            Err(format!("{at}: may not be longer than {}", most("maxLength")))
        }
        Value::Array(items) if items.len() > most("maxItems") => {
            Err(format!("{at}: must have at most {} items", most("maxItems")))
        }
        Value::Array(items) => {
            items.iter().try_for_each(|item| check(&format!("{at}[]"), &schema["items"], item))
        }
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            let of_field = &schema["properties"][name];
            let of_any = &schema["additionalProperties"];
            let schema = if of_field.is_null() { of_any } else { of_field };
            check(&format!("{at}.{name}"), schema, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}
