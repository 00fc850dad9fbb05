//! Who owns the tokens of a ring, as a Cassandra server has it. A member whose host ID
//! is not known yet makes the whole answer unknown: without it a view of the ring would
//! be another one than it is.

use super::Error;
use super::cassandra::Cassandra;
use super::cassandra_reading::address;
use super::jobs::Owners;
use super::jolokia::Item;
use crate::management::beans::{HOST_IDS, OWNERS, SCHEMA_VERSION, STORAGE_SERVICE};
use crate::words::calls::{Answered, Doing};
use palladion_api::ids::{HostId, StaticAddress};
use serde_json::Value;
use std::collections::BTreeMap;

impl Cassandra {
    /// All of it, in one request.
    pub(super) async fn owners_of_tokens(&self) -> Result<Owners, Error> {
        let asked = [OWNERS, HOST_IDS, SCHEMA_VERSION];
        let items = asked.map(|attribute| Item::Read { mbean: STORAGE_SERVICE, attribute });
        let values = self.client.read(&items).await?;
        let found = values.iter().map(Option::as_ref).collect::<Vec<_>>();
        let [Some(tokens), Some(hosts), Some(version)] = found[..] else {
            let missing = asked.iter().zip(&found).find(|(_, value)| value.is_none());
            return Err(lacking(missing.map_or(OWNERS, |(attribute, _)| attribute)));
        };
        owners(tokens, hosts, version).ok_or_else(|| lacking(HOST_IDS))
    }
}

/// An attribute that was not told.
pub(super) fn lacking(attribute: &str) -> Error {
    Error::Failed {
        operation: Doing::ReadAttributes.to_string(),
        message: Answered::NoAttribute { attribute: attribute.into() }.to_string(),
    }
}

fn owners(tokens: &Value, hosts: &Value, version: &Value) -> Option<Owners> {
    let hosts: BTreeMap<StaticAddress, HostId> = hosts
        .as_object()?
        .iter()
        .map(|(endpoint, id)| Some((address(endpoint), HostId::new(id.as_str()?))))
        .collect::<Option<_>>()?;
    let owner = |(token, endpoint): (&String, &Value)| {
        let host = hosts.get(&address(endpoint.as_str()?))?;
        Some((token.clone(), host.clone()))
    };
    let tokens = tokens.as_object()?.iter().map(owner).collect::<Option<_>>()?;
    Some(Owners { tokens, schema_version: version.as_str()?.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_owner_without_a_host_id_makes_all_unknown() {
        let tokens = json!({"-5": "10.0.0.1:7000", "7": "10.0.0.2:7000"});
        let all = json!({"10.0.0.1:7000": "h1", "/10.0.0.2:7000": "h2"});
        let found = owners(&tokens, &all, &json!("s1")).unwrap();
        assert_eq!(found.tokens, [("-5".into(), "h1".into()), ("7".into(), "h2".into())].into());
        assert_eq!(found.schema_version, "s1");
        assert_eq!(owners(&tokens, &json!({"10.0.0.1:7000": "h1"}), &json!("s1")), None);
        assert_eq!(owners(&tokens, &all, &json!(null)), None);
    }
}
