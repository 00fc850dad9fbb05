//! Load balancers of members: Services by which clients outside of the Kubernetes cluster reach
//! them.

use palladion_api::ids::ClientAddress;
use palladion_plan::Object;
use serde_json::Value;
use std::sync::Arc;

/// The load balancer of a member.
#[derive(Debug, Clone)]
pub struct LoadBalancerFact {
    /// The stored Service.
    pub object: Arc<Object>,
    addresses: Vec<ClientAddress>,
    names: Vec<String>,
}

/// What a load balancer is reached by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ingress {
    /// Nothing yet, or nothing any more.
    None,
    /// An address.
    Address(ClientAddress),
    /// A name, and no address.
    Name(String),
}

impl LoadBalancerFact {
    pub(super) fn read(object: &Arc<Object>) -> Self {
        let ingress = object.at("/status/loadBalancer/ingress").and_then(Value::as_array);
        let all = |field: &'static str| {
            ingress.into_iter().flatten().filter_map(move |one| one[field].as_str())
        };
        LoadBalancerFact {
            object: object.clone(),
            addresses: all("ip").filter_map(|ip| ClientAddress::parse(ip).ok()).collect(),
            names: all("hostname").filter(|n| !n.is_empty()).map(str::to_string).collect(),
        }
    }

    /// What it is reached by. Of several addresses the known one stays, in whatever order its
    /// controller lists them.
    pub fn ingress(&self, known: Option<&ClientAddress>) -> Ingress {
        let stays = known.filter(|known| self.has(known));
        match (stays.or(self.addresses.first()), self.names.first()) {
            (Some(address), _) => Ingress::Address(address.clone()),
            (None, Some(name)) => Ingress::Name(name.clone()),
            (None, None) => Ingress::None,
        }
    }

    /// Is this one of its addresses?
    pub fn has(&self, address: &ClientAddress) -> bool {
        self.addresses.contains(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_plan::Meta;
    use serde_json::json;

    fn with(ingress: Value) -> LoadBalancerFact {
        let body = json!({ "status": { "loadBalancer": { "ingress": ingress } } });
        LoadBalancerFact::read(&Arc::new(Object { meta: Meta::default(), body }))
    }

    #[test]
    fn an_address_is_taken_and_the_known_one_kept() {
        let two =
            with(json!([{ "ip": "203.0.113.7" }, { "ip": "2001:db8::7", "hostname": "a.b" }]));
        let at = |address: &'static str| Ingress::Address(address.into());
        assert_eq!(two.ingress(None), at("203.0.113.7"));
        assert_eq!(two.ingress(Some(&"2001:db8::7".into())), at("2001:db8::7"));
        assert_eq!(two.ingress(Some(&"203.0.113.9".into())), at("203.0.113.7"));
    }

    #[test]
    fn a_name_is_no_address_and_neither_is_anything_else() {
        let name = with(json!([{ "hostname": "a.elb.example" }]));
        assert_eq!(name.ingress(None), Ingress::Name("a.elb.example".into()));
        for nothing in [json!(null), json!([]), json!([{}]), json!([{ "ip": "" }, { "ip": "a" }])] {
            assert_eq!(with(nothing).ingress(Some(&"203.0.113.7".into())), Ingress::None);
        }
    }
}
