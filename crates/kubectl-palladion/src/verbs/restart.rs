//! `restart`: a new restart token for a member, a rack or a ring.

use crate::exit::{Exit, Trouble};
use crate::place::Place;
use crate::read::member::{FAILED, Member, RUNNING, STOPPED};
use crate::read::{items, text};
use crate::session::Session;
use crate::words::answer::Answer;
use crate::words::trouble::{Hint, Said};
use crate::writing::Writing;
use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args};
use clap_complete::engine::ArgValueCandidates;
use palladion_cassandra::decide::objects::restart_tokens;
use palladion_cassandra::resources::MEMBER;
use palladion_engine::door::write::{Patch, Storing};
use palladion_plan::ObjectKey;
use serde_json::{Value, json};

/// Drained first, and only while all other members are up.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("what").required(true).args(["member", "ring"]),
    after_help = "Example:\n  kubectl palladion restart demo-dc1-a-1 --wait=15m\n  kubectl palladion restart --ring demo\n  kubectl palladion restart --ring demo --rack a"
)]
pub struct Restart {
    /// One member
    #[arg(add = ArgValueCandidates::new(crate::candidates::members), value_parser = NonEmptyStringValueParser::new())]
    member: Option<String>,
    /// All members of a ring
    #[arg(long, add = ArgValueCandidates::new(crate::candidates::rings), value_parser = NonEmptyStringValueParser::new())]
    ring: Option<String>,
    /// Only those of this rack of the ring
    #[arg(long, requires = "ring", add = ArgValueCandidates::new(crate::candidates::racks), value_parser = NonEmptyStringValueParser::new())]
    rack: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

impl Restart {
    /// Run the verb.
    ///
    /// # Errors
    /// What could not be read or written, or how the restart ended.
    pub async fn run(&self, session: &mut Session<'_>) -> Result<Exit, Trouble> {
        let place = self.writing.open(session).await?;
        let token = session.now().to_string();
        let (key, patch, answer) = self.order(&place, &token).await?;
        let members: Vec<String> =
            self.members(&place).await?.into_iter().map(|m| m.name).collect();
        if members.is_empty() {
            let said = Said::NobodyToRestart { what: self.what() };
            return Err(Trouble::new(Exit::NotFound, said));
        }
        if self.writing.patch(session, &place, (&key, &patch)).await? == Storing::OnlyTried {
            return Ok(Exit::Done);
        }
        session.tell(&answer.to_string())?;
        let selections = [place.members_selection(self.ring.as_deref()), place.rings_selection()];
        let look = async |place: &Place| self.look(place, &members, &token).await;
        self.writing.wait(&place, "restart", &selections, look).await?;
        Ok(Exit::Done)
    }

    /// What is restarted, for messages.
    fn what(&self) -> String {
        match (&self.ring, &self.rack) {
            (Some(ring), Some(rack)) => format!("rack {rack} of ring {ring}"),
            (Some(ring), None) => format!("ring {ring}"),
            (None, _) => self.member.clone().unwrap_or_default(),
        }
    }

    /// What is written, and to which object.
    async fn order(
        &self,
        place: &Place,
        token: &str,
    ) -> Result<(ObjectKey, Patch, Answer), Trouble> {
        let Some(ring) = &self.ring else {
            let member = self.member.clone().unwrap_or_default();
            let key = ObjectKey::new(MEMBER, place.namespace(), &member);
            let patch = Patch::Merge(json!({ "spec": { "wanted": { "restartToken": token } } }));
            return Ok((key, patch, Answer::RestartOfMember { member }));
        };
        let (key, ring) = (place.key_of_ring(ring), ring.clone());
        let Some(rack) = &self.rack else {
            let patch = Patch::Merge(json!({ "spec": { "restartToken": token } }));
            return Ok((key, patch, Answer::RestartOfRing { ring }));
        };
        let object = place.ring_object(&ring).await?;
        let patch = of_rack(&object, rack, token)?;
        Ok((key, patch, Answer::RestartOfRack { rack: rack.clone(), ring }))
    }

