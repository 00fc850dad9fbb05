//! Why a spec is refused, and how to comply.

use palladion_plan::words::{Names, Quoted};

palladion_plan::sentences! {
    /// Why a spec cannot be carried out.
    pub enum Refusal {
        Version { version: Quoted, lines: Names } => InvalidSpec,
            "version {version} is not supported; use one of the release lines {lines}, for example 3.12.14";
        LineBack { version: String, ran: String } => InvalidSpec,
            "version {version} belongs to an older release line than {ran}, which a node has run; a node cannot read data written by a newer line: set a version of line {ran} or newer";
        LineSkipped { version: String, ran: String } => InvalidSpec,
            "version {version} is more than one release line above {ran}, which a node runs; upgrade to the next line first, and go on when all nodes run that one";
        Nodes { nodes: u32 } => InvalidSpec, "`nodes` is {nodes}; it must be 1, 3, 5 or 7";
        NotASetting { name: Quoted } => InvalidSpec,
            "{name} in `config` is not the name of a setting: use letters, digits, `.`, `_`, `/` and `-`";
        NotAValue { name: Quoted } => InvalidSpec,
            "the value of {name} in `config` must be one line, not empty and without `#`";
        Reserved { name: Quoted, instead: &'static str } => InvalidSpec,
            "{name} cannot be set in `config`: {instead}";
        NotAPlugin { name: Quoted } => InvalidSpec,
            "{name} in `plugins` is not the name of a plugin: use small letters, digits and `_`";
        ReservedPlugin { name: Quoted, instead: &'static str } => InvalidSpec,
            "{name} cannot be among `plugins`: {instead}";
        NotMemory { text: Quoted } => InvalidSpec,
            "{text} in `resources.limits.memory` is not a valid amount of memory; use for example `512Mi` or `4Gi`";
        SecretSettled { named: String, settled: String } => InvalidSpec,
            "`secretName` names Secret {named}, but nodes were permitted to start with the Erlang cookie of Secret {settled}, and with two cookies they do not reach each other: change it back";
        TooLittleMemory { limit: u64, least: u64 } => NotEnoughMemory,
            "the memory limit of {limit} MiB is too small: RabbitMQ needs {least} MiB or more; raise `resources.limits.memory`";
    }
}

impl From<Refusal> for palladion_plan::Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::of(refusal)
    }
}
