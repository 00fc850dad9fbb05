//! A server that knows users and passwords, and takes statements about roles.

use super::tls::Encryption;
use super::{
    AUTH_RESPONSE, AUTH_SUCCESS, AUTHENTICATE, BAD_CREDENTIALS, Credentials, ERROR, Endpoint,
    QUERY, RESULT, put_string,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

/// What a server answers of keyspaces and the `gc_grace_seconds` of their tables.
pub fn answer_of(tables: &[(&str, Option<i32>)]) -> Vec<u8> {
    let mut body = Vec::new();
    let int = |body: &mut Vec<u8>, number: i32| body.extend(number.to_be_bytes());
    // Rows, one table for all columns, two columns: a text and a number.
    [2, 1, 2].into_iter().for_each(|number| int(&mut body, number));
    ["system_schema", "tables"].into_iter().for_each(|name| put_string(&mut body, name));
    for (name, kind) in [("keyspace_name", 0x0d_u16), ("gc_grace_seconds", 0x09)] {
        put_string(&mut body, name);
        body.extend(kind.to_be_bytes());
    }
    int(&mut body, tables.len() as i32);
    for (keyspace, seconds) in tables {
        int(&mut body, keyspace.len() as i32);
        body.extend(keyspace.as_bytes());
        match seconds {
            Some(seconds) => [4, *seconds].into_iter().for_each(|number| int(&mut body, number)),
            None => int(&mut body, -1),
        }
    }
    body
}

#[derive(Default)]
struct State {
    users: BTreeMap<String, String>,
    statements: Vec<String>,
    /// Rows of its keyspaces in JSON.
    keyspaces: BTreeMap<String, String>,
    /// What somebody else writes in the moment in which a keyspace is altered.
    overwritten: BTreeMap<String, String>,
}

/// An answer of one column of text.
fn answer_of_texts(rows: &[&str]) -> Vec<u8> {
    let int = |body: &mut Vec<u8>, number: usize| body.extend((number as i32).to_be_bytes());
    let mut body = Vec::new();
    [2, 1, 1].into_iter().for_each(|number| int(&mut body, number));
    ["system_schema", "keyspaces", "[json]"]
        .into_iter()
        .for_each(|name| put_string(&mut body, name));
    body.extend(0x0d_u16.to_be_bytes());
    int(&mut body, rows.len());
    for row in rows {
        int(&mut body, row.len());
        body.extend(row.as_bytes());
    }
    body
}

/// The row of a keyspace after this statement, as a server stores it.
fn altered(statement: &str) -> Option<(String, String)> {
    let (keyspace, replication) =
        statement.strip_prefix("ALTER KEYSPACE \"")?.split_once("\" WITH replication = ")?;
    let parts = replication.trim_matches(['{', '}']).split(", ");
    let pairs = parts.filter_map(|part| part.split_once(": "));
    let plain = |text: &str| text.trim_matches('\'').to_string();
    let map: BTreeMap<String, String> = pairs.map(|(k, v)| (plain(k), plain(v))).collect();
    Some((keyspace.into(), serde_json::json!({ "replication": map }).to_string()))
}

/// The server.
pub struct FakeServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl FakeServer {
    /// Users and their passwords.
    pub async fn with_users(users: &[(&str, &str)]) -> Self {
        Self::listening(users, None).await
    }

    async fn listening(users: &[(&str, &str)], tls: Option<TlsAcceptor>) -> Self {
        let users = users.iter().map(|(u, p)| ((*u).to_string(), (*p).to_string())).collect();
        let state = Arc::new(Mutex::new(State { users, ..State::default() }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, served) = (tls.clone(), served.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, served).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, served).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, state }
    }

    /// The same behind TLS: certificate and key as PEM.
    pub async fn with_tls(users: &[(&str, &str)], certificate: &str, key: &str) -> Self {
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        Self::listening(users, Some(TlsAcceptor::from(Arc::new(config)))).await
    }

    /// How to reach it.
    pub fn endpoint(&self, credentials: Option<Credentials>) -> Endpoint {
        Endpoint { address: self.address, encryption: Encryption::Plain, credentials }
    }

    /// A keyspace that it has, as a row in JSON.
    pub fn replicate(&self, keyspace: &str, row: &str) {
        self.state.lock().unwrap().keyspaces.insert(keyspace.into(), row.into());
    }

    /// Whatever a keyspace is altered to, somebody else has made this of it.
    pub fn overwrites(&self, keyspace: &str, row: &str) {
        self.state.lock().unwrap().overwritten.insert(keyspace.into(), row.into());
    }

    /// What was executed.
    pub fn statements(&self) -> Vec<String> {
        self.state.lock().unwrap().statements.clone()
    }
}

/// One connection, until it ends.
async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, state: Arc<Mutex<State>>) {
    let mut header = [0; 9];
    while stream.read_exact(&mut header).await.is_ok() {
        let size = u32::from_be_bytes(header[5..9].try_into().unwrap()) as usize;
        let mut body = vec![0; size];
        stream.read_exact(&mut body).await.unwrap();
        let (opcode, answer) = state.lock().unwrap().answer(header[4], &body);
        let mut frame = vec![0x84, 0, 0, 0, opcode];
        frame.extend((answer.len() as u32).to_be_bytes());
        frame.extend(answer);
        stream.write_all(&frame).await.unwrap();
    }
}

impl State {
    fn answer(&mut self, opcode: u8, body: &[u8]) -> (u8, Vec<u8>) {
        match opcode {
            AUTH_RESPONSE => {
                let token = String::from_utf8(body[4..].to_vec()).unwrap();
                let parts: Vec<&str> = token.split('\0').collect();
                match self.users.get(parts[1]).is_some_and(|password| password == parts[2]) {
                    true => (AUTH_SUCCESS, Vec::new()),
                    false => {
                        let mut refused = BAD_CREDENTIALS.to_be_bytes().to_vec();
                        put_string(&mut refused, "Provided username and/or password are incorrect");
                        (ERROR, refused)
                    }
                }
            }
            QUERY => {
                let size = u32::from_be_bytes(body[..4].try_into().unwrap()) as usize;
                let statement = String::from_utf8(body[4..4 + size].to_vec()).unwrap();
                let of =
                    "SELECT JSON replication FROM system_schema.keyspaces WHERE keyspace_name = ";
                if let Some(name) = statement.strip_prefix(of) {
                    let row = self.keyspaces.get(name.trim_matches('\''));
                    let rows: Vec<&str> = row.iter().map(|row| row.as_str()).collect();
                    return (RESULT, answer_of_texts(&rows));
                }
                self.execute(statement);
                (RESULT, vec![0, 0, 0, 1])
            }
            _ => (AUTHENTICATE, Vec::new()),
        }
    }

    fn execute(&mut self, statement: String) {
        let quoted: Vec<&str> = statement.split(['"', '\'']).collect();
        if statement.starts_with("CREATE ROLE IF NOT EXISTS") {
            let (user, password) = (quoted[1].to_string(), quoted[3].to_string());
            self.users.entry(user).or_insert(password);
        } else if statement.starts_with("ALTER ROLE cassandra") {
            self.users.remove("cassandra");
        } else if statement.starts_with("ALTER ROLE \"") {
            self.users.insert(quoted[1].to_string(), quoted[3].to_string());
        } else if let Some((keyspace, row)) = altered(&statement) {
            let row = self.overwritten.get(&keyspace).cloned().unwrap_or(row);
            self.keyspaces.insert(keyspace, row);
        }
        self.statements.push(statement);
    }
}
