//! Whether all members of the other datacenters are up and normal, as our own members see
//! them: nobody there is asked, and no pod's readiness counts. An observation; no decision is
//! taken from it.

use super::views;
use crate::decide::evidence::{self, Elsewhere};
use crate::facts::Facts;
use crate::words::evidence::Objection;
use crate::words::regions::{Down, Normal, NotNormal, Unclear};
use palladion_api::conditions::ALL_REGIONS_NORMAL;
use palladion_plan::words::Reasoned;
use palladion_plan::words::{Count, Names};
use palladion_plan::{Conditions, Truth};
use std::collections::BTreeSet;

/// Set the condition where the ring has, or is to have, other datacenters.
pub fn condition(writer: &mut Conditions, facts: &Facts<'_>) {
    let is_told = writer.all().iter().any(|c| c.type_ == ALL_REGIONS_NORMAL);
    let is_wanted = !facts.spec.external_seeds.is_empty() || facts.has_other_datacenters();
    if !is_told && !is_wanted {
        return;
    }
    let views: Vec<_> =
        views::living(facts).into_iter().filter(|m| m.status.ring.is_some()).collect();
    if views.is_empty() {
        return unclear(writer, Unclear::NoViews);
    }
    match evidence::elsewhere_is_quiet(facts, &views, Elsewhere::AllNormal) {
        Err(Objection::RegionDown { datacenter, .. }) => {
            writer.set_false(ALL_REGIONS_NORMAL, down(facts, datacenter));
        }
        Err(why @ Objection::ElsewhereDiffers { .. }) => {
            unclear(writer, Unclear::Differ { why });
        }
        Err(why) => writer.set_false(ALL_REGIONS_NORMAL, NotNormal::Member { why }),
        Ok(()) => {
            let views = views.iter().filter_map(|m| m.status.ring.as_ref());
            let others: Vec<_> = views.flat_map(|view| facts.other_datacenters(view)).collect();
            let names: BTreeSet<&str> = others.iter().map(|d| d.name.as_str()).collect();
            let of = |name: &&str| others.iter().find(|d| d.name == **name).map(|d| d.members);
            let members: u32 = names.iter().filter_map(of).sum();
            match members {
                0 => unclear(writer, Unclear::NoMembers),
                _ => writer.set_true(
                    ALL_REGIONS_NORMAL,
                    Normal::All {
                        members: Count::of(members, "member"),
                        datacenters: Names::of(names),
                    },
                ),
            }
        }
    }
}

/// What a user can do about it, once it is on record.
fn down(facts: &Facts<'_>, datacenter: String) -> Down {
    let is_it = |name: &str| name == datacenter;
    match &facts.status.region_down {
        Some(_) if facts.goes_without().is_some_and(is_it) => Down::Without { datacenter },
        Some(noted) if is_it(&noted.datacenter) => {
            Down::Noted { datacenter, nonce: noted.nonce.clone() }
        }
        Some(_) | None => Down::Region { datacenter },
    }
}

fn unclear(writer: &mut Conditions, why: Unclear) {
    writer.set(ALL_REGIONS_NORMAL, Truth::Unknown, why.reason(), why);
}
