//! Why a spec is refused, and how to comply.

use palladion_plan::words::{Names, Quoted};

palladion_plan::sentences! {
    /// Why a spec cannot be carried out.
    pub enum Refusal {
        Version { version: Quoted, lines: Names } => InvalidSpec,
            "version {version} is not supported; use one of the release lines {lines}, for example 3.9.3";
        LineBack { version: String, ran: String } => InvalidSpec,
            "version {version} belongs to an older release line than {ran}, which a server has run; a server cannot read data written by a newer line: set a version of line {ran} or newer";
        Servers { servers: u32 } => InvalidSpec, "`servers` is {servers}; it must be 1, 3, 5 or 7";
        NotASetting { name: Quoted } => InvalidSpec,
            "{name} in `config` is not the name of a setting: use letters, digits, `.`, `_` and `-`";
        NotAValue { name: Quoted } => InvalidSpec,
            "the value of {name} in `config` must be one line without a backslash";
        Reserved { name: Quoted, instead: &'static str } => InvalidSpec,
            "{name} cannot be set in `config`: {instead}";
        NoDash { option: Quoted } => InvalidSpec, "JVM option {option} must start with `-`";
        ReservedOption { option: Quoted, instead: &'static str } => InvalidSpec,
            "{option} cannot be set in `jvmOptions`: {instead}";
        NotMemory { field: &'static str, text: Quoted } => InvalidSpec,
            "{text} in `{field}` is not a valid amount of memory; use for example `512Mi` or `4Gi`";
        TooLittleMemory { limit: u64, least: u64 } => NotEnoughMemory,
            "the memory limit of {limit} MiB is too small: ZooKeeper needs {least} MiB or more; raise `resources.limits.memory`";
        HeapTooLarge { heap: u64, share: u64, limit: u64 } => NotEnoughMemory,
            "`heapSize` ({heap} MiB) is more than {share}% of the memory limit ({limit} MiB): lower `heapSize` or raise `resources.limits.memory`";
    }
}

impl From<Refusal> for palladion_plan::Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::of(refusal)
    }
}
