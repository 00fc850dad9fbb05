//! What should be among the files of ZooKeeper and is not, or is otherwise.

palladion_api::sentences! {
    /// What should be there and is not.
    pub enum Missing {
        Home => "no directory of `PATH` contains zkServer.sh; check that the image is one of ZooKeeper, or set `PALLADION_ZOOKEEPER_HOME`";
        Library { path: String } => "{path} contains no zookeeper-*.jar; check that the image is one of ZooKeeper";
        Configuration => "no dynamic configuration is on the volume";
        ServerId => "the member has no server ID yet";
    }

    /// A file that is not as it should be.
    pub enum Odd {
        Epoch { path: String, text: String } => "{path} contains `{text}` instead of an epoch";
        Setting { name: String } => "`{name}` or its value cannot stand in zoo.cfg; correct `config`";
        Log { path: String } => "{path} is not a transaction log of ZooKeeper";
        Checksum => "a transaction has another checksum than it was written with";
    }
}
