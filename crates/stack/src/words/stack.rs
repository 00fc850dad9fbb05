//! Many services with one status.

palladion_plan::sentences! {
    /// What is wrong with one service.
    pub enum Child {
        Absent { child: String } => ChildAbsent,
            "{child} does not exist; create it, or set `create: true`";
        Refused { child: String, answer: String } => ChildRefused,
            "the API server rejects {child}: {answer}";
        Foreign { child: String, answer: String } => ForeignObject,
            "the spec of {child} is not written: {answer}";
        OfAnother { child: String, stack: String } => ForeignObject,
            "{child} belongs to Stack {stack}; remove it from one of the two";
        NotGiven { child: String, label: &'static str, stack: String } => NotOfThisStack,
            "{child} exists and was not created by this Stack, which leaves it as it is; to let the Stack write its spec, label it `{label}={stack}`";
        BeingDeleted { child: String } => CreatingObjects, "{child} is being deleted";
        Created { child: String } => CreatingObjects, "{child} is being created";
        NotAccepted { child: String, message: String } => ChildRefused,
            "the operator rejects the spec of {child}: {message}";
        Degraded { child: String, message: String } => ServiceDegraded, "{child}: {message}";
        Behind { child: String } => CreatingObjects,
            "the operator has not read the newest spec of {child} yet";
        Paused { child: String, message: String } => Paused,
            "{child} does not carry out its spec: {message}";
        Progressing { child: String, message: String } => RollingOut, "{child}: {message}";
        Silent { child: String } => CreatingObjects, "{child} has not reported its state";
        /// As it says itself.
        Says { child: String, message: String } => ServicesNotReady, "{child}: {message}";
    }

    /// How many services are available.
    pub enum Available {
        All { services: usize } => UpToDate, "all {services} active services are ready";
        None => UpToDate, "no service is active";
        Some { ready: usize, services: usize } => ServicesNotReady,
            "{ready} of {services} active services are ready";
        NotLooked => FactUnknown,
            "the spec cannot be read, so the operator does not look at the services; `services` shows them as they were before; correct the spec as `Accepted` says";
    }

    /// Events.
    pub enum Happened {
        Created { child: String } => Synced, "{child} created";
        Withdrawn { child: String } => Synced, "{child} is no longer deleted with this Stack";
    }

    /// Steps.
    pub enum Doing {
        Withdraw { child: String, stack: String } =>
            "remove the owner reference to Stack {stack} from {child}";
    }
}
