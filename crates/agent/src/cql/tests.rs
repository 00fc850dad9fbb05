//! The protocol, frame by frame, and over TLS.

use super::*;

async fn server(
    answers: Vec<(u8, Vec<u8>)>,
) -> (SocketAddr, tokio::task::JoinHandle<Vec<(u8, Vec<u8>)>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        for (opcode, body) in answers {
            let mut header = [0; 9];
            stream.read_exact(&mut header).await.unwrap();
            let size = u32::from_be_bytes(header[5..9].try_into().unwrap()) as usize;
            let mut question = vec![0; size];
            stream.read_exact(&mut question).await.unwrap();
            asked.push((header[4], question));
            let mut frame = vec![0x84, 0, 0, 0, opcode];
            frame.extend((body.len() as u32).to_be_bytes());
            frame.extend(body);
            stream.write_all(&frame).await.unwrap();
        }
        asked
    });
    (address, served)
}

fn endpoint(address: SocketAddr, credentials: Option<Credentials>) -> Endpoint {
    Endpoint { address, encryption: Encryption::Plain, credentials }
}

fn credentials() -> Credentials {
    Credentials { username: "u".into(), password: "p".into() }
}

#[tokio::test]
async fn logs_in_and_carries_out_a_statement() {
    let (address, served) =
        server(vec![(AUTHENTICATE, vec![]), (AUTH_SUCCESS, vec![]), (RESULT, vec![0, 0, 0, 1])])
            .await;
    let mut connection = Connection::open(&endpoint(address, Some(credentials()))).await.unwrap();
    connection.execute("ALTER KEYSPACE k").await.unwrap();
    let asked = served.await.unwrap();
    assert_eq!(
        asked.iter().map(|(opcode, _)| *opcode).collect::<Vec<_>>(),
        [STARTUP, AUTH_RESPONSE, QUERY]
    );
    assert_eq!(asked[1].1, b"\0\0\0\x04\0u\0p");
    assert_eq!(asked[2].1, b"\0\0\0\x10ALTER KEYSPACE k\0\x01\0");
}

/// `[json]`, with these rows.
fn json_rows(rows: &[&str]) -> Vec<u8> {
    let mut body: Vec<u8> = [2_i32, 1, 1].iter().flat_map(|n| n.to_be_bytes()).collect();
    for name in ["shop", "orders", "[json]"] {
        put_string(&mut body, name);
    }
    body.extend(13_u16.to_be_bytes());
    body.extend(i32::try_from(rows.len()).unwrap().to_be_bytes());
    for row in rows {
        body.extend(i32::try_from(row.len()).unwrap().to_be_bytes());
        body.extend(row.as_bytes());
    }
    body
}

#[tokio::test]
async fn all_replicas_say_whether_a_table_is_empty() {
    let answers = [json_rows(&[]), json_rows(&["{}"])];
    let answers = answers.into_iter().map(|rows| (RESULT, rows));
    let (address, served) = server([(READY, vec![])].into_iter().chain(answers).collect()).await;
    let mut connection = Connection::open(&endpoint(address, None)).await.unwrap();
    assert!(connection.is_empty("shop", "orders").await.unwrap());
    assert!(!connection.is_empty("shop", "orders").await.unwrap());
    let asked = served.await.unwrap();
    let statement = b"SELECT JSON * FROM \"shop\".\"orders\" LIMIT 1";
    assert_eq!(asked[1].1[4..], [&statement[..], &[0, 5, 0]].concat());
}

#[tokio::test]
async fn a_refusal_is_told_in_the_servers_words() {
    let mut body = 0x2300i32.to_be_bytes().to_vec();
    put_string(&mut body, "no such keyspace");
    let (address, _served) = server(vec![(READY, vec![]), (ERROR, body)]).await;
    let mut connection = Connection::open(&endpoint(address, None)).await.unwrap();
    let error = connection.execute("x").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server rejected the request: no such keyspace (CQL error 0x2300)"
    );
}

#[tokio::test]
async fn without_credentials_a_server_that_asks_is_an_error() {
    let (address, _served) = server(vec![(AUTHENTICATE, vec![])]).await;
    assert!(matches!(Connection::open(&endpoint(address, None)).await, Err(Error::NoCredentials)));
}

#[test]
fn names_and_texts_are_quoted() {
    assert_eq!(text("it's"), "'it''s'");
    assert_eq!(quoted("Odd\"name"), "\"Odd\"\"name\"");
}

/// An authority, and a certificate of it with its key: PEM.
fn certificate() -> (String, String, String) {
    let mut of_authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    of_authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let authority = rcgen::CertifiedIssuer::self_signed(of_authority, key).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let of_leaf = rcgen::CertificateParams::new(vec!["another-name".into()]).unwrap();
    let leaf = of_leaf.signed_by(&key, &authority).unwrap();
    (authority.pem(), leaf.pem(), key.serialize_pem())
}

#[tokio::test]
async fn a_certificate_of_our_authority_is_taken_whatever_its_name_and_no_other() {
    let (authority, leaf, key) = certificate();
    let users = [("palladion", "p")];
    let server = testing::FakeServer::with_tls(&users, &leaf, &key).await;
    let ours = Credentials { username: "palladion".into(), password: "p".into() };
    let mut endpoint = server.endpoint(Some(ours));
    endpoint.encryption = Encryption::trusting(authority.as_bytes());
    let mut connection = Connection::open(&endpoint).await.unwrap();
    connection.execute("ALTER KEYSPACE k").await.unwrap();
    assert_eq!(server.statements(), ["ALTER KEYSPACE k"]);
    let (other, ..) = certificate();
    for unknown in [other.as_str(), "", "no certificate"] {
        endpoint.encryption = Encryption::trusting(unknown.as_bytes());
        let refused = Connection::open(&endpoint).await.err().unwrap();
        assert!(matches!(refused, Error::Untrusted(_)), "{refused}");
    }
}
