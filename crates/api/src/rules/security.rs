//! Rules of authentication and TLS of a `CassandraCluster`.

use kube_core::Rule;

use super::must;

/// Nothing of it has been tried against a Scylla server.
pub fn scylla_takes_no_auth() -> Rule {
    must(
        "self.mode != 'scylla' || !has(self.auth)",
        "`auth` applies to Cassandra only: use `config` instead",
    )
    .field_path(".auth")
}

/// Nothing of it has been tried against a Scylla server.
pub fn scylla_takes_no_tls() -> Rule {
    must(
        "self.mode != 'scylla' || !has(self.tls)",
        "`tls` applies to Cassandra only: use `config` instead",
    )
    .field_path(".tls")
}

/// Servers of line 4.0 read no PEM files.
pub fn client_tls_needs_4_1() -> Rule {
    must(
        "!has(self.tls) || !has(self.tls.client) || self.tls.client.mode == 'Off' || !self.version.startsWith('4.0')",
        "`tls.client` requires Cassandra 4.1 or newer: upgrade first, or remove `tls.client`",
    )
    .field_path(".tls")
}

/// Servers of line 4.0 read no PEM files.
pub fn internode_tls_needs_4_1() -> Rule {
    must(
        "!has(self.tls) || !has(self.tls.internode) || self.tls.internode.mode == 'Off' || !self.version.startsWith('4.0')",
        "`tls.internode` requires Cassandra 4.1 or newer: upgrade first, or remove `tls.internode`",
    )
    .field_path(".tls")
}

/// A member without a key cannot speak TLS.
pub fn internode_tls_has_certificates() -> Rule {
    must(
        "self.mode == 'Off' || has(self.certificates)",
        "`tls.internode` needs certificates: set `certificates.operator: {}`",
    )
    .field_path(".certificates")
}

/// Members that speak in the clear ask nobody for a certificate.
pub fn trust_needs_tls() -> Rule {
    must(
        "self.mode != 'Off' || !has(self.additionalTrust) || size(self.additionalTrust) == 0",
        "`additionalTrust` has no effect with `mode: Off`: set another mode, or remove `additionalTrust`",
    )
    .field_path(".additionalTrust")
}

/// What more there is in the text would be trusted unseen.
pub fn trust_is_one_certificate() -> Rule {
    must(
        "self.trim().startsWith('-----BEGIN CERTIFICATE-----') && self.trim().endsWith('-----END CERTIFICATE-----') && self.split('-----BEGIN').size() == 2",
        "must be one certificate in PEM format, from `-----BEGIN CERTIFICATE-----` to `-----END CERTIFICATE-----`",
    )
}

/// A server without a key cannot serve TLS.
pub fn client_tls_has_certificates() -> Rule {
    must(
        "self.mode == 'Off' || has(self.certificates)",
        "`tls.client` needs a server certificate that clients can verify: set `certificates.operator: {}` or `certificates.secretName`",
    )
    .field_path(".certificates")
}

/// Two sources would leave open which one counts.
pub fn certificates_have_one_source() -> Rule {
    must(
        "has(self.operator) != has(self.secretName)",
        "`certificates` needs exactly one source: set either `operator: {}` or `secretName`",
    )
}
