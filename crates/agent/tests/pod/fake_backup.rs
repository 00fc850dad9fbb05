//! What of the fake server backups need: snapshots of its files, its schema over CQL,
//! and another member of its ring.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A file of this name has the port on which it speaks CQL. Without it, it does not.
pub const CQL: &str = "cql-port";
/// A file of this name has the host ID of a second member.
pub const OTHER: &str = "other-member";
/// The statements of its schema, one a page.
pub const SCHEMA: [&str; 2] = ["CREATE KEYSPACE shop;", "CREATE TABLE shop.users (id int);"];

/// Keyspaces that are not local.
pub fn keyspaces(data: &Path) -> Vec<&'static str> {
    let shop = data.join("shop").is_dir().then_some("shop");
    ["system_auth"].into_iter().chain(shop).collect()
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// As `takeSnapshot`: links to the files of each table, and what it says of them.
pub fn take(data: &Path, arguments: &Value) -> Result<(), String> {
    let tag = arguments[0].as_str().unwrap();
    for keyspace in arguments[2].as_array().unwrap() {
        for table in below(&data.join(keyspace.as_str().unwrap())) {
            let folder = table.join("snapshots").join(tag);
            if folder.exists() {
                return Err(format!("Snapshot {tag} already exists."));
            }
            fs::create_dir_all(&folder).unwrap();
            let mut named = Vec::new();
            for file in below(&table).iter().filter(|path| path.is_file()) {
                let name = file.file_name().unwrap().to_str().unwrap();
                fs::hard_link(file, folder.join(name)).unwrap();
                named.extend(name.ends_with("-Data.db").then(|| name.to_string()));
            }
            fs::write(folder.join("manifest.json"), json!({ "files": named }).to_string()).unwrap();
            fs::write(folder.join("schema.cql"), "CREATE TABLE").unwrap();
        }
    }
    Ok(())
}

/// As `clearSnapshot` of all keyspaces.
pub fn clear(data: &Path, arguments: &Value) {
    let tag = arguments[0].as_str().unwrap();
    assert!(!tag.is_empty(), "that clears all there are");
    for table in below(data).iter().flat_map(|keyspace| below(keyspace)) {
        let _ = fs::remove_dir_all(table.join("snapshots").join(tag));
    }
}

/// Speak CQL, where it is to.
pub async fn serve_cql() {
    let Ok(port) = fs::read_to_string(CQL) else { return };
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(connection(stream));
    }
}

async fn connection(mut stream: TcpStream) {
    let mut header = [0; 9];
    while stream.read_exact(&mut header).await.is_ok() {
        let size = u32::from_be_bytes(header[5..9].try_into().unwrap());
        let mut body = vec![0; size as usize];
        stream.read_exact(&mut body).await.unwrap();
        let (opcode, answer) = answer(header[4], &body);
        let mut frame = vec![0x84, 0, 0, 0, opcode];
        frame.extend((answer.len() as u32).to_be_bytes());
        frame.extend(answer);
        stream.write_all(&frame).await.unwrap();
    }
}

fn answer(opcode: u8, body: &[u8]) -> (u8, Vec<u8>) {
    // STARTUP is answered by READY.
    if opcode == 0x01 {
        return (0x02, Vec::new());
    }
    let size = u32::from_be_bytes(body[..4].try_into().unwrap()) as usize;
    let statement = std::str::from_utf8(&body[4..4 + size]).unwrap();
    if statement != "DESCRIBE SCHEMA WITH INTERNALS" {
        let mut error = 0x2000_i32.to_be_bytes().to_vec();
        error.extend([0, 2, b'n', b'o']);
        return (0x00, error);
    }
    let flags = body[4 + size + 2];
    assert_eq!(flags & 0x04, 0x04, "a page has a size");
    (0x08, page(flags & 0x08 != 0))
}

/// The first page names the next one, which is the last.
fn page(is_second: bool) -> Vec<u8> {
    let mut body = Vec::new();
    let int = |body: &mut Vec<u8>, number: i32| body.extend(number.to_be_bytes());
    let text = |body: &mut Vec<u8>, text: &str| {
        body.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
        body.extend(text.as_bytes());
    };
    let flags = if is_second { 1 } else { 1 | 2 };
    [2, flags, 4].into_iter().for_each(|number| int(&mut body, number));
    if !is_second {
        int(&mut body, 1);
        body.push(b'x');
    }
    ["system", "describe"].into_iter().for_each(|name| text(&mut body, name));
    for name in ["keyspace_name", "type", "name", "create_statement"] {
        text(&mut body, name);
        body.extend(13_u16.to_be_bytes());
    }
    int(&mut body, 1);
    for cell in ["shop", "table", "users", SCHEMA[usize::from(is_second)]] {
        int(&mut body, i32::try_from(cell.len()).unwrap());
        body.extend(cell.as_bytes());
    }
    body
}
