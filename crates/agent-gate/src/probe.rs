//! Is a service ready? It is if a GET is answered with 200, and with no other
//! code. Written by hand over a socket: it runs in images of others every few
//! seconds, and must cost nothing.

use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Longest time for each part of a question. The kubelet gives up after five seconds.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Bytes of an answer that are looked at: its first line is shorter.
const LOOKED_AT: usize = 64;

/// Ask once.
///
/// # Errors
/// Nobody answers, or with something else than 200.
pub fn http(host: &str, port: u16, path: &str) -> Result<()> {
    let asked = || format!("asking http://{host}:{port}{path}");
    let mut addresses = (host, port).to_socket_addrs().with_context(asked)?;
    let address = addresses.next().with_context(asked)?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).with_context(asked)?;
    stream.set_read_timeout(Some(TIMEOUT)).with_context(asked)?;
    stream.set_write_timeout(Some(TIMEOUT)).with_context(asked)?;
    let request = format!(
        "GET {path} HTTP/1.0\r\nHost: {host}:{port}\r\nUser-Agent: palladion-agent\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).with_context(asked)?;
    let mut first = Vec::new();
    stream.take(LOOKED_AT as u64).read_to_end(&mut first).with_context(asked)?;
    let answer = String::from_utf8_lossy(&first);
    let line = answer.lines().next().unwrap_or_default();
    match code(line) {
        Some(200) => Ok(()),
        Some(_) | None => bail!("{}: answered {line:?}", asked()),
    }
}

/// The status code of the first line of an answer.
fn code(line: &str) -> Option<u16> {
    let rest = line.strip_prefix("HTTP/1.")?;
    rest.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn answered(answer: &'static str) -> Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let server = std::thread::spawn(move || -> Result<String> {
            let (mut stream, _) = listener.accept()?;
            let mut asked = [0; 512];
            let size = stream.read(&mut asked)?;
            stream.write_all(answer.as_bytes())?;
            Ok(String::from_utf8_lossy(&asked[..size]).into_owned())
        });
        let verdict = http("127.0.0.1", port, "/status?a=b");
        let asked = server.join().expect("the server should end")?;
        assert!(asked.starts_with("GET /status?a=b HTTP/1.0\r\nHost: 127.0.0.1:"), "{asked}");
        verdict
    }

    #[test]
    fn only_200_is_ready() {
        assert!(answered("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_ok());
        assert!(answered("HTTP/1.0 200\r\n\r\n").is_ok());
        for answer in
            ["HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 302 Found\r\n\r\n", "hello\r\n", ""]
        {
            let error = answered(answer).expect_err(answer);
            assert!(error.to_string().contains("answered"), "{error}");
        }
    }

    #[test]
    fn nobody_is_not_ready() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        assert!(http("127.0.0.1", port, "/").is_err());
    }
}
