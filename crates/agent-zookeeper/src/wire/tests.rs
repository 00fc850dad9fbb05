//! Messages survive the way there and back, and a session speaks with a server that
//! answers with bytes.

use super::four_letter::{self, Command};
use super::jute::{MOST_FRAME, Malformed, Reader, Record, Writer, frame_length};
use super::message::*;
use super::session::{CONFIG, Limits};
use super::{Error, Refusal, Session};
use proptest::prelude::*;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const LIMITS: Limits = Limits { open: Duration::from_secs(20), answer: Duration::from_secs(20) };
const SHORT: Limits =
    Limits { open: Duration::from_millis(200), answer: Duration::from_millis(200) };

fn bytes(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::default();
    write(&mut writer);
    writer.frame().unwrap()
}

fn again<R: Record>(record: &R) -> Result<R, Malformed> {
    let frame = bytes(|to| record.write(to));
    assert_eq!(frame_length(frame[..4].try_into().unwrap()), Ok(frame.len() - 4));
    R::read(&mut Reader::new(&frame[4..]))
}

fn text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of("\\PC{0,40}")
}

proptest! {
    #[test]
    fn requests_and_answers_survive_the_way(
        (a, b, c, d) in any::<(i32, i64, i32, i64)>(),
        password in proptest::collection::vec(any::<u8>(), 0..40),
        flag in any::<bool>(),
        (joining, leaving) in (text(), text()),
        path in "\\PC{0,40}",
        data in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..200)),
    ) {
        let connect = ConnectRequest {
            protocol_version: a, last_zxid: b, timeout_ms: c, session_id: d,
            password: password.clone(), read_only: flag,
        };
        prop_assert_eq!(again(&connect), Ok(connect));
        let made = ConnectResponse {
            protocol_version: a, timeout_ms: c, session_id: d, password: password.clone(),
            read_only: flag,
        };
        prop_assert_eq!(again(&made), Ok(made));
        let head = RequestHeader { xid: a, opcode: c };
        prop_assert_eq!(again(&head), Ok(head));
        let reply = ReplyHeader { xid: a, zxid: b, error: c };
        prop_assert_eq!(again(&reply), Ok(reply));
        let auth = AuthPacket { kind: a, scheme: path.clone(), auth: password };
        prop_assert_eq!(again(&auth), Ok(auth));
        let get = GetDataRequest { path: path.clone(), watch: flag };
        prop_assert_eq!(again(&get), Ok(get));
        let change = ReconfigRequest { joining, leaving, version: b };
        prop_assert_eq!(again(&change), Ok(change));
        prop_assert_eq!(again(&SyncPath { path: path.clone() }), Ok(SyncPath { path }));
        let data = Data { data };
        prop_assert_eq!(again(&data), Ok(data));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let _ = ConnectRequest::read(&mut Reader::new(&bytes));
        let _ = ConnectResponse::read(&mut Reader::new(&bytes));
        let _ = ReplyHeader::read(&mut Reader::new(&bytes));
        let _ = AuthPacket::read(&mut Reader::new(&bytes));
        let _ = ReconfigRequest::read(&mut Reader::new(&bytes));
        let _ = Data::read(&mut Reader::new(&bytes));
    }
}

/// As ZooKeeper 3.9.3 reads them, byte by byte.
#[test]
fn the_bytes_are_those_of_the_protocol() {
    let head = RequestHeader { xid: 1, opcode: opcode::RECONFIG };
    let change = ReconfigRequest { joining: None, leaving: Some("2".into()), version: 1 << 32 };
    let frame = bytes(|to| {
        head.write(to);
        change.write(to);
    });
    let expected: &[u8] = &[
        0, 0, 0, 29, // length
        0, 0, 0, 1, 0, 0, 0, 16, // request 1: reconfig
        255, 255, 255, 255, // nobody joins
        0, 0, 0, 1, b'2', // 2 leaves
        255, 255, 255, 255, // no whole list
        0, 0, 0, 1, 0, 0, 0, 0, // version 0x100000000
    ];
    assert_eq!(frame, expected);
}

