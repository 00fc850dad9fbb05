//! ClusterIPs of Services: given once, asked for again, and free for strangers
//! after their Service.

use super::json::text;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Addresses in use, by their last number.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses {
    used: BTreeSet<u8>,
    freed: Option<u8>,
}

impl Addresses {
    /// Give a new Service the address that it asks for, or the lowest free one
    /// but for the one freed last: freed ones soon meet strangers, and asking
    /// again gives another.
    pub(super) fn allocate(&mut self, service: &mut Value) -> Result<(), String> {
        let number = match service["spec"]["clusterIP"].as_str() {
            Some("None") => return Ok(()),
            Some(asked) => {
                let number = last(asked)
                    .ok_or_else(|| {
                        format!("spec.clusterIPs: failed to allocate IP {asked}: the provided IP is not in the valid range")
                    })?;
                if self.used.contains(&number) {
                    return Err(format!(
                        "spec.clusterIPs: {asked}: provided IP is already allocated"
                    ));
                }
                number
            }
            None => (1..=254)
                .find(|n| Some(*n) != self.freed && !self.used.contains(n))
                .ok_or("spec.clusterIPs: the range is full")?,
        };
        self.used.insert(number);
        service["spec"]["clusterIP"] = json!(format!("10.96.0.{number}"));
        Ok(())
    }

    /// An object is gone; so is its address, if it had one.
    pub(super) fn free(&mut self, object: &Value) {
        if let Some(number) = last(text(object, "/spec/clusterIP")) {
            self.used.remove(&number);
            self.freed = Some(number);
        }
    }
}

fn last(address: &str) -> Option<u8> {
    address.strip_prefix("10.96.0.")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn give(addresses: &mut Addresses, service: &mut Value) {
        addresses.allocate(service).expect("an address should be free");
    }

    fn service(address: Value) -> Value {
        json!({ "spec": { "clusterIP": address } })
    }

    #[test]
    fn a_freed_address_can_be_asked_for_and_is_given_to_strangers_later() {
        let mut addresses = Addresses::default();
        let mut first = service(Value::Null);
        give(&mut addresses, &mut first);
        assert!(addresses.allocate(&mut first.clone()).is_err(), "it is in use");
        addresses.free(&first);
        let mut second = service(Value::Null);
        give(&mut addresses, &mut second);
        assert_ne!(first, second);
        give(&mut addresses, &mut first);
    }
}
