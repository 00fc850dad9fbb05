//! What the authority and its checks say.

palladion_api::sentences! {
    /// Why nothing is signed, or a certificate is not taken.
    pub enum Refused {
        Key { why: String } => "the private key cannot be used: {why}";
        NotPem { why: String } => "the certificate is not in PEM format: {why}";
        Request { why: String } => "the certificate request cannot be used: {why}";
        TooLong { most: usize } => "the certificate request has more than {most} bytes";
        KeyKind => "the certificate request is for a key of another kind than P-256";
        Authority { why: String } => "the certificate authority cannot be used: {why}";
        AuthorityExpired => "the certificate authority has expired";
        NotAnAuthority => "the certificate of the authority does not allow it to sign";
        OtherAuthority => "the key of the certificate authority does not belong to its certificate";
        NoName => "no name is on record to be certified";
        Name { name: String } => "the name {name} does not belong to the member";
        Address { address: String } => "{address} is not an IP address";
        Life => "the requested lifetime is not positive";
        Signing { why: String } => "the certificate cannot be signed: {why}";
        Unreadable { why: String } => "the certificate cannot be read: {why}";
        OtherKey => "the certificate belongs to another key";
        Untrusted => "the certificate was not signed by the ordered certificate authority";
        Unnamed { name: String } => "the certificate does not contain the name {name}";
    }
}

impl std::error::Error for Refused {}
