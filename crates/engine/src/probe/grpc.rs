//! The gRPC health protocol (grpc.health.v1.Health/Check), without TLS. Two
//! fields of two messages: written by hand, it needs no code generator.

use super::answer::Answer;
use crate::words::{BadGrpc, Probed};
use ::http::{HeaderMap, Request};
use bytes::{Bytes, BytesMut};
use h2::RecvStream;
use tokio::net::TcpStream;

/// `ServingStatus.SERVING`.
const SERVING: u64 = 1;
/// Longest answer that is read; a health answer has two bytes.
const LONGEST: usize = 4096;

/// Ask about a service; SERVING passes.
pub async fn ask(address: &str, port: u16, service: &str) -> Answer {
    match check(address, port, service).await {
        Ok(SERVING) => Answer::Good,
        Ok(number) => Answer::Bad(match word(number) {
            Some(status) => Probed::GrpcStatus { status },
            None => Probed::GrpcStatusUnknown { number },
        }),
        Err(why) => Answer::Bad(Probed::GrpcFailed { why }),
    }
}

fn word(status: u64) -> Option<&'static str> {
    match status {
        0 => Some("UNKNOWN"),
        1 => Some("SERVING"),
        2 => Some("NOT_SERVING"),
        3 => Some("SERVICE_UNKNOWN"),
        _ => None,
    }
}

async fn check(address: &str, port: u16, service: &str) -> Result<u64, String> {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let stream = TcpStream::connect((address, port)).await.map_err(|e| text(&e))?;
    let (client, connection) = h2::client::handshake(stream).await.map_err(|e| text(&e))?;
    // The connection moves bytes; it ends with this question.
    let driver = tokio::spawn(connection);
    let answer = async {
        let mut client = client.ready().await.map_err(|e| text(&e))?;
        let request = Request::post(format!("http://{address}:{port}/grpc.health.v1.Health/Check"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .map_err(|e| text(&e))?;
        let (answer, mut body) = client.send_request(request, false).map_err(|e| text(&e))?;
        body.send_data(question(service), true).map_err(|e| text(&e))?;
        let answer = answer.await.map_err(|e| text(&e))?;
        grpc_status(answer.headers())?;
        read(answer.into_body()).await
    }
    .await;
    driver.abort();
    answer
}

/// A frame with the message `{ service = 1 }`.
fn question(service: &str) -> Bytes {
    let mut message = Vec::new();
    if !service.is_empty() {
        message.push(0x0a);
        let mut length = service.len();
        while length >= 0x80 {
            message.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        message.push(length as u8);
        message.extend_from_slice(service.as_bytes());
    }
    let mut frame = vec![0];
    frame.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    frame.extend(message);
    frame.into()
}

async fn read(mut body: RecvStream) -> Result<u64, String> {
    let mut frame = BytesMut::new();
    while let Some(part) = body.data().await {
        let part = part.map_err(|e| e.to_string())?;
        let _ = body.flow_control().release_capacity(part.len());
        frame.extend_from_slice(&part);
        if frame.len() > LONGEST {
            return Err(BadGrpc::TooLong.to_string());
        }
    }
    if let Some(trailers) = body.trailers().await.map_err(|e| e.to_string())? {
        grpc_status(&trailers)?;
    }
    status(&frame)
}

/// The message `{ status = 1 }` in a frame; an absent field is 0.
fn status(frame: &[u8]) -> Result<u64, String> {
    let message = frame.get(5..).ok_or_else(|| BadGrpc::Empty.to_string())?;
    match message {
        [] => Ok(0),
        [0x08, value, ..] if *value < 0x80 => Ok((*value).into()),
        _ => Err(BadGrpc::NotHealth.to_string()),
    }
}

fn grpc_status(headers: &HeaderMap) -> Result<(), String> {
    let code = headers.get("grpc-status").and_then(|v| v.to_str().ok());
    match code {
        None | Some("0") => Ok(()),
        Some(code) => {
            let message = headers.get("grpc-message").and_then(|v| v.to_str().ok());
            let (code, message) = (code.to_string(), message.unwrap_or_default().to_string());
            let status = BadGrpc::Status { code, message }.to_string();
            Err(status.trim_end_matches([':', ' ']).to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_protocol() {
        assert_eq!(&question("")[..], [0, 0, 0, 0, 0]);
        assert_eq!(&question("ab")[..], [0, 0, 0, 0, 4, 0x0a, 2, b'a', b'b']);
        assert_eq!(question(&"x".repeat(200))[5..8], [0x0a, 0xc8, 0x01]);
        assert_eq!(status(&[0, 0, 0, 0, 2, 8, 1]), Ok(1));
        assert_eq!(status(&[0, 0, 0, 0, 0]), Ok(0));
        assert!(status(&[0, 0]).is_err());
    }
}
