//! What the agent does with files: what is missing among those of Cassandra.

pub use palladion_agent_core::words::files::Doing;

palladion_api::sentences! {
    /// What should be there and is not.
    pub enum Missing {
        Jamm { path: String } => "{path} contains no jamm-*.jar; check `CASSANDRA_HOME` in the image";
        Jolokia { path: String } => "{path} is missing: check the log of the init container `install`, which should have copied it";
        AuthorityFile => "the Secret with the CA certificate does not exist or lacks `ca.crt`";
        Authority => "`ca.crt` contains no certificate";
    }
}
