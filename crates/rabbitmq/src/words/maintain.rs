//! Jobs for the whole cluster, and its credentials.

use palladion_api::ids::MemberName;
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// Waiting for a job.
    pub enum Waiting {
        ToEnd { member: MemberName, executor: MemberName } => WaitingForNodes,
            "member {member} is not stopped before member {executor} has finished a job for the whole cluster";
        Rebalancing { executor: MemberName } => RollingOut,
            "member {executor} spreads the leaders of queues";
        EnablingFlags { executor: MemberName, flags: Names } => FeatureFlagsDisabled,
            "member {executor} enables the feature flags {flags}";
        ForLeaver { member: MemberName } => FeatureFlagsDisabled,
            "new feature flags are enabled when member {member}, which runs another version, has left";
        Importing { executor: MemberName } => DefinitionsPending,
            "member {executor} imports the definitions";
    }

    /// What needs a person.
    pub enum Problem {
        NotRebalanced { executor: MemberName, why: String } => WaitingForQueues,
            "member {executor} could not spread the leaders of queues, and will try again: {why}";
        FlagsDisabled { executor: MemberName, why: String } => FeatureFlagsDisabled,
            "member {executor} could not enable the stable feature flags, and will try again: {why}";
        NotImported { executor: MemberName, why: String } => DefinitionsPending,
            "member {executor} could not import the definitions, and will try again: {why}";
    }

    /// Events.
    pub enum Happened {
        CredentialsCreated { secret: String } => CreatingObjects,
            "Secret {secret} with the credentials of the cluster is created";
        Imported => DefinitionsPending, "the definitions are imported";
    }

    /// Steps.
    pub enum Doing {
        CreateCredentials { secret: String } => "create Secret {secret} with the credentials of the cluster";
        RecordCredentials { secret: String } => "record that Secret {secret} has the credentials of the cluster";
        RecordImport => "record that the definitions are imported";
        RecordRebalance => "record that the leaders of queues are spread";
    }
}
