//! What a verb says when it has done what it was asked.

use palladion_api::words::{Count, Names};

palladion_api::sentences! {
    /// What was done.
    pub enum Answer {
        PauseRequested { ring: String } => "pause of ring {ring} requested; the operator first completes its requests in flight";
        ResumeRequested { ring: String } => "resume of ring {ring} requested";
        Paused { ring: String } => "ring {ring} paused; the operator now writes only its status";
        Resumed { ring: String } => "ring {ring} resumed";
        RestartOfMember { member: String } => "member {member} will restart when its turn comes";
        RestartOfRing { ring: String } => "all members of ring {ring} will restart, one at a time";
        RestartOfRack { rack: String, ring: String } => "all members of rack {rack} of ring {ring} will restart, one at a time";
        Replacing { task: String, member: String } => "task {task} will replace member {member}";
        Aborting { task: String } => "abort of task {task} requested";
        Nothing { place: String } => "no rings found in {place}";
        NoMembers { ring: String } => "ring {ring} has no members";
        NoTasks { place: String } => "no tasks found in {place}";
        NoEvents { ring: String } => "no events found for ring {ring}";
    }

    /// What is asked before something is destroyed.
    pub enum Question {
        Replace { member: String, ring: String, namespace: String } => "This deletes the PersistentVolumeClaim of member {member} of ring {ring} in namespace {namespace}; the other members then stream its data to a new volume. If the member is still serving clients, any writes that only it has will be lost.";
        Server { context: String, server: String } => "Context: {context}. API server: {server}.";
        StateOfMember { state: String, since: String, reason: String, message: String } => "Reported state of the member: {state} for {since} (reason: {reason}; message: {message}).";
        StateAlone { state: String, since: String, reason: String } =>
            "Reported state of the member: {state} for {since} (reason: {reason}).";
        AcceptsClients => "It accepts client connections.";
        VolumeNamed { volume: String } => "Because you named volume {volume}, the remaining members decide, even if they are not a majority of the ring.";
        TypeName { name: String } => "Type {name} to continue: ";
    }

    /// Why a ring that serves is not well.
    pub enum NotWell {
        NotReady { members: String } => "only {members} members are ready";
        MemberIs { member: String, state: String } => "member {member} is {state}";
        MemberFailed { member: String, message: String } => "member {member}: {message}";
    }

    /// What is worth knowing beside the answer.
    pub enum Note {
        OnlyTried => "dry run: nothing was stored; this is what the API server would store";
        SpecIsNewer { ring: String } => "the operator has not processed the newest spec of ring {ring} yet";
        OtherVersion { mine: String, theirs: String } => "this is kubectl-palladion {mine} and the operator is {theirs}; their decisions may differ";
        UnknownSettings => "the cluster has no `status.decidedWith`, so the operator's settings are unknown; the agent image shown here may differ from the one that the operator uses";
        ViewsAgree { members: Count } => "same view of the ring and same schema version on {members}";
        SomeAreSilent { members: Names } => "no view of the ring reported by {members}";
        ViewsDiffer => "members disagree about the ring";
        SomeAreOdd => "at least one member sees members that are not up and normal";
        SchemasDiffer => "members have different schema versions";
        NothingIsDone => "the operator will not carry out this plan: its own check rejects it";
        Recovered { task: String } => "the request to create task {task} was not answered, but the task exists";
        OtherTime { behind: String } => "the clock of this machine and that of the API server differ by {behind}; the plan uses that of the API server";
        NoTime => "the API server did not send its time; the plan uses the clock of this machine";
        NothingToDo => "nothing to do: the ring matches its spec";
        TlsRequired { ring: String } => "ring {ring} accepts TLS clients only; pass options to cqlsh after --, for example: -- --ssl";
    }
}
