//! Which tasks destroy data: whoever asks for one types the name of what is lost, also where a
//! schedule has it.

use crate::ask::{self, Sure};
use crate::exit::Trouble;
use crate::read::text;
use crate::session::Session;
use crate::words::answer::Question;
use crate::writing::Writing;
use palladion_api::words::Names;
use palladion_engine::door::write::Storing;
use serde_json::Value;

/// Ask, if the task destroys, and is stored.
///
/// # Errors
/// It was not confirmed, or there is nobody to ask.
pub fn confirm(
    session: &mut Session<'_>,
    sure: Sure,
    (writing, namespace): (&Writing, &str),
    spec: &Value,
) -> Result<(), Trouble> {
    match question(spec, namespace).filter(|_| writing.storing() == Storing::Stored) {
        Some((question, name)) => ask::confirm(session, sure, &[question], &name),
        None => Ok(()),
    }
}

/// What is asked, and the name to type.
fn question(spec: &Value, namespace: &str) -> Option<(Question, String)> {
    let (ring, namespace) = (text(spec, "/cluster"), namespace.to_string());
    if spec["clearSnapshot"].is_object() {
        let name = text(spec, "/clearSnapshot/name");
        return Some((Question::ClearSnapshot { snapshot: name.clone(), ring, namespace }, name));
    }
    if let Some(name) = spec["removeDatacenter"]["name"].as_str() {
        let (datacenter, hosts) = (name.to_string(), names(&spec["removeDatacenter"]["hostIDs"]));
        let question = Question::RemoveDatacenter { datacenter, hosts, ring, namespace };
        return Some((question, name.to_string()));
    }
    let fewer = &spec["replication"];
    if text(fewer, "/lowering") == "Allow" {
        let (keyspaces, datacenter) = (names(&fewer["keyspaces"]), text(fewer, "/datacenter"));
        let copies = fewer["factor"].as_u64().unwrap_or_default();
        let name = datacenter.clone();
        let question = Question::FewerCopies { keyspaces, datacenter, copies, ring, namespace };
        return Some((question, name));
    }
    let skips = text(spec, "/scrub/corrupted") == "Skip";
    skips.then(|| (Question::SkipCorrupted { ring: ring.clone(), namespace }, ring))
}

fn names(list: &Value) -> Names {
    Names::of(list.as_array().into_iter().flatten().filter_map(Value::as_str))
}
