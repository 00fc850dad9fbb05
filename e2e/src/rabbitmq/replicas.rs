//! The messages of a queue as each of its replicas has them: whoever leads a queue answers for
//! all, so that each replica is made the leader before it is asked.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::{Client, Cluster};
use crate::bed::{bed, wait_for};

/// A queue that elects a leader answers later, and a replica that lags behind does not lead.
const LEADS_IN: Duration = Duration::from_secs(120);

/// A queue has so many replicas by itself, where there are as many nodes.
const REPLICAS: usize = 3;

/// What a connection has read is in the queue again a moment after its end.
const TRIES: usize = 3;

/// What a node says of a queue that it should lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    /// It led when it was asked.
    Already,
    /// It leads since.
    New,
}

/// Makes the node that is asked the leader of a queue, if it has a replica.
fn lead(queue: &str) -> String {
    format!(
        "{{ok, Q}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>)), \
         {{Name, _}} = amqqueue:get_pid(Q), \
         Own = {{Name, node()}}, \
         case lists:member(node(), maps:get(nodes, amqqueue:get_type_state(Q))) of \
         false -> none; \
         true -> \
         {{ok, _, Before}} = ra:members(Own), \
         ra:transfer_leadership(Before, Own), \
         {{ok, _, Now}} = ra:members(Own), \
         case {{Before, Now}} of {{Own, Own}} -> already; {{_, Own}} -> new; _ -> other end \
         end."
    )
}

impl Cluster {
    /// Look that each replica of a quorum queue on a member of record has all these messages.
    ///
    /// # Errors
    /// One of them lacks some, or does not come to lead; or there are fewer replicas than a
    /// queue has by itself.
    pub fn has_all(&self, queue: &str, messages: &BTreeSet<String>) -> Result<()> {
        let user = self.user()?;
        let members = self.members_of_record()?;
        let mut looked_at = 0;
        for (member, address) in &members {
            let mut tries = 0;
            let what = format!("{member} to lead {queue} and to show its messages");
            let lacks = wait_for(&what, LEADS_IN, || {
                if self.leads(member, queue)?.is_none() {
                    return Ok(Some(None));
                }
                let found = Client::open(*address, user.login())?.all(queue)?;
                // Another may have led meanwhile, and answered.
                if self.leads(member, queue)? != Some(Lead::Already) {
                    return Ok(None);
                }
                let found: BTreeSet<String> = found.into_iter().collect();
                let lacks: Vec<String> = messages.difference(&found).cloned().collect();
                tries += 1;
                Ok((lacks.is_empty() || tries == TRIES).then_some(Some(lacks)))
            })?;
            let Some(lacks) = lacks else { continue };
            let shown: Vec<&String> = lacks.iter().take(5).collect();
            ensure!(lacks.is_empty(), "{member} lacks {} of {queue}: {shown:?}", lacks.len());
            looked_at += 1;
        }
        let wanted = REPLICAS.min(members.len());
        ensure!(
            looked_at >= wanted,
            "{queue} has {looked_at} replicas on {} members",
            members.len()
        );
        Ok(())
    }

    /// Let a member lead a queue; none if it has no replica.
    fn leads(&self, member: &str, queue: &str) -> Result<Option<Lead>> {
        let command = ["rabbitmqctl", "--quiet", "eval", &lead(queue)];
        match bed().exec(self.name, member, &command)?.trim() {
            "none" => Ok(None),
            "already" => Ok(Some(Lead::Already)),
            "new" => Ok(Some(Lead::New)),
            other => bail!("{member} does not lead {queue}: {other}"),
        }
    }
}
