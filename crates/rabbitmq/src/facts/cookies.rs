//! Whether any volume may have an Erlang cookie. Nodes with different cookies do not reach each
//! other, so from then on the Secret counts that was on record when the first one was permitted.

use super::{Facts, MemberFact};
use palladion_api::member::{PermitState, PermitStatus};
use palladion_api::reasons::Reason;
use palladion_api::service_member::MemberServerState;

impl Facts<'_> {
    /// May any volume have a cookie? Claims say so before any agent reports. The agent of an
    /// empty volume says that none has come to it yet; once a start is permitted, what it said
    /// may be of before, unless it says that the start waits for what it lacks.
    pub fn may_have_cookies(&self) -> bool {
        self.members.values().any(|m| is_node(m) && !(m.is_on_empty_volume() && has_none_yet(m)))
    }

    /// The Secret on record, where the cookie of it may be on a volume: then a spec
    /// that names another one is refused. Over volumes that were kept the name goes on record
    /// before any node is permitted to start; these have a cookie, and nobody knows of which.
    pub fn settled_secret(&self) -> Option<&str> {
        let recorded = self.status.credentials.as_ref();
        let recorded = recorded.filter(|_| self.may_have_cookies() && self.has_given_cookies());
        recorded.map(|credentials| credentials.secret_name.as_str())
    }

    /// May a start that this cluster has permitted have taken a cookie, or has one? The permit is
    /// taken off the spec when it has led to a node.
    fn has_given_cookies(&self) -> bool {
        let has_one = |m: &MemberFact| {
            let may_have = is_permitted(m) && !(m.is_on_empty_volume() && has_none_yet(m));
            may_have || self.has_joined_this(m)
        };
        self.initialized().is_some() || self.members.values().any(has_one)
    }

    /// Has it joined this cluster, and no former one of this name? A volume that was kept still
    /// says what came of its last permit then.
    fn has_joined_this(&self, member: &MemberFact) -> bool {
        let joined = |permit: &PermitStatus| permit.state == PermitState::Done;
        let claim = member.claim.as_ref().and_then(|c| c.object.meta.creation_timestamp);
        let is_ours = claim.is_some() && claim >= self.snapshot.owner.meta.creation_timestamp;
        is_ours && member.status.permit.as_ref().is_some_and(joined)
    }
}

fn is_node(member: &MemberFact) -> bool {
    member.identity.is_some() || member.claim.as_ref().is_some_and(|c| c.identity.is_some())
}

/// Was no start of it permitted, or does its agent say that the start lacks a Secret, or a name
/// that leads to it, or that it is looking for that? A cookie is taken after both are found.
fn has_none_yet(member: &MemberFact) -> bool {
    let waits = member.server().filter(|server| server.state == MemberServerState::Waiting);
    let why = waits.and_then(|server| server.reason.as_deref());
    let lacks = [Reason::CredentialsMissing, Reason::NameUnresolved, Reason::Starting];
    !is_permitted(member) || why.is_some_and(|why| lacks.iter().any(|lack| lack.as_str() == why))
}

fn is_permitted(member: &MemberFact) -> bool {
    member.spec.as_ref().is_some_and(|spec| spec.start.is_some())
}
