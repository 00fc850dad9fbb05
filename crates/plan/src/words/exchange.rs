//! Calls to the API of a service.

palladion_api::sentences! {
    /// Why a call has failed.
    pub enum Failed {
        Code { code: u16 } => "it answered {code}";
        Answered { code: u16, said: String } => "it answered {code}: {said}";
        Unreachable { address: String, why: String } => "{address} could not be reached: {why}";
        TimedOut { address: String } => "{address} did not answer in time";
        TooLarge { most: usize } => "its answer has more than {most} bytes";
        NoCredentials { secret: String, why: String } => "Secret {secret} could not be read: {why}";
        NoAuthority { config_map: String, why: String } => "ConfigMap {config_map} could not be used: {why}";
        NoRequest { why: String } => "no request can be made of it: {why}";
    }
}

impl std::error::Error for Failed {}
