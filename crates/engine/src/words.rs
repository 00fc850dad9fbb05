//! What the engine says to people: in events, and in the failures, unknown
//! facts and answers of probes that minds put into a status. What another
//! program said is quoted as it came.

use palladion_api::ids::LockToken;

palladion_api::sentences! {
    /// Why a step was not carried out.
    pub enum NotDone {
        /// Deleted meanwhile.
        Gone { object: String } => "{object} no longer exists";
        /// Another object has its name now.
        Recreated { object: String } => "{object} was deleted and recreated";
        /// A value that was decided from is another one now.
        ChangedAt { object: String, field: String } => "{field} of {object} has changed since this step was planned";
        /// The uid or the version is another one now.
        Changed => "the object has changed since this step was planned";
        /// The holder of a region lock is another by now.
        LockLost { token: LockToken } => "the region lock is no longer held by token {token}";
        /// What follows would outlast it.
        LeaseShort { token: LockToken } => "too little is left of the lease of region lock {token}";
        /// It says nothing about the lock.
        LockUnknown { why: String } => "the region lock cannot be checked: {why}";
        /// Who decided it, hung.
        ProvenTooLongAgo => "the proof of this step was made too long ago";
        /// Foreign: it is not touched.
        Foreign { object: String, controller: Controller } => "{object} already exists and is controlled by {controller}";
        /// Foreign as well.
        Unmarked { object: String } => "{object} already exists and was not created by Palladion";
        /// It is created when it is gone.
        StillTerminating { object: String } => "{object} is still being deleted";
        /// A bug of a mind.
        PatchOfNothing => "cannot patch an object that does not exist";
        /// A bug of a mind.
        DeletionWithoutUid => "a deletion must name the uid of the object";
    }

    /// Why nothing was signed. Each names the next step, and none a key.
    pub enum NotSigned {
        Nowhere => "the operator runs without a namespace of its own, so it has no place for the keys of certificate authorities; run it from the chart";
        NoSecret { name: String, namespace: String } =>
            "Secret {name} in namespace {namespace} does not exist; the chart creates it: run `helm upgrade`";
        NoKey { authority: String } =>
            "the key of certificate authority {authority} of this ring is lost; restore the Secret palladion-authorities from a backup, or remove `status.authorities.{authority}` to have the ring get another authority";
        OtherKey { authority: String } =>
            "certificate authority {authority} in `status.authorities` is not the one whose key the operator has for this ring; remove `status.authorities.{authority}`, and the operator records the right one";
        /// The entry is told by its name.
        OfAnother { entry: String } => "entry {entry} of Secret palladion-authorities belongs to another ring; remove that entry";
        Unreadable { entry: String } => "entry {entry} of Secret palladion-authorities cannot be read; restore the Secret from a backup, or remove that entry";
        /// A rule of the authority is not kept.
        Rule { why: String } => "{why}";
    }

    /// The controller of an object that is not ours.
    pub enum Controller {
        Named { kind: String, name: String, uid: String } => "{kind} {name} (uid {uid})";
    }

    /// Events of the engine itself.
    pub enum Told {
        Failed { doing: String, why: String } => ErrSyncFailed, "cannot {doing}: {why}";
        Vetoed { violations: String } => PlanVetoed,
            "a plan was not carried out because it violates a safety rule, which is a bug in Palladion: {violations}";
        /// Without the words of the panic, which may be others each time.
        Panicked => MindPanicked,
            "nothing is decided for this object, because the decision panicked, which is a bug in Palladion; what runs keeps running";
        /// Nobody knows when it would have ended.
        TimedOut { seconds: u64 } => DecisionTimeout,
            "nothing is decided for this object, because the decision took longer than {seconds} s; simplify its spec, such as its templates; what runs keeps running";
    }

    /// Why a fact is not known.
    pub enum Unknown {
        Watch { what: String, why: String } => "cannot watch {what}: {why}";
        /// One object; the cause is quoted.
        Unreadable { kind: String, namespace: String, name: String, cause: String } => "cannot read {kind} {namespace}/{name}: {cause}";
        /// The watch ended before it had shown what exists.
        FirstList => "the watch ended before the initial list was complete";
    }

    /// What stands in place of a field of an object that is not read.
    pub enum Field {
        TooDeep { levels: usize } => "nested more than {levels} levels deep";
    }

    /// Why the API server has not answered.
    pub enum Unanswered {
        Late { seconds: u64 } => "the API server did not answer within {seconds} s";
        /// The cause is quoted.
        Unusable { cause: String } => "no usable answer from the API server: {cause}";
        /// No request can be made of it.
        NoRequest { path: String, why: String } => "cannot build a request for {path}: {why}";
    }

    /// Why a region lock cannot be kept anywhere.
    pub enum NoStore {
        Nowhere => "this operator was started without a directory of credentials for the region lock";
        NoKubeconfig { file: String, why: String } => "cannot use {file} of the Secret of the region lock: {why}";
        Lease { name: String, why: String } => "cannot use Lease {name} of the region lock: {why}";
        /// Somebody else's object has the name.
        Foreign { name: String } => "Lease {name} was not written by Palladion; remove it, or give the locks a namespace of their own";
        /// Each time, another region had written first.
        Overtaken { name: String, tries: u32 } => "Lease {name} of the region lock was changed by others at each of {tries} tries; it is tried again";
    }

    /// Why the API server cannot be reached at all: before anything was sent.
    pub enum NoWay {
        File { file: String, why: String } => "cannot use {file}: {why}";
        Nothing { why: String } => "no usable kubeconfig found, and not running in a pod: {why}";
        Client { why: String } => "cannot set up a client for the API server: {why}";
    }

    /// Why a plan cannot be made for somebody.
    pub enum Unseen {
        Gone => "it no longer exists";
        Panicked { why: String } => "the decision panicked, which is a bug in Palladion: {why}";
    }

    /// Answers of probes.
    pub enum Probed {
        Passing => "the probe passes";
        Late { limit: String } => "no answer within {limit}";
        NotConnected { port: u16, why: String } => "cannot connect to port {port}: {why}";
        WrongPath { path: String, why: String } => "the path `{path}` cannot be requested: {why}";
        WrongHeaders { why: String } => "the request headers are invalid: {why}";
        HttpStatus { status: u16 } => "HTTP status {status}";
        HttpFailed { why: String } => "HTTP request failed: {why}";
        GrpcStatus { status: &'static str } => "the server reports {status}";
        /// Not one of the protocol.
        GrpcStatusUnknown { number: u64 } => "the server reports the unknown status {number}";
        GrpcFailed { why: String } => "gRPC request failed: {why}";
        /// Kubernetes' message, and what the command wrote.
        CommandFailed { message: String, output: String } => "{message}: {output}";
        /// The same of a command that wrote nothing.
        CommandFailedSilently { message: String } => "{message}";
        /// Kubernetes sent no message, and the command wrote nothing.
        CommandFailedUnnamed => "the command failed";
        CommandBroken => "the exec connection was lost before the command exited";
        CommandNotRun { status: String } => "the API server did not run the command: HTTP status {status}";
    }

    /// What is wrong with an answer over gRPC.
    pub enum BadGrpc {
        TooLong => "the response is too long";
        Empty => "the response has no message";
        NotHealth => "the response is not a HealthCheckResponse";
        Status { code: String, message: String } => "gRPC status {code}: {message}";
    }

    /// Why a probe could not be made: this says nothing about the pod.
    pub enum Unaskable {
        NoRight => "the operator is not allowed to run commands in pods (pods/exec)";
        Busy { why: String } => "the API server is busy: {why}";
        Silent { why: String } => "the API server is not responding: {why}";
    }

    /// Why an object that a call needs cannot be used.
    pub enum Unusable {
        Absent => "it does not exist";
        KeyMissing { key: &'static str } => "it has no key `{key}`";
        NotText { key: &'static str } => "its key `{key}` is no text";
        NoCertificate { key: &'static str } => "its key `{key}` has no certificate";
    }
}
