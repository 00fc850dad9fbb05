//! Why a verb could not do what it was asked, and the next step.

use palladion_api::words::Quoted;
use palladion_backup::Trouble as OfBackup;

palladion_api::sentences! {
    /// What was tried, and why it failed.
    pub enum Said {
        NoRight { attempt: String, answer: String } => "you are not allowed to {attempt}: {answer}";
        NotFound { kind: &'static str, name: String, namespace: String } => "{kind} {name} not found in namespace {namespace}";
        NotInstalled { kind: &'static str } => "this Kubernetes cluster has no resource type `{kind}`: Palladion is not installed, or its CRDs are outdated";
        Failed { attempt: String, answer: String } => "cannot {attempt}: {answer}";
        NoWay { why: String } => "cannot reach a Kubernetes cluster: {why}";
        Output { why: String } => "I/O error: {why}";
        /// Never shown.
        ReaderGone => "the output was closed";
        NoReason { name: Quoted } => "unknown reason {name}";
        NoRack { rack: String, ring: String, racks: String } => "ring {ring} has no rack {rack}; its racks are {racks}";
        RackOfZone { rack: String, ring: String } => "rack {rack} of ring {ring} stands for a zone and cannot be restarted alone; restart its members, or the ring";
        NobodyServes { ring: String } => "no member of ring {ring} accepts client connections";
        NotOfRing { member: String, ring: String, other: String } => "member {member} belongs to ring {other}, not to {ring}";
        NoTerminal { why: String } => "cannot switch the terminal to raw mode: {why}";
        NotConfirmed { typed: Quoted, name: String } => "you typed {typed}, not {name}; nothing was changed";
        NobodyToAsk => "confirmation is required, but standard input or standard error is not a terminal";
        TimeOut { what: String, waited: String } => "timed out after {waited}; the {what} is still in progress";
        TimeOutUnseen { what: String, waited: String, why: String } => "timed out after {waited}; the {what} may have finished, but its state cannot be read: {why}";
        RestartFailed { member: String, why: String } => "member {member} failed after its restart: {why}";
        NoVolume { member: String } => "no volume is recorded for member {member} yet, so there is none to terminate";
        StartFailed { member: String, why: String } => "member {member} failed after its start: {why}";
        NeedsAPerson { what: String, member: String, why: String } => "the {what} of member {member} waits for a user: {why}";
        Overruled { what: String } => "another request superseded the {what}";
        NobodyToRestart { what: String } => "{what} has no members; nothing was changed";
        Lost { kind: &'static str, name: String, answer: String } => "it is not known whether {kind} {name} was created: {answer}";
        LogCut { member: String, why: String } => "the log of member {member} was cut off: {why}";
        FailedPerhaps { attempt: String, answer: String } => "cannot {attempt}: {answer}; the request may still have taken effect";
        TaskEnded { task: String, phase: String, message: String } => "task {task} ended in phase {phase}: {message}";
        EndedAlready { task: String, phase: String } => "task {task} has already ended in phase {phase}; there is nothing to abort";
        WatchEnded { why: String } => "the watch ended: {why}";
        NoPlan { ring: String, why: String } => "cannot determine what the operator would do with ring {ring}: {why}";
        Backup { why: OfBackup } => "{why}";
        /// Of the directory of a store, its keys, or where a backup is fetched to.
        Local { why: String } => "{why}";
        NoCredentials { store: String } => "{store} needs credentials; give the directory of their files with --credentials";
        CommandEnded { code: u32 } => "cqlsh exited with code {code}";
    }

    /// The next step: a command that works when it is pasted, or where to look.
    pub enum Hint {
        CanI { verb: &'static str, resource: String, place: String } => "kubectl auth can-i {verb} {resource} {place}";
        AllRings => "kubectl palladion status -A";
        AllReasons => "kubectl palladion explain";
        Explain { reason: String } => "kubectl palladion explain {reason}";
        Install => "helm upgrade --install palladion charts/palladion --namespace palladion-system --create-namespace --wait";
        Connection => "kubectl cluster-info";
        Kubeconfig => "kubectl config get-contexts";
        Yes => "add --yes if you are sure";
        StatusOf { ring: String } => "kubectl palladion status {ring}";
        WatchTask { task: String } => "kubectl palladion task watch {task}";
        TasksOf { ring: String } => "kubectl palladion task list {ring}";
        MembersOf { ring: String } => "kubectl palladion members {ring}";
    }
}
