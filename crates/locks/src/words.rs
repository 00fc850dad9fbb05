//! Why a store of locks cannot be asked, for people. What it said itself is quoted.

palladion_api::sentences! {
    /// Why the etcd of the region lock cannot be asked.
    pub enum Away {
        NoEndpoint => "`regionLock.etcd.endpoints` of the OperatorConfig names no etcd";
        Url { endpoint: String, why: String } => "{endpoint} is not the URL of an etcd: {why}";
        Late { endpoint: String, seconds: u64 } => "etcd at {endpoint} did not answer within {seconds} s";
        Unreachable { endpoint: String, why: String } => "cannot reach etcd at {endpoint}: {why}";
        /// What it said is quoted.
        Refused { endpoint: String, why: String } => "etcd at {endpoint} refused the request: {why}";
        Unreadable { endpoint: String, why: String } => "cannot read the answer of etcd at {endpoint}: {why}";
        InTheClear { endpoint: String } =>
            "the Secret of the region lock has a password, and {endpoint} is not encrypted: no password is sent there; use an `https://` endpoint";
        TooLarge { endpoint: String } => "the answer of etcd at {endpoint} is too large";
        Foreign { key: String } => "key {key} in etcd was not written by Palladion; remove it, or use an etcd, or a user, of its own";
        Moved { key: String } => "another operator changed key {key} at the same moment";
    }

    /// Why the files of the mounted Secret cannot be used.
    pub enum BadSecret {
        File { file: String, why: String } => "cannot read {file} of the Secret of the region lock: {why}";
        NoCertificate { file: &'static str } => "{file} of the Secret of the region lock has no certificate in PEM";
        NoKey { file: &'static str } => "{file} of the Secret of the region lock has no private key in PEM";
        HalfPair => "the Secret of the region lock has one of `tls.crt` and `tls.key`; give both, or none";
        HalfUser => "the Secret of the region lock has one of `username` and `password`; give both, or none";
        NoAuthority => "the Secret of the region lock has no `ca.crt`: an `https://` endpoint is trusted by that alone";
        Tls { why: String } => "the certificates of the Secret of the region lock do not fit: {why}";
    }
}