    /// The members that are restarted.
    async fn members(&self, place: &Place) -> Result<Vec<Member>, Trouble> {
        let members = match (&self.ring, &self.member) {
            (Some(ring), _) => place.members(Some(ring)).await?,
            (None, Some(member)) => vec![place.member(member).await?],
            (None, None) => Vec::new(),
        };
        let is_meant = |m: &Member| self.rack.as_ref().is_none_or(|r| m.rack == *r);
        Ok(members.into_iter().filter(is_meant).collect())
    }

    /// Has each of them carried out this very request?
    async fn look(
        &self,
        place: &Place,
        names: &[String],
        token: &str,
    ) -> Result<Option<()>, Trouble> {
        let members = self.members(place).await?;
        if self.asked(place, &members).await? != token {
            return Err(Trouble::overruled("restart"));
        }
        let part = restart_tokens::part(self.scope(), token);
        // Who has left meanwhile needs no restart.
        let left: Vec<&Member> = members.iter().filter(|m| names.contains(&m.name)).collect();
        let started = |m: &&Member| m.restarted.split(' ').any(|given| given == part);
        if let Some(failed) = left.iter().copied().filter(started).find(|m| m.state == FAILED) {
            let (member, why) = (failed.name.clone(), failed.why());
            return Err(Trouble::new(Exit::NotWell, Said::RestartFailed { member, why }));
        }
        let given = |m: &&Member| m.restart_token.split(' ').any(|given| given == part);
        if let Some(waits) = left.iter().copied().filter(given).find(|m| m.needs_a_person()) {
            return Err(Trouble::needs_a_person("restart", waits));
        }
        // Of one that is stopped it is only recorded.
        let recorded = |m: &&Member| m.run == STOPPED && given(m);
        let is_done = |m: &&Member| started(m) && m.state == RUNNING || recorded(m);
        Ok((!left.is_empty() && left.iter().all(is_done)).then_some(()))
    }

    fn scope(&self) -> &'static str {
        match (&self.ring, &self.rack) {
            (Some(_), Some(_)) => "rack",
            (Some(_), None) => "ring",
            (None, _) => "member",
        }
    }

    /// The token that stands where this request wrote its own.
    async fn asked(&self, place: &Place, members: &[Member]) -> Result<String, Trouble> {
        let Some(ring) = &self.ring else {
            return Ok(members.first().map(|m| m.restart_asked.clone()).unwrap_or_default());
        };
        let object = place.ring_object(ring).await?;
        let Some(rack) = &self.rack else { return Ok(text(&object, "/spec/restartToken")) };
        let racks = items(&object, "/spec/datacenter/racks");
        let of_rack = racks.filter(|r| text(r, "/name") == *rack);
        Ok(of_rack.map(|r| text(r, "/restartToken")).next().unwrap_or_default())
    }
}

/// A rack is an item of a list: named by its place, and only if it is still there.
fn of_rack(object: &Value, rack: &str, token: &str) -> Result<Patch, Trouble> {
    let racks: Vec<String> =
        items(object, "/spec/datacenter/racks").map(|r| text(r, "/name")).collect();
    let Some(at) = racks.iter().position(|name| name == rack) else {
        let ring = text(object, "/metadata/name");
        if items(object, "/spec/datacenter/zones").any(|zone| zone == rack) {
            let (rack, hint) = (rack.to_string(), Hint::MembersOf { ring: ring.clone() });
            return Err(Trouble::new(Exit::Usage, Said::RackOfZone { rack, ring }).hint(hint));
        }
        let hint = Hint::MembersOf { ring: ring.clone() };
        let said = Said::NoRack { rack: rack.to_string(), ring, racks: racks.join(", ") };
        return Err(Trouble::new(Exit::NotFound, said).hint(hint));
    };
    let path = format!("/spec/datacenter/racks/{at}");
    Ok(Patch::Operations(json!([
        { "op": "test", "path": format!("{path}/name"), "value": rack },
        { "op": "add", "path": format!("{path}/restartToken"), "value": token },
    ])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rack_of_a_zone_has_no_token_of_its_own() {
        let ring = json!({
            "metadata": { "name": "first" },
            "spec": { "datacenter": { "racks": [], "zones": ["z1"] } },
        });
        let said = |rack: &str| of_rack(&ring, rack, "now").map(drop).unwrap_err().said.to_string();
        assert!(said("z1").contains("stands for a zone"), "{}", said("z1"));
        assert!(said("z2").contains("has no rack z2"), "{}", said("z2"));
    }
}
