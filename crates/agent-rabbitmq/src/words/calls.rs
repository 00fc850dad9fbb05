//! What the agent asks of its node, and why it was not done.

palladion_api::sentences! {
    /// Why there is no answer of the node, or not the one that was hoped for.
    pub enum WireError {
        Unreachable { path: String } => "the management API did not answer the request for {path}";
        Late { what: String } => "`{what}` was not answered in time";
        Unauthorized => "the management API rejected the password of the agent's user";
        Status { path: String, code: u16 } => "the management API answered the request for {path} with status {code}";
        TooLong { what: String } => "the answer to `{what}` is too long";
        Unclear { what: String } => "cannot parse the answer to `{what}`";
        Run { program: String } => "cannot run `{program}`; check that the image is one of RabbitMQ";
        Refused { what: String, code: String, said: String } => "`{what}` failed with exit code {code}: {said}";
    }

    /// In place of what a program said that may have printed secrets.
    pub enum NotRepeated {
        Definitions { path: String } => "what it printed may contain passwords and is not repeated here; run `rabbitmqctl import_definitions {path} --format json` in the container to read it";
    }

    /// What the agent does not know yet.
    pub enum NotKnown {
        Ledger => "the volume has no usable ledger";
        Spec => "the agent has not read its ServiceMember yet";
        Process => "init has not been queried yet";
        Queues => "RabbitMQ did not say which queues there are";
        Replicas => "RabbitMQ did not say how far the replicas of its queues are";
        Cluster => "RabbitMQ did not say which nodes its cluster has";
    }
}
