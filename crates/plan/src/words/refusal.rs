//! Why the spec of a clustered service is refused, as far as all of them have it.

use super::Quoted;

palladion_api::sentences! {
    /// Why a spec cannot be carried out.
    pub enum Refusal {
        NameTooLong { name: String, most: usize } => InvalidSpec,
            "the name {name} is too long: use at most {most} characters";
        OurAnnotation { key: String } => InvalidSpec,
            "annotation {key} is reserved for the operator: remove it";
        Claim { problem: BadClaim } => InvalidSpec, "{problem}";
        NoClass { name: String } => StorageClassMissing,
            "storage class {name} does not exist; create it, or name another in `storage.volumeClaimTemplate`";
        NoDefaultClass => StorageClassMissing,
            "there is no default storage class; name one in `storage.volumeClaimTemplate`";
        OurVariable { name: String } => InvalidSpec,
            "environment variable {name} is reserved: remove it from `env`";
        VariableTwice { name: String } => InvalidSpec,
            "environment variable {name} is set more than once in `env`";
        NoAgentImage => InvalidSpec,
            "there is no image of the agent: set `sidecarImage`, or `agentImage` in the OperatorConfig `default`";
    }

    /// What is wrong with a claim template.
    pub enum BadClaim {
        Named { name: Quoted } => "the pod already has a volume named {name}: choose another name for the claim";
        Label { label: String } => "label {label} of the claim is reserved for the operator: choose another prefix";
        ForAll => "`volumeName`, `selector`, `dataSource` and `dataSourceRef` cannot be set: each member starts with an empty volume of its own";
        Mode => "each member needs a file system of its own: set `volumeMode` to Filesystem and `accessModes` to ReadWriteOnce";
        Size { size: Quoted } => "{size} is not a valid storage request; use for example `10Gi`";
    }
}

impl From<Refusal> for crate::draft::Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::of(refusal)
    }
}
