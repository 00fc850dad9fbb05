//! What should be among the files of RabbitMQ and is not, or is otherwise.

palladion_api::sentences! {
    /// What should be there and is not.
    pub enum Missing {
        Programs => "no directory of `PATH` contains rabbitmq-server; check that the image is one of RabbitMQ, or set `PALLADION_RABBITMQ_BIN`";
        Program { path: String } => "{path} does not exist; check that the image is one of RabbitMQ";
        Cookie => "neither the volume nor the Secret with the credentials has an Erlang cookie (key `erlang-cookie`)";
        Password { key: String } => "the Secret with the credentials has no key `{key}`";
        NodeName => "the member has no node name yet";
        Definitions => "the pod mounts no definitions (key `definitions.json`)";
    }

    /// A file, or something in it, that is not as it should be.
    pub enum Odd {
        Setting { name: String } => "`{name}` or its value cannot stand in rabbitmq.conf; correct `config`";
        Reserved { name: String, instead: String } => "`{name}` cannot be set in rabbitmq.conf: {instead}";
        Plugin { name: String } => "`{name}` cannot be enabled as a plugin; correct `plugins`";
        Variable { name: String } => "the environment variable `{name}` is set in the container, and with it the node would not start as the agent means it to; remove it from `env` and from the image";
        Cookie { path: String } => "{path} does not contain an Erlang cookie: letters and digits on one line";
        Definitions { path: String, line: usize, column: usize } => "{path} does not contain definitions: line {line}, column {column} is not as expected";
    }
}
