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

use crate::facts::Facts;
use crate::validate::Valid;
use draft::Draft;
use leave::departed;
use objects::{claims, cluster, garbage, members, records, services};
use replace::{marked, node_gone};
use restart::revisions;
use turn::{epoch, orders};

/// All deciders, in order. Objects first, so that every member has its address
/// and its record before anything starts; then who may start.
pub fn decide(facts: &Facts<'_>, valid: &Valid) -> Draft {
    let mut draft = Draft::default();
    epoch::decide(facts, &mut draft);
    cluster::decide(facts, valid, &mut draft);
    services::decide(facts, valid, &mut draft);
    members::decide(facts, valid, &mut draft);
    records::decide(facts, &mut draft);
    claims::decide(facts, valid, &mut draft);
    marked::decide(facts, &mut draft);
    node_gone::decide(facts, &mut draft);
    revisions::decide(facts, &mut draft);
    orders::decide(facts, &mut draft);
    dispatch::decide(facts, valid, &mut draft);
    departed::decide(facts, &mut draft);
    garbage::decide(facts, valid, &mut draft);
    draft
}
