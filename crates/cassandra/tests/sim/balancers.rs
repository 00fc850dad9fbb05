//! The controller of load balancers of a cloud: it gives each Service of type LoadBalancer an
//! address of its own, sooner or later, and another one to a Service that was created again.

use super::manifests::NAMESPACE;
use super::world::World;
use palladion_api::ids::ClientAddress;
use palladion_api::names;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::Activity;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What it gives, and what it has given.
#[derive(Clone, Debug, Default)]
pub struct Balancers {
    /// What it does now.
    pub gives: Gives,
    /// By uid of the Service.
    given: BTreeMap<String, u8>,
    last: u8,
}

/// What a Service gets that has nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gives {
    /// An address.
    #[default]
    Addresses,
    /// Nothing yet.
    Nothing,
    /// A name alone.
    Names,
}

impl World {
    pub(super) fn step_balancers(&mut self) -> Activity {
        let mut all = Activity::default();
        for (key, service) in self.balanced() {
            if !service["status"]["loadBalancer"]["ingress"].is_null() {
                continue;
            }
            let ingress = match self.balancers.gives {
                Gives::Nothing => continue,
                Gives::Names => json!({ "hostname": format!("{}.elb.example", key.name) }),
                Gives::Addresses => {
                    let uid = service["metadata"]["uid"].as_str().unwrap_or_default();
                    json!({ "ip": self.balancers.address_of(uid) })
                }
            };
            self.tell(&format!("the cloud gives {} {ingress}", key.name));
            self.set_ingress(&key, &json!([ingress]));
            all = all.and(Activity::ACTED);
        }
        all
    }

    fn balanced(&self) -> Vec<(ObjectKey, Value)> {
        let all = self.store.list(kinds::SERVICE).map(|(key, s)| (key.clone(), Value::clone(s)));
        all.filter(|(_, service)| service["spec"]["type"] == "LoadBalancer").collect()
    }

    fn set_ingress(&mut self, key: &ObjectKey, ingress: &Value) {
        let status = json!({ "loadBalancer": { "ingress": ingress } });
        self.store.put_status(key, status).expect("the Service should exist");
    }

    fn balancer_key(member: &str) -> ObjectKey {
        let name = names::load_balancer(&palladion_api::ids::MemberName::new(member));
        ObjectKey::new(kinds::SERVICE, NAMESPACE, &name)
    }

    /// The load balancer of a member, if there is one.
    pub fn balancer(&self, member: &str) -> Option<Value> {
        self.store.get(&Self::balancer_key(member)).map(|service| Value::clone(service))
    }

    /// Names of all load balancers.
    pub fn balancers_there(&self) -> Vec<String> {
        self.balanced().into_iter().map(|(key, _)| key.name).collect()
    }

    /// The cloud gives the load balancer of a member this, or takes away what it has.
    pub fn balance(&mut self, member: &str, ingress: &Value) {
        self.tell(&format!("the load balancer of {member} has {ingress}"));
        self.set_ingress(&Self::balancer_key(member), ingress);
    }

    /// What the running server of a member announces to clients.
    pub fn announced(&self, member: &str) -> Option<String> {
        let server = self.ring.servers.values().find(|server| server.member == member)?;
        let address = server.client_address.as_ref().map(ClientAddress::as_str);
        Some(address.unwrap_or(server.address.as_str()).to_string())
    }
}

impl Balancers {
    fn address_of(&mut self, uid: &str) -> String {
        let number = match self.given.get(uid) {
            Some(number) => *number,
            None => {
                self.last += 1;
                self.given.insert(uid.to_string(), self.last);
                self.last
            }
        };
        format!("203.0.113.{number}")
    }
}
