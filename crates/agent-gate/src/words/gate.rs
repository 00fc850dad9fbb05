//! Gates.

palladion_api::sentences! {
    /// Why a gate is closed.
    pub enum Why {
        /// The operator has not opened it.
        NoTicket => "waiting for the operator to open the gate";
        /// The ticket was there before this start.
        OldTicket => "waiting for the operator: the ticket is that of an earlier start";
        /// The ticket is for another start.
        OtherStart { ticket: String, start: i64 } =>
            "ticket {ticket} is not for this start at {start}; check the clock of this node";
        /// The files of the pod are not those that it is to start with.
        OtherFiles { wanted: String, mounted: String } =>
            "the mounted configuration ({mounted}) is not the one that the ticket is for ({wanted})";
        /// What the kubelet mounts cannot be read.
        Unreadable { why: String } => "{why}";
    }

    /// A gate that has ended.
    pub enum Ended {
        Opened { mounted: String } => "the gate is open; the pod starts with configuration {mounted}";
        TimedOut { why: Why } => "the gate ends, and Kubernetes starts another: {why}";
    }
}
