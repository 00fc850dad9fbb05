//! What the agent does with files: the context of what the system answers, which
//! follows after a colon.

palladion_api::sentences! {
    /// What the agent was doing.
    pub enum Doing {
        Read { path: String } => "reading {path}";
        Parse { path: String } => "parsing {path}";
        Serialize { path: String } => "serializing {path}";
        Create { path: String } => "creating {path}";
        CreateDirectory { path: String } => "creating directory {path}";
        Write { path: String } => "writing {path}";
        Sync { path: String } => "syncing {path}";
        SyncDirectory { path: String } => "syncing directory {path}";
        Rename { from: String, to: String } => "renaming {from} to {to}";
        Move { from: String, to: String } => "moving {from} to {to}";
        Remove { path: String } => "removing {path}";
        List { path: String } => "listing {path}";
        Inspect { path: String } => "inspecting {path}";
        Resolve { path: String } => "resolving {path}";
        IdentifyFileSystem { path: String } => "identifying the file system of {path}";
        ReadFreeSpace { path: String } => "reading the free space of {path}";
        ReadJavaVersion { program: String } => "running `{program} -version` (check that the image contains Java)";
    }

    /// What should be there and is not.
    pub enum Missing {
        Mount { path: String } => "no mount in /proc/self/mountinfo contains {path}";
        Parent { path: String } => "{path} has no parent directory";
        FileName { path: String } => "{path} has no file name";
        JavaVersion { program: String, output: String } => "`{program} -version` did not print a version: {output}";
        NotJava { version: String } => "`{version}` is not a Java version";
    }
}