/// A server of 3.4 does not say whether it is read-only.
#[test]
fn a_session_of_an_older_server_is_read() {
    let made = ConnectResponse {
        protocol_version: 0,
        timeout_ms: 10_000,
        session_id: 7,
        password: vec![1; 16],
        read_only: false,
    };
    let mut frame = bytes(|to| made.write(to));
    frame.pop();
    assert_eq!(ConnectResponse::read(&mut Reader::new(&frame[4..])), Ok(made));
}

/// The other end of a connection, which answers with bytes.
struct Fake(TcpStream);

impl Fake {
    async fn read(&mut self) -> Vec<u8> {
        let mut head = [0; 4];
        self.0.read_exact(&mut head).await.unwrap();
        let mut frame = vec![0; frame_length(head).unwrap()];
        self.0.read_exact(&mut frame).await.unwrap();
        frame
    }

    async fn write(&mut self, frame: &[u8]) {
        self.0.write_all(frame).await.unwrap();
    }

    async fn open(&mut self, session_id: i64) -> ConnectRequest {
        let frame = self.read().await;
        let made = ConnectResponse {
            protocol_version: 0,
            timeout_ms: 10_000,
            session_id,
            password: vec![9; 16],
            read_only: false,
        };
        self.write(&bytes(|to| made.write(to))).await;
        ConnectRequest::read(&mut Reader::new(&frame)).unwrap()
    }

    /// The next request: its head, and what follows.
    async fn request(&mut self) -> (RequestHeader, Vec<u8>) {
        let frame = self.read().await;
        (RequestHeader::read(&mut Reader::new(&frame)).unwrap(), frame[8..].to_vec())
    }

    async fn answer(&mut self, xid: i32, error: i32, data: Option<&str>) {
        let head = ReplyHeader { xid, zxid: 0x1_0000_0007, error };
        let data = data.map(|text| Data { data: Some(text.as_bytes().to_vec()) });
        let frame = bytes(|to| {
            head.write(to);
            data.iter().for_each(|data| data.write(to));
        });
        self.write(&frame).await;
    }
}

async fn listening() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// A session with a server that follows this script after the session was made.
async fn with<T, F>(
    script: impl FnOnce(Fake) -> F + Send + 'static,
    limits: Limits,
) -> (Session, tokio::task::JoinHandle<T>)
where
    F: Future<Output = T> + Send,
    T: Send + 'static,
{
    let (listener, address) = listening().await;
    let server = tokio::spawn(async move {
        let mut fake = Fake(listener.accept().await.unwrap().0);
        let asked = fake.open(7).await;
        assert_eq!((asked.session_id, asked.read_only), (0, false));
        script(fake).await
    });
    (Session::open(address, limits).await.unwrap(), server)
}

#[tokio::test]
async fn the_configuration_is_read_and_changed_in_a_session_that_logs_in() {
    let (mut session, server) = with(
        |mut fake| async move {
            let (head, body) = fake.request().await;
            assert_eq!((head.xid, head.opcode), (xid::AUTH, opcode::AUTH));
            let packet = AuthPacket::read(&mut Reader::new(&body)).unwrap();
            assert_eq!((packet.scheme.as_str(), &packet.auth[..]), ("digest", &b"super:pw"[..]));
            assert!(!format!("{packet:?}").contains("pw"), "it is in no log");
            fake.answer(xid::AUTH, 0, None).await;
            let (head, body) = fake.request().await;
            assert_eq!(head.opcode, opcode::GET_DATA);
            assert_eq!(GetDataRequest::read(&mut Reader::new(&body)).unwrap().path, CONFIG);
            // What is not asked for is passed over.
            fake.answer(xid::NOTIFICATION, 0, None).await;
            fake.answer(xid::PING, 0, None).await;
            fake.answer(head.xid, 0, Some("version=100000000")).await;
            let (head, body) = fake.request().await;
            assert_eq!(head.opcode, opcode::RECONFIG);
            let change = ReconfigRequest::read(&mut Reader::new(&body)).unwrap();
            fake.answer(head.xid, 0, Some("version=100000008")).await;
            let (head, body) = fake.request().await;
            assert_eq!((head.opcode, body.len()), (opcode::CLOSE, 0));
            fake.answer(head.xid, 0, None).await;
            change
        },
        LIMITS,
    )
    .await;
    session.log_in("super", "pw").await.unwrap();
    let before = session.config().await.unwrap();
    assert_eq!((before.value.as_str(), before.zxid), ("version=100000000", 0x1_0000_0007));
    let (joining, leaving) = (Some("server.4=a:1:2:participant;3".into()), Some("2".into()));
    let change = ReconfigRequest { joining, leaving, version: 1 << 32 };
    assert_eq!(session.reconfig(&change).await.unwrap().value, "version=100000008");
    session.close().await.unwrap();
    assert_eq!(server.await.unwrap(), change);
}

