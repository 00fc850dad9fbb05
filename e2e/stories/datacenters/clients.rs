//! Clients of one datacenter: statements at LOCAL_ levels, rows by one member alone, and one that
//! asks members again and again from before they are there.

use palladion_e2e::Ring;

/// Who asks, and where.
pub struct Client<'r, 'b> {
    ring: &'r Ring<'b>,
    datacenter: &'static str,
    user: String,
    password: String,
}

impl<'r, 'b> Client<'r, 'b> {
    /// One that knows this user, or asks nobody who it is.
    pub fn new(
        ring: &'r Ring<'b>,
        datacenter: &'static str,
        login: Option<&(String, String)>,
    ) -> Self {
        let (user, password) = login.cloned().unwrap_or_default();
        Self { ring, datacenter, user, password }
    }

    fn run(&self, words: &[&str]) -> String {
        let mut command =
            vec!["python3", "-c", PROGRAM, self.datacenter, &self.user, &self.password];
        command.extend(words);
        self.ring.in_client(&command).expect("an answer")
    }

    fn service(&self, member: &str) -> String {
        format!("{member}.{}.svc", self.ring.namespace)
    }

    /// A statement at LOCAL_QUORUM, by whatever member of the datacenter; its rows.
    pub fn said(&self, statement: &str) -> String {
        self.run(&[
            "say",
            &format!("{}-client.{}.svc", self.ring.name, self.ring.namespace),
            statement,
        ])
    }

    /// Write the rows of these numbers at LOCAL_QUORUM.
    pub fn writes(&self, from: u32, to: u32) {
        let service = format!("{}-client.{}.svc", self.ring.name, self.ring.namespace);
        let said = self.run(&["write", &service, &from.to_string(), &to.to_string()]);
        assert_eq!(said.trim(), format!("wrote {}", to - from));
    }

    /// The ports for clients of this member that take a connection.
    pub fn open_ports(&self, member: &str) -> String {
        self.run(&["ports", &self.service(member)]).trim().to_string()
    }

    /// How many rows this member finds at LOCAL_ONE.
    pub fn rows_at(&self, member: &str) -> u32 {
        let said = self.run(&["count", &self.service(member)]);
        said.trim().parse().unwrap_or_else(|_| panic!("{member} said: {said}"))
    }
}

/// What a client met that asks all the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Met {
    /// It got no answer, or an error.
    pub refused: u32,
    /// It found at least the rows that were there from the beginning.
    pub all: u32,
    /// It found fewer, and no error.
    pub fewer: u32,
}

/// A client that asks each of some members for all rows, until it is ended.
pub struct Hammer<'r, 'b> {
    ring: &'r Ring<'b>,
}

impl<'r, 'b> Hammer<'r, 'b> {
    /// Begin, before the members are there.
    pub fn begin(
        ring: &'r Ring<'b>,
        client: &Client<'_, '_>,
        members: &[&str],
        least: u32,
    ) -> Self {
        let services: Vec<String> = members.iter().map(|member| client.service(member)).collect();
        let program = PROGRAM.replace('\'', "'\\''");
        let line = format!(
            "rm -f /tmp/met; nohup python3 -c '{program}' {} '{}' '{}' hammer {least} {} >/tmp/met 2>/tmp/hammer.err & echo $! >/tmp/hammer.pid",
            client.datacenter,
            client.user,
            client.password,
            services.join(" "),
        );
        ring.in_client(&["/bin/busybox", "sh", "-c", &line]).expect("a client that asks");
        Self { ring }
    }

    /// End it, and say what it met.
    pub fn end(self) -> Met {
        let line = "kill $(cat /tmp/hammer.pid); cat /tmp/met";
        let said = self.ring.in_client(&["/bin/busybox", "sh", "-c", line]).expect("what it met");
        let mut met = Met::default();
        for word in said.lines() {
            match word.split_whitespace().next() {
                Some("refused") => met.refused += 1,
                Some("all") => met.all += 1,
                Some("fewer") => met.fewer += 1,
                other => panic!("it said {other:?}"),
            }
        }
        met
    }
}

/// A client that writes one row after the other through one member at LOCAL_ONE, until it is refused.
pub struct Writer<'r, 'b> {
    ring: &'r Ring<'b>,
}

