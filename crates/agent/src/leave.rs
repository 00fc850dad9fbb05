//! The call to leave the ring. With a whole datacenter it is looked at right before the call that
//! no keyspace names the datacenter any more: somebody may have created one since the intent was
//! given, and its rows here would go with the members (safety rule 7.20).

use crate::admin::{ByDatacenter, Reading, ServerAdmin, TooFewCopies};
use crate::words::permit::NotWithDatacenter as Refused;
use anyhow::{Result, bail};
use palladion_api::ids::StaticAddress;
use palladion_api::member::IntentKind;
use palladion_api::words::Names;
use std::collections::BTreeMap;

/// Leave as the intent says; a kind that is not known was refused before.
///
/// # Errors
/// What forbids it, or what the server said.
pub async fn leave(admin: &dyn ServerAdmin, kind: IntentKind, datacenter: &str) -> Result<()> {
    let copies = match kind {
        IntentKind::LeaveWithDatacenter => {
            look(admin, datacenter).await?;
            TooFewCopies::Allowed
        }
        IntentKind::Decommission | IntentKind::Unknown(_) => TooFewCopies::Refused,
    };
    Ok(admin.decommission(copies).await?)
}

async fn look(admin: &dyn ServerAdmin, datacenter: &str) -> Result<()> {
    let reading = admin.read().await?;
    let mut members = reading.members.iter().flatten();
    if let Some(unplaced) = members.find(|m| m.datacenter.is_none()) {
        bail!(Refused::NotPlaced { address: unplaced.address.clone() });
    }
    let known = reading.datacenters();
    let counted = admin.copies_by_datacenter(&known, None).await?;
    if let Some(why) = refused(datacenter, &reading, &known, &counted) {
        bail!(why);
    }
    Ok(())
}

/// What forbids that a member leaves with its datacenter. What is not known forbids as well.
pub fn refused(
    datacenter: &str,
    reading: &Reading,
    known: &BTreeMap<StaticAddress, String>,
    counted: &ByDatacenter,
) -> Option<Refused> {
    if reading.schema_agreed != Some(true) {
        return Some(Refused::NotAgreed);
    }
    if datacenter.is_empty() || !known.values().any(|name| name == datacenter) {
        return Some(Refused::NotKnown);
    }
    if counted.copies.is_empty() {
        return Some(Refused::NotCounted);
    }
    if !known.values().any(|name| name != datacenter) {
        return Some(Refused::NoOther { datacenter: datacenter.into() });
    }
    let is_here = |of: &BTreeMap<String, u32>| of.get(datacenter).is_some_and(|here| *here > 0);
    // Where copies do not go by datacenter, those of a keyspace are looked for on others afterwards.
    let uneven = counted.uneven.iter();
    let uneven: Vec<&String> =
        uneven.filter(|name| counted.copies.get(*name).is_none_or(is_here)).collect();
    if !uneven.is_empty() {
        return Some(Refused::Uneven { keyspaces: Names::of(uneven) });
    }
    let named = counted.of_clients(datacenter);
    if !named.is_empty() {
        let keyspaces = Names::of(named);
        return Some(Refused::Named { keyspaces, datacenter: datacenter.into() });
    }
    let alone =
        |of: &BTreeMap<String, u32>| of.iter().all(|(name, n)| name == datacenter || *n == 0);
    let only = counted.copies.iter().filter(|(_, of)| is_here(of) && alone(of));
    let only: Vec<&String> = only.map(|(name, _)| name).collect();
    let is_only = !only.is_empty();
    is_only.then(|| Refused::OnlyHere { keyspaces: Names::of(only), datacenter: datacenter.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::place::Place;

    fn counted(all: &[(&str, &[(&str, u32)])]) -> ByDatacenter {
        let of = |of: &[(&str, u32)]| of.iter().map(|(n, c)| ((*n).to_string(), *c)).collect();
        let copies = all.iter().map(|(name, copies)| ((*name).to_string(), of(copies)));
        ByDatacenter { copies: copies.collect(), uneven: Vec::new() }
    }

    fn known(datacenters: &[&str]) -> BTreeMap<StaticAddress, String> {
        let all = datacenters.iter().enumerate();
        all.map(|(i, name)| (StaticAddress::new(format!("10.0.0.{i}")), (*name).into())).collect()
    }

    #[test]
    fn a_member_leaves_with_its_datacenter_only_while_no_keyspace_of_clients_names_it() {
        let agreed = Reading { schema_agreed: Some(true), ..Reading::default() };
        let both = known(&["dc1", "dc2"]);
        let kept = ("system_auth", &[("dc1", 2), ("dc2", 2)][..]);
        let of = |reading, known, copies: &[(&str, &[(&str, u32)])]| {
            refused("dc1", reading, known, &counted(copies)).map(|why| why.to_string())
        };
        assert_eq!(of(&agreed, &both, &[kept, ("shop", &[("dc2", 2)])]), None);
        let named = of(&agreed, &both, &[kept, ("shop", &[("dc1", 1), ("dc2", 2)])]);
        assert!(named.is_some_and(|why| why.contains("shop")));
        let only = of(&agreed, &both, &[("system_auth", &[("dc1", 2)])]);
        assert!(only.is_some_and(|why| why.contains("system_auth")));
        let alone = known(&["dc1", "dc1"]);
        assert!(of(&agreed, &alone, &[kept]).is_some(), "no other datacenter");
        let strange = known(&["dc2", "dc2"]);
        assert!(of(&agreed, &strange, &[kept]).is_some(), "no member of its own datacenter");
        assert!(of(&agreed, &both, &[]).is_some(), "no keyspace was counted");
        let nameless = refused("", &agreed, &both, &counted(&[kept]));
        assert!(nameless.is_some(), "its datacenter is not known");
        let mut simple = counted(&[("system_auth", &[("dc1", 2), ("dc2", 2)][..])]);
        simple.uneven = vec!["system_auth".into()];
        assert!(refused("dc1", &agreed, &both, &simple).is_some(), "SimpleStrategy");
        assert!(of(&Reading::default(), &both, &[kept]).is_some(), "servers disagree");
    }

    /// Between the intent and the call somebody has created a keyspace.
    #[tokio::test]
    async fn the_server_is_asked_by_force_only_after_its_keyspaces_were_looked_at() {
        let place = Place::new();
        let admin = place.fake.as_ref();
        leave(admin, IntentKind::Decommission, "dc1").await.unwrap();
        let calls = place.calls();
        assert!(calls[0].starts_with("leave, too few copies: Refused"), "{calls:?}");
        assert!(leave(admin, IntentKind::LeaveWithDatacenter, "dc1").await.is_err());
        assert_eq!(place.calls(), Vec::<String>::new());
        place.state().elsewhere.insert("2", "dc2");
        leave(admin, IntentKind::LeaveWithDatacenter, "dc1").await.unwrap();
        let calls = place.calls();
        assert!(calls[0].starts_with("leave, too few copies: Allowed"), "{calls:?}");
    }
}
