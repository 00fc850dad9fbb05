//! Clients of rings that ask for a password and speak TLS alone, as a new ring does.

use anyhow::Result;
use palladion_e2e::{Ring, bed};

/// Somebody who may log in.
pub(super) struct Login {
    ring: String,
    authority: String,
    user: String,
    password: String,
}

impl Login {
    /// As the superuser of this ring.
    pub(super) fn superuser(ring: &str) -> Self {
        let secret = |key: &str| {
            let template = format!("go-template={{{{ .data.{key} | base64decode }}}}");
            let name = format!("{ring}-superuser");
            let words = ["get", "secret", &name, "-n", ring, "-o", &template];
            bed().cluster.kubectl(&words).expect("the Secret")
        };
        Self::of(ring, &secret("username"), &secret("password"))
    }

    /// As this user.
    pub(super) fn of(ring: &str, user: &str, password: &str) -> Self {
        let map = bed().get(ring, "configmap", &format!("{ring}-client-ca"));
        let map = map.expect("get").expect("the authority for clients");
        let authority = map["data"]["ca.crt"].as_str().expect("the key `ca.crt`").to_string();
        let (ring, user) = (ring.to_string(), user.to_string());
        Self { ring, authority, user, password: password.to_string() }
    }

    /// One line per row of the last statement, at this consistency level.
    ///
    /// # Errors
    /// What the driver says.
    pub(super) fn ask(&self, level: &str, statements: &[&str]) -> Result<Vec<String>> {
        let contact = format!("{}-client", self.ring);
        let Self { authority, user, password, .. } = self;
        let mut command =
            vec!["python3", "-c", PROGRAM, &contact, authority, user, password, level];
        command.extend(statements);
        let said = Ring::at(bed(), &self.ring).in_client(&command)?;
        Ok(said.lines().map(str::to_string).collect())
    }
}

/// A client with a password, over TLS.
const PROGRAM: &str = r"
import ssl, sys
from cassandra import ConsistencyLevel
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
contact, authority, user, password, level = sys.argv[1:6]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.load_verify_locations(cadata=authority)
profile = ExecutionProfile(consistency_level=getattr(ConsistencyLevel, level), request_timeout=20)
cluster = Cluster([contact], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, ssl_context=context, auth_provider=PlainTextAuthProvider(user, password), connect_timeout=20, control_connection_timeout=20)
session = cluster.connect()
rows = []
for statement in sys.argv[6:]:
    rows = session.execute(statement)
for row in rows:
    print(*row)
cluster.shutdown()
";