#[tokio::test]
async fn a_refusal_is_told_by_its_name() {
    for (code, refusal) in [
        (-13, Refusal::NewConfigNoQuorum),
        (-14, Refusal::ReconfigInProgress),
        (-103, Refusal::BadVersion),
        (-102, Refusal::NoAuth),
        (-6, Refusal::Unimplemented),
        (-4, Refusal::Other(-4)),
    ] {
        let (mut session, _server) = with(
            move |mut fake| async move {
                let (head, _) = fake.request().await;
                fake.answer(head.xid, code, None).await;
                fake
            },
            LIMITS,
        )
        .await;
        let change = ReconfigRequest { joining: None, leaving: Some("2".into()), version: 1 };
        match session.reconfig(&change).await {
            Err(Error::Refused(found)) => assert_eq!(found, refusal),
            other => panic!("{other:?}"),
        }
    }
}

/// The leader that is taken out closes the connection, although it was done.
#[tokio::test]
async fn a_connection_that_ends_before_the_answer_is_no_refusal() {
    let (mut session, _server) =
        with(|mut fake| async move { drop(fake.request().await) }, LIMITS).await;
    let change = ReconfigRequest { joining: None, leaving: Some("1".into()), version: 1 };
    assert!(matches!(session.reconfig(&change).await, Err(Error::Io { .. })));
}

#[tokio::test]
async fn an_answer_to_something_else_and_a_frame_that_is_too_long_are_errors() {
    let (mut session, _server) = with(
        |mut fake| async move {
            fake.request().await;
            fake.answer(99, 0, None).await;
            fake
        },
        LIMITS,
    )
    .await;
    assert!(matches!(session.sync().await, Err(Error::OtherAnswer { asked: 1, answered: 99 })));
    let (mut session, _server) = with(
        |mut fake| async move {
            fake.request().await;
            let length = i32::try_from(MOST_FRAME + 1).unwrap();
            fake.write(&length.to_be_bytes()).await;
            fake
        },
        LIMITS,
    )
    .await;
    assert!(matches!(session.config().await, Err(Error::Malformed(Malformed::Length))));
}

#[tokio::test]
async fn a_server_that_serves_nobody_makes_no_session() {
    let (listener, address) = listening().await;
    let server = tokio::spawn(async move {
        let mut fake = Fake(listener.accept().await.unwrap().0);
        fake.open(0).await;
        // The next one is closed without a word.
        drop(listener.accept().await.unwrap());
    });
    assert!(matches!(Session::open(address, LIMITS).await, Err(Error::NoSession)));
    assert!(matches!(Session::open(address, LIMITS).await, Err(Error::Io { .. })));
    server.await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_silent_is_not_waited_for() {
    let (listener, address) = listening().await;
    assert!(matches!(Session::open(address, SHORT).await, Err(Error::Late { .. })));
    drop(listener);
    let (mut session, server) =
        with(|mut fake| async move { (fake.request().await, fake) }, SHORT).await;
    assert!(matches!(session.config().await, Err(Error::Late { .. })));
    server.await.unwrap();
}

#[tokio::test]
async fn a_word_of_four_letters_is_answered_by_a_text() {
    let (listener, address) = listening().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut word = [0; 4];
        stream.read_exact(&mut word).await.unwrap();
        stream.write_all(b"imok").await.unwrap();
        word
    });
    let answer = four_letter::ask(address, Command::Ruok, LIMITS.answer).await.unwrap();
    assert_eq!(answer, four_letter::I_AM_OK);
    assert_eq!(&server.await.unwrap(), b"ruok");
    assert!(matches!(
        four_letter::ask(address, Command::Srvr, LIMITS.answer).await,
        Err(Error::Io { .. })
    ));
}
