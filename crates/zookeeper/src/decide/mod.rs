//! The order of decisions for one ensemble: a table of contents. Each decider
//! lives in the folder named for its work.

mod dispatch;
pub mod draft;
pub mod evidence;
pub mod initialize;
pub mod join;
pub mod leave;
pub mod objects;
pub mod remove;
pub mod replace;
pub mod rescue;
pub mod restart;
pub mod turn;

use crate::build;
use crate::facts::Facts;
use crate::validate::Valid;
use draft::Draft;
use evidence::of_grounds;
use objects::{cluster, members, services};
use palladion_plan::members::{self as shared, leave as departed, lost, revisions};
use turn::orders;

/// All deciders, in order. Objects first, so that every member has its address
/// and its record before anything starts; then who may start.
pub fn decide(facts: &Facts<'_>, valid: &Valid) -> Draft {
    let mut draft = Draft::default();
    shared::turn::raise_epoch(facts, &mut draft);
    cluster::decide(facts, valid, &mut draft);
    services::decide(facts, valid, &mut draft);
    members::decide(facts, valid, &mut draft);
    shared::objects::records(facts, &mut draft);
    shared::objects::claims(facts, valid, &mut draft);
    let taken_back = lost::taken_back(facts, &mut draft);
    lost::marked(facts, &mut draft);
    lost::node_gone(facts, of_grounds, &mut draft);
    shared::objects::mounts(facts, &mut draft);
    revisions::decide(facts, &mut draft);
    orders::decide(facts, &mut draft);
    // What rests on a record that is taken back is seen to be without it first.
    if !taken_back.is_busy() {
        dispatch::decide(facts, valid, &mut draft);
    }
    departed::tidy_up(facts, valid, of_grounds, &mut draft);
    shared::objects::garbage(facts, valid, &build::config_map_name(valid), &mut draft);
    draft
}