impl<'r, 'b> Writer<'r, 'b> {
    /// Begin with the row of this number.
    pub fn begin(ring: &'r Ring<'b>, client: &Client<'_, '_>, member: &str, from: u32) -> Self {
        let program = PROGRAM.replace('\'', "'\\''");
        let line = format!(
            "rm -f /tmp/acked; nohup python3 -c '{program}' {} '{}' '{}' alone {} {from} >/tmp/acked 2>/tmp/writer.err &",
            client.datacenter,
            client.user,
            client.password,
            client.service(member),
        );
        ring.in_client(&["/bin/busybox", "sh", "-c", &line]).expect("a client that writes");
        Self { ring }
    }

    /// How many rows were acknowledged, once it was refused; none before. How it was refused is
    /// printed.
    pub fn acknowledged(&self) -> Option<u32> {
        let said = self.ring.in_client(&["/bin/busybox", "cat", "/tmp/acked"]).ok()?;
        let (number, how) = said.trim().strip_prefix("wrote ")?.split_once(' ')?;
        println!("the writer {how}");
        number.parse().ok()
    }
}

const PROGRAM: &str = r#"
import ssl, sys, time
from cassandra import ConsistencyLevel
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import DCAwareRoundRobinPolicy, WhiteListRoundRobinPolicy
import socket
datacenter, user, password, verb = sys.argv[1:5]

def connect(host, level, alone, patience=20):
    address = socket.gethostbyname(host)
    policy = WhiteListRoundRobinPolicy([address]) if alone else DCAwareRoundRobinPolicy(datacenter)
    profile = ExecutionProfile(load_balancing_policy=policy, consistency_level=level, request_timeout=patience)
    options = {}
    if user:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        options = dict(auth_provider=PlainTextAuthProvider(user, password), ssl_context=context)
    cluster = Cluster([address], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=patience, control_connection_timeout=patience, **options)
    return cluster, cluster.connect()

def count(host, patience=20):
    cluster = None
    try:
        cluster, session = connect(host, ConsistencyLevel.LOCAL_ONE, True, patience)
        return sum(1 for _ in session.execute("SELECT id FROM shop.orders"))
    finally:
        if cluster:
            cluster.shutdown()

if verb == "say":
    cluster, session = connect(sys.argv[5], ConsistencyLevel.LOCAL_QUORUM, False)
    for row in session.execute(sys.argv[6]):
        print(*row)
    cluster.shutdown()
elif verb == "write":
    cluster, session = connect(sys.argv[5], ConsistencyLevel.LOCAL_QUORUM, False)
    insert = session.prepare("INSERT INTO shop.orders (id, word) VALUES (?, ?)")
    done = 0
    for number in range(int(sys.argv[6]), int(sys.argv[7])):
        for attempt in range(5):
            try:
                session.execute(insert, (number, "word %d" % number))
                done += 1
                break
            except Exception:
                time.sleep(1)
    print("wrote", done)
    cluster.shutdown()
elif verb == "ports":
    found = []
    for port in (9042, 9142):
        try:
            socket.create_connection((socket.gethostbyname(sys.argv[5]), port), 5).close()
            found.append(str(port))
        except OSError:
            pass
    print(*found)
elif verb == "count":
    print(count(sys.argv[5]))
elif verb == "alone":
    cluster, session = connect(sys.argv[5], ConsistencyLevel.LOCAL_ONE, True)
    insert = session.prepare("INSERT INTO shop.orders (id, word) VALUES (?, ?)")
    first = number = int(sys.argv[6])
    try:
        while True:
            session.execute(insert, (number, "word %d" % number))
            number += 1
    except Exception as error:
        print("wrote", number - first, "and was refused at", time.time(), "by", repr(error))
    cluster.shutdown()
elif verb == "hammer":
    least = int(sys.argv[5])
    end = time.time() + 3600
    while time.time() < end:
        for host in sys.argv[6:]:
            try:
                found = count(host, 5)
                print("all" if found >= least else "fewer %d" % found, flush=True)
            except Exception as error:
                print("refused", type(error).__name__, flush=True)
        time.sleep(0.5)
"#;
