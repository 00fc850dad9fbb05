//! What the checks of a ring find.

use super::turn::Work;
use palladion_api::ids::MemberName;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// A check that fails.
    pub enum Failing {
        Missing { members: Names } => MembersExist, "members that are not in the ring yet: {members}";
        Surplus { members: Names } => MembersExist, "members that are in the ring, but no longer in the spec: {members}";
        NoSeed { seeds: Names } => SeedsLive, "no seed is live, so no member can join: {seeds}";
        Unhealthy { member: MemberName, why: String } => MembersHealthy, "member {member}: {why}";
        Several { members: Names, member: MemberName, why: String } => MembersHealthy,
            "not healthy: {members}; member {member}: {why}";
        NotNormal { members: Names } => MembersNormal, "members that are not in mode NORMAL: {members}";
        AgentsSilent { members: Names } => AgentsSpeak, "the agents of these members do not report: {members}";
        NotRunning { members: Names } => ServersRun, "the servers of these members are not up: {members}";
        Stopped => ServersRun, "`spec.run` is Stopped, so no server runs";
        Views { said: String } => ViewsAgree, "{said}";
        Schemas { said: String } => SchemaAgrees, "{said}";
        Turn { member: MemberName, work: Work } => TopologyStill, "the {work} of member {member} is under way";
        Moving { members: Names } => TopologyStill, "joining, leaving or moving, according to other members: {members}";
        Lines { lines: Names } => LinesSame, "members run different release lines: {lines}";
    }

    /// A check of which nothing is known.
    pub enum Unclear {
        SpecRefused => MembersExist, "the spec is not valid, so it is unknown which members it asks for";
        NoMember => SeedsLive, "no member has joined";
        NotWatched { members: Names } => MembersHealthy, "servers or agents that started moments ago, so that their health is not known yet: {members}";
        HealthSilent { members: Names } => MembersHealthy, "the agents of these members do not report: {members}";
        NotReady { members: Names } => MembersHealthy, "the agents of these members reported healthy servers, but their pods are not ready, so the reports may be out of date: {members}";
        ModeSilent { members: Names } => MembersNormal, "the agents of these members do not report: {members}";
        StateSilent { members: Names } => ServersRun, "the agents of these members do not report: {members}";
        NoViews => ViewsAgree, "no member reports how it sees the others";
        ViewsSettle { said: String } => ViewsAgree, "{said}";
        NoSchemas => SchemaAgrees, "no member reports whether the schemas agree";
        SchemasSettle { said: String } => SchemaAgrees, "{said}";
        NoTopology => TopologyStill, "no member reports how it sees the others";
        NoLines => LinesSame, "no server reports its version";
    }

    /// What a check that passes rests on.
    pub enum Given {
        ByMode { members: Names } => MembersHealthy,
            "agents of an older version report no health; their mode and native transport count instead: {members}";
    }

    /// All of them.
    pub enum All {
        Pass => AllChecksPass, "every check passes";
    }
}
