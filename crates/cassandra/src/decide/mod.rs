//! The order of decisions for one cluster: a table of contents. Each decider
//! lives in the folder named for its work.

pub mod archive;
pub mod backups;
mod cdc;
pub mod certificates;
pub mod departure;
mod dispatch;
pub mod draft;
pub mod evidence;
pub mod initialize;
pub mod join;
pub mod leave;
pub mod left;
pub mod lock;
pub mod maintenance;
pub mod objects;
pub mod readdress;
pub mod remove;
pub mod replace;
pub mod restart;
pub mod restores;
pub mod retention;
pub mod schedules;
pub mod tasks;
pub mod transfers;
pub mod turn;
pub mod wanted;

use crate::facts::Facts;
use crate::validate::Valid;
use draft::Draft;
use leave::departed;
use maintenance::{
    absences, access, added, hints, owed, region_down, runtime_settings, seed_lists, stale, stopped,
};
use objects::{claims, cluster, floors, garbage, load_balancers, members, mounts, racks, volumes};
use replace::{by_hand, node_gone};
use restart::{going_without, revisions, upgraded};
use turn::epoch;

/// All deciders, in order. Objects first, so that every member has its
/// address and its record before anything starts; then who may start.
pub fn decide(facts: &Facts<'_>, valid: &Valid) -> Draft {
    let mut draft = Draft::default();
    epoch::decide(facts, &mut draft);
    // Before the StatefulSets are told to have no pods.
    stopped::note(facts, &mut draft);
    // Before anything else of a new ring.
    initialize::security::decide(facts, valid, &mut draft);
    cluster::decide(facts, valid, &mut draft);
    members::decide(facts, valid, &mut draft);
    load_balancers::decide(facts, valid, &mut draft);
    floors::decide(facts, valid, &mut draft);
    runtime_settings::decide(facts, valid, &mut draft);
    seed_lists::elsewhere(facts, valid, &mut draft);
    claims::decide(facts, valid, &mut draft);
    going_without::decide(facts, valid, &mut draft);
    node_gone::decide(facts, valid, &mut draft);
    by_hand::decide(facts, valid, &mut draft);
    tasks::decide(facts, &mut draft);
    tasks::rotate(facts, valid, &mut draft);
    volumes::decide(facts, valid, &mut draft);
    mounts::decide(facts, &mut draft);
    revisions::decide(facts, &mut draft);
    upgraded::decide(facts, &mut draft);
    access::decide(facts, valid, &mut draft);
    certificates::report(facts, valid, &mut draft);
    let way = dispatch::decide(facts, valid, &mut draft);
    certificates::steps::wait(facts, valid, &mut draft);
    departed::decide(facts, valid, &mut draft);
    racks::decide(facts, valid, &mut draft);
    garbage::decide(facts, valid, &mut draft);
    added::decide(facts, &mut draft);
    departure::decide(facts, &mut draft);
    region_down::note(facts, &mut draft);
    absences::decide(facts, hints::window(valid), &mut draft);
    stale::decide(facts, valid, &mut draft);
    owed::decide(facts, &mut draft);
    stopped::forget(facts, &mut draft);
    archive::decide(facts, valid, &mut draft);
    cdc::decide(facts, valid, &mut draft);
    tasks::run(facts, valid, &way, &mut draft);
    draft
}
