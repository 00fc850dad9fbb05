//! Checks of the ring as a whole: how members see each other, what moves in it,
//! and what versions run.

use super::checks::Outcome;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact, lines};
use crate::status::views;
use crate::words::health::{Failing, Unclear};
use palladion_api::cluster::TurnStep;
use palladion_api::member::MemberState;
use palladion_api::reasons::Reason;
use palladion_plan::words::Names;
use std::collections::BTreeSet;

/// What members report of each other, as it is told in `Degraded` and waited for.
pub struct Views {
    told: Draft,
    /// Does anybody report?
    reported: bool,
}

impl Views {
    /// As they are now.
    pub fn of(facts: &Facts<'_>) -> Self {
        let mut told = Draft::default();
        views::note(facts, &mut told);
        let reported = views::living(facts).iter().any(|m| m.status.ring.is_some());
        Views { told, reported }
    }

    /// Do members see each other up, as many as are recorded, where they should be?
    pub fn agree(&self) -> Outcome {
        let of_schemas = Reason::SchemasDisagree;
        if let Some(trouble) = self.told.troubles.iter().find(|t| t.reason != of_schemas) {
            return Outcome::fail(Failing::Views { said: trouble.message.to_string() });
        }
        if !self.reported {
            return Outcome::unclear(Unclear::NoViews);
        }
        match self.told.waits.iter().find(|w| w.reason != of_schemas) {
            Some(wait) => Outcome::unclear(Unclear::ViewsSettle { said: wait.message.to_string() }),
            None => Outcome::pass(Reason::ViewsAgree),
        }
    }

    /// Do members have one schema?
    pub fn schemas_agree(&self) -> Outcome {
        let of_schemas = Reason::SchemasDisagree;
        if let Some(trouble) = self.told.troubles.iter().find(|t| t.reason == of_schemas) {
            return Outcome::fail(Failing::Schemas { said: trouble.message.to_string() });
        }
        if !self.reported {
            return Outcome::unclear(Unclear::NoSchemas);
        }
        match self.told.waits.iter().find(|w| w.reason == of_schemas) {
            Some(wait) => {
                Outcome::unclear(Unclear::SchemasSettle { said: wait.message.to_string() })
            }
            None => Outcome::pass(Reason::SchemaAgrees),
        }
    }
}

/// Does nobody join, leave or move?
pub fn topology_is_still(facts: &Facts<'_>) -> Outcome {
    if let Some(turn) = facts.turn().filter(|t| changes_the_ring(t.step)) {
        let (member, work) = (turn.member.clone(), turn.step.into());
        return Outcome::fail(Failing::Turn { member, work });
    }
    let living = views::living(facts);
    let views: Vec<_> = living.iter().filter_map(|m| m.status.ring.as_ref()).collect();
    if views.is_empty() {
        return Outcome::unclear(Unclear::NoTopology);
    }
    let moving = views.iter().flat_map(|view| &view.exceptions).filter(|e| match e.state {
        MemberState::Joining | MemberState::Leaving | MemberState::Moving => true,
        MemberState::Normal | MemberState::Unknown => false,
    });
    let moving: BTreeSet<String> = moving.map(|e| name_of(facts, e)).collect();
    match moving.is_empty() {
        true => Outcome::pass(Reason::TopologyStill),
        false => Outcome::fail(Failing::Moving { members: Names::of(moving) }),
    }
}

fn changes_the_ring(step: TurnStep) -> bool {
    match step {
        TurnStep::Initialize
        | TurnStep::Join
        | TurnStep::Replace
        | TurnStep::ResumeLeave
        | TurnStep::Leave
        | TurnStep::Remove => true,
        TurnStep::Restart | TurnStep::Stop | TurnStep::Start | TurnStep::Readdress => false,
    }
}

/// The name of a member that others see; of one that is not recorded its address.
fn name_of(facts: &Facts<'_>, seen: &palladion_api::member::RingMember) -> String {
    let is_it = |m: &&MemberFact| {
        m.recorded_host_id() == Some(&seen.host_id) || m.recorded_address() == Some(&seen.address)
    };
    let known = facts.members.values().find(is_it);
    known.map_or_else(|| seen.address.to_string(), |m| m.name.to_string())
}

/// Do all servers that report a version run one release line?
pub fn lines_are_the_same(facts: &Facts<'_>) -> Outcome {
    let versions = facts.joined().filter_map(|m| m.reported_server()?.version.as_deref());
    let all: BTreeSet<(u32, u32)> = versions.filter_map(lines::line).collect();
    match all.len() {
        0 => Outcome::unclear(Unclear::NoLines),
        1 => Outcome::pass(Reason::LinesSame),
        _ => {
            let lines = all.iter().map(|(major, minor)| format!("{major}.{minor}"));
            Outcome::fail(Failing::Lines { lines: Names::of(lines) })
        }
    }
}
