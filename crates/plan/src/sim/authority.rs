//! The authorities of the simulation. They sign by words instead of keys, and
//! keep the rules of the real one: an authority is bound to the uid of its owner,
//! another one than was ordered signs nothing, and no certificate outlives its
//! authority.

use crate::hash;
use crate::issue::Order;
use crate::object::{Object, ObjectKey};
use jiff::Timestamp;
use serde_json::{Value, json};

/// How often the keys were lost, on their owner: those made since are others.
pub const LOST: &str = "simulation/keys-lost";

/// What the engine would add to the patch, or why it would not.
pub(super) fn make(
    owner: &Object,
    key: &ObjectKey,
    authority: &str,
    order: &Order,
    now: Timestamp,
) -> Result<Value, String> {
    let lost = owner.meta.annotations.get(LOST).map_or("", String::as_str);
    let of_owner = format!("CA {} {authority}{lost} -----END CERTIFICATE-----\n", owner.meta.uid);
    let own = hash::of(&json!(of_owner));
    match order {
        Order::Authority { life, .. } => {
            // Made once: the time of its making is on record with its first maker.
            let known = owner.at(&format!("/status/authorities/{authority}")).cloned();
            Ok(known.unwrap_or_else(|| {
                json!({
                    "certificate": of_owner, "fingerprint": own,
                    "madeAt": now, "notAfter": now + *life,
                })
            }))
        }
        Order::Forget { .. } => Ok(json!({})),
        Order::Certificate { fingerprint, request, names, addresses, life } => {
            if *fingerprint != own {
                return Err(format!("authority {authority} is another one than was ordered"));
            }
            let end = owner.str_at(&format!("/status/authorities/{authority}/notAfter"));
            let end: Timestamp = end.and_then(|end| end.parse().ok()).unwrap_or(now);
            if now >= end {
                return Err(format!("authority {authority} has expired"));
            }
            let asked = hash::of(&json!(request));
            let to = names.iter().chain(addresses).cloned().collect::<Vec<_>>().join(" ");
            Ok(json!({
                "certificate": format!("CERT {own} {asked} {} {to} {now}", key.name),
                "signedAt": now,
                "notAfter": end.min(now + *life),
            }))
        }
    }
}
