//! Why a schema cannot be read or restored, and how a table of the ring differs from that of a backup.

use palladion_api::words::{Names, Quoted};

palladion_api::sentences! {
    /// What a statement is about.
    pub enum About {
        Statement => "a statement";
        Keyspace { name: String } => "keyspace {name}";
        Type { name: String } => "type {name}";
        Table { name: String } => "table {name}";
        Function { name: String } => "function {name}";
        Aggregate { name: String } => "aggregate {name}";
        Index { name: String } => "index {name}";
        View { name: String } => "materialized view {name}";
    }

    /// What begins in a schema and does not end.
    pub enum Opened {
        Comment => "a comment";
        Text => "a string";
        Name => "a quoted name";
        Body => "the body of a function";
        Statement => "a statement";
    }

    /// What a statement should have at a place.
    pub enum Expected {
        Words { words: Quoted } => "{words}";
        Sign { sign: Quoted } => "{sign}";
        Name => "a name";
        NewName => "a column that is not defined yet";
        Type => "a type";
        Value => "a value";
        Class => "the class of an index in quotes";
        Timestamp => "a timestamp";
        GcGrace => "gc_grace_seconds as a number";
        Column { name: Quoted } => "the definition of column {name} before it";
        Table => "CREATE TABLE before it";
        End => "the end of the statement";
    }

    /// Why a schema cannot be read.
    pub enum Unread {
        Open { what: Opened, line: u64 } => "the schema is cut off: {what} that begins in line {line} does not end; use another backup";
        /// It is none that this build knows.
        Unknown { line: u64, start: Quoted } => "line {line} of the schema begins a statement that this version does not know: {start}; use a newer palladion";
        /// It is known, but written otherwise than this build expects.
        Unexpected { about: About, line: u64, expected: Expected, found: Quoted } => "cannot read {about}: line {line} of the schema has {found} where this version expects {expected}; use a newer palladion";
        /// One text could be two different statements.
        Stray { line: u64 } => "line {line} of the schema has a comment within a statement, or a carriage return, which Cassandra does not print: somebody else has written it; use another backup";
        Deep { line: u64, most: u64 } => "a type in line {line} of the schema is nested in more than {most} others; use another backup";
        Long { bytes: u64, most: u64 } => "the schema has {bytes} bytes, and at most {most} are read; use another backup";
        Twice { about: About } => "the schema defines {about} twice; use another backup";
    }

    /// Why a backup cannot be restored as asked, as far as its schema tells.
    pub enum NotChosen {
        Named { name: Quoted } => "{name} is not the name of a keyspace or of a table; write `keyspace` or `keyspace.table`";
        NoKeyspace { keyspace: Quoted } => "the backup has no keyspace {keyspace}; correct the name in spec.tables";
        NoTable { table: Quoted } => "the backup has no table {table}; correct the name in spec.tables";
        View { view: Quoted, base: String } => "{view} is a materialized view, which is built from the rows of {base}; restore {base} instead";
        Mixed { from: Quoted, to: Quoted } => "{from} cannot be restored to {to}: a keyspace is restored to a keyspace, and a table to a table";
        OneTarget { to: String, first: String, second: String } => "{first} and {second} would both be restored to {to}; give one of them another name";
        TwoTargets { from: String, first: String, second: String } => "{from} would be restored twice, to {first} and to {second}; restore it once, and again with another CassandraRestore";
        System { to: String } => "{to} is in a keyspace of the system, which restores do not write to; restore it to another keyspace";
        /// DESCRIBE shows it in a comment only.
        Compact { from: String, to: String } => "{from} has COMPACT STORAGE, and Cassandra does not describe how to create it; create {to} in the ring, or leave it out of spec.tables";
        /// A class of Java names a keyspace.
        Opaque { table: String } => "{table} has a column whose type is a Java class that names its keyspace, so it can be restored to a keyspace of that name only; restore it there, or create the table in the ring";
        OtherType { name: String } => "type {name} of the ring has another definition than in the backup; restore to another keyspace, or alter the type";
        /// From two keyspaces of the backup.
        TwoTypes { name: String, first: String, second: String } => "{first} and {second} differ, and both are needed as type {name}; restore them to different keyspaces";
        NoType { name: String } => "type {name} is needed by a table of the backup, but is not in its schema; use another backup";
        NoFunction { name: String, table: String } => "function {name} masks a column of {table}, but is not in the schema of the backup; use another backup, or create the table in the ring";
        NoDatacenter { datacenter: Quoted } => "no keyspace of the backup is replicated to a datacenter {datacenter}; correct spec.datacenters";
        OneDatacenter { keyspace: String, datacenter: String } => "two datacenters of keyspace {keyspace} would both be renamed to {datacenter}; correct spec.datacenters, or create the keyspace in the ring";
    }

    /// Which order the rows of a partition have by a column.
    pub enum Order {
        Ascending => "ascending";
        Descending => "descending";
    }

    /// What part a column has.
    pub enum Kind {
        Partition => "part of the partition key";
        Clustering => "a clustering column";
        Static => "static";
        Regular => "a regular column";
    }

    /// Why files of a backup cannot be loaded into what the ring has.
    pub enum Differs {
        View => "it is a materialized view in the ring";
        Storage { ring: Storage, backup: Storage } => "the table has {ring} in the ring, and {backup} in the backup";
        PartitionKey { ring: Names, backup: Names } => "its partition key is {ring} in the ring, and {backup} in the backup";
        ClusteringKey { ring: Names, backup: Names } => "its clustering columns are {ring} in the ring, and {backup} in the backup";
        Order { column: Quoted, ring: Order, backup: Order } => "clustering column {column} is {ring} in the ring, and {backup} in the backup";
        NoColumn { column: Quoted } => "column {column} of the backup is missing in the ring";
        GoneColumn { column: Quoted } => "column {column} of the backup was dropped in the ring";
        Part { column: Quoted, ring: Kind, backup: Kind } => "column {column} is {ring} in the ring, and {backup} in the backup";
        Type { column: Quoted, ring: Quoted, backup: Quoted } => "column {column} has type {ring} in the ring, and {backup} in the backup";
        /// So the files cannot be read.
        NotDropped { column: Quoted } => "column {column} was dropped before the backup, and the ring does not know that it ever existed";
        /// Values from before the drop would be seen again.
        ComesBack { column: Quoted } => "column {column} was dropped in the backup, and a load would bring its old values back in the ring";
        /// Values of the backup are older than the drop.
        Hidden { column: Quoted } => "column {column} was dropped in the ring and added again, so its values in the backup would not be seen";
        UserType { name: String } => "type {name} has another definition in the ring than in the backup";
    }

    /// How a table is stored.
    pub enum Storage {
        Compact => "COMPACT STORAGE";
        Usual => "no COMPACT STORAGE";
    }
}

impl std::error::Error for Unread {}

impl std::error::Error for NotChosen {}
