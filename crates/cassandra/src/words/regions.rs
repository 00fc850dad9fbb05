//! How our members see those of other datacenters.

use super::evidence::Objection;
use palladion_api::ids::Nonce;
use palladion_plan::words::{Count, Names};

palladion_plan::sentences! {
    /// All is well there.
    pub enum Normal {
        All { members: Count, datacenters: Names } => RegionsNormal,
            "{members} of other datacenters ({datacenters}) are up and normal";
    }

    /// A whole datacenter is away.
    pub enum Down {
        Region { datacenter: String } => RegionDown,
            "all members of datacenter {datacenter} are down; until one is up, nobody here joins, leaves, restarts or is replaced";
        Noted { datacenter: String, nonce: Nonce } => RegionDown,
            "all members of datacenter {datacenter} are down; until one is up, nobody here joins, leaves, restarts or is replaced. To have members here restarted and replaced meanwhile, annotate the CassandraCluster with `palladion.dev/without-datacenter={datacenter}@{nonce}`; to remove the datacenter for good, create a CassandraTask with `removeDatacenter`";
        Without { datacenter: String } => RegionDown,
            "all members of datacenter {datacenter} are down; members here restart and are replaced without it, as the annotation `palladion.dev/without-datacenter` says, and nobody joins or leaves";
    }

    /// Somebody there is not well.
    pub enum NotNormal {
        Member { why: Objection } => RegionNotNormal,
            "{why}; until all members of other datacenters are up and normal, nobody here joins or leaves";
    }

    /// Steps.
    pub enum Doing {
        NoteDown { datacenter: String } =>
            "record that all members of datacenter {datacenter} are down";
        NoteBack { datacenter: String } =>
            "record that datacenter {datacenter} is not down as a whole any more";
    }

    /// It is not known.
    pub enum Unclear {
        NoViews => RegionsUnknown, "no member of this datacenter reports how it sees the ring";
        NoMembers => RegionsUnknown,
            "no member of this datacenter reports a member of another one";
        Differ { why: Objection } => RegionsUnknown, "{why}";
    }
}
