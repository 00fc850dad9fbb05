//! Pods that are registered with a service.

palladion_plan::sentences! {
    /// Why the service is not called.
    pub enum Away {
        Absent { component: String } => WaitingForTarget,
            "Component {component} does not exist; create it, or correct `target.component`";
        Leaving { component: String } => WaitingForTarget,
            "Component {component} is being deleted; nobody is registered until it is created again";
        NotReady { component: String } => WaitingForTarget,
            "waiting for Component {component} to be active; until then nobody is registered";
        NoPort { component: String, port: String } => WaitingForTarget,
            "Component {component} has no port `{port}`; add it to `network.ports`, or correct `target.port`";
        Unread { component: String, why: String } => FactUnknown,
            "cannot read Component {component}: {why}";
    }

    /// A selected service that is not there.
    pub enum Unselected {
        Absent { service: String } => SelectedAbsent,
            "{service}, which `select` names, does not exist; create it, or correct `select`";
    }

    /// How many are registered.
    pub enum Registered {
        All { pods: usize } => UpToDate, "all {pods} pods are registered";
        None => UpToDate, "the selected services have no pods";
        Some { registered: usize, pods: usize } => Registering,
            "{registered} of {pods} pods are registered";
    }

    /// What is under way.
    pub enum Progress {
        Registering { registered: usize, pods: usize } => Registering,
            "registering pods: {registered} of {pods} done";
        Removing { pods: usize } => Registering,
            "{pods} pods are gone and are being taken out";
    }

    /// Why a good answer is of no use.
    pub enum Answered {
        TooMuch { bytes: usize, most: usize } =>
            "`capture` keeps {bytes} bytes of the answer, and may keep {most}; capture fewer or shorter values";
    }

    /// What needs a person.
    pub enum Trouble {
        Unreachable { pods: usize, pod: String, host: String, port: u16, answer: String } => ApiUnreachable,
            "the calls for {pods} pods have no answer, first {pod}: {answer}; if Component and operator run, allow the operator's pods to reach port {port} of {host} in the NetworkPolicies";
        Credentials { pods: usize, pod: String, namespace: String, answer: String } => CredentialsUnreadable,
            "the calls for {pods} pods could not be sent, first {pod}: {answer}; correct the object, and let a Role of namespace {namespace} allow the operator's service account to `get` it by name";
        Refused { pods: usize, pod: String, answer: String } => RegistrationFailed,
            "{pods} pods could not be registered or taken out, first {pod}: {answer}";
        Twice { pod: String, first: String, second: String } => RegistrationFailed,
            "{first} and {second} have different pods of the name {pod}, by which pods are registered: only that of {first} is; give one of the services its own Registration";
        TooMany { pods: usize, most: usize } => TooManyEntries,
            "{pods} pods are left out, because a Registration holds {most} at the most; select fewer services and make another Registration for the rest";
    }
}
