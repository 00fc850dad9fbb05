//! What a service waits for before it starts.

use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// A dependency that is not there.
    pub enum Missing {
        Unread { dependency: String, why: String } => WaitingForDependency,
            "waiting for {dependency}, which cannot be read: {why}";
        Absent { dependency: String } => WaitingForDependency,
            "waiting for {dependency}, which does not exist; create it, or correct `dependsOn`";
        Leaving { dependency: String } => WaitingForDependency,
            "waiting for {dependency}, which is being deleted; create it again, or correct `dependsOn`";
        Silent { dependency: String } => WaitingForDependency,
            "waiting for {dependency} to report its state";
        TooFew { dependency: String, ready: u32, wanted: u32, needed: u32 } => WaitingForDependency,
            "waiting for {dependency}: {ready} of {wanted} members are ready, at least {needed} must be";
        NoNodes { dependency: String } => WaitingForDependency,
            "waiting for {dependency} to have a member on record";
    }

    /// Services that wait for each other.
    pub enum Circular {
        Through { others: Names } => DependencyCycle,
            "the Component depends on itself through {others}; none of them starts: remove an entry of `dependsOn` from one of them";
    }

    /// A configuration that is not changed yet.
    pub enum Unsettled {
        Members { dependency: String, has: usize, wanted: u32 } => WaitingForDependency,
            "the configuration of running pods is changed when {dependency} has {wanted} members, which has {has}, or after 10 minutes";
    }

    /// Everything is there.
    pub enum Satisfied {
        All => UpToDate, "all dependencies are ready";
        None => UpToDate, "it depends on nothing";
    }
}
