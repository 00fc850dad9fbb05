//! The fake server's native protocol: it describes its schema, page by page, and changes it; it
//! says which tables have rows.

use super::fake_server::told;
use serde_json::json;
use std::fs;
use std::path::Path;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A file of this name has the port on which it speaks CQL. Without it, it does not.
pub const CQL: &str = "cql-port";
/// The statements of its schema at first, one a page.
pub const SCHEMA: [&str; 2] = [
    "CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': '1'}  AND durable_writes = true;",
    "CREATE TABLE shop.users (\n    id int PRIMARY KEY,\n    name text\n) WITH ID = 5f3c2b1a-0000-4000-8000-000000000abc\n    AND gc_grace_seconds = 864000;",
];
/// Its schema as it is now: a file with a list of statements.
const STATEMENTS: &str = "schema.json";
/// A file of this name has the tables that have rows, a line each.
pub const ROWS: &str = "tables-with-rows";
/// While a file of this name is there, statements that have its first line in them are refused
/// with its second, and the number of the error that may be in its third.
pub const REFUSED: &str = "refused-cql";

/// A file of this name has which tables were truncated, and when.
const TRUNCATED: &str = "truncated.json";

const ALL: u16 = 5;
const INVALID: i32 = 0x2200;
const EXISTS: i32 = 0x2400;

/// Its statements.
pub fn schema() -> Vec<String> {
    match fs::read_to_string(STATEMENTS) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(_) => SCHEMA.map(str::to_string).into(),
    }
}

fn save(schema: &[String]) {
    fs::write(STATEMENTS, json!(schema).to_string()).unwrap();
}

/// The tables of the schema, as `keyspace.table`.
pub fn tables() -> Vec<String> {
    let name = |text: &String| {
        let rest = plain(text).strip_prefix("CREATE TABLE ")?.to_string();
        let rest = rest.strip_prefix("IF NOT EXISTS ").unwrap_or(&rest);
        Some(rest.split([' ', '(']).next()?.to_string())
    };
    schema().iter().filter_map(name).collect()
}

/// The ID of a table: as it was created with, or one that it has chosen.
pub fn id(table: &str) -> String {
    let begins = format!("CREATE TABLE {table} ");
    let create = schema().into_iter().find(|text| plain(text).starts_with(&begins)).unwrap();
    let id = create.split_once("WITH ID = ").map(|(_, rest)| rest[..36].to_string());
    id.unwrap_or_else(|| "5f3c2b1a-0000-4000-8000-000000000def".to_string())
}

/// A server has the data directories of all its tables.
pub fn make_directories(data: &Path) {
    for table in tables() {
        let (keyspace, name) = table.split_once('.').unwrap();
        let folder = data.join(keyspace).join(format!("{name}-{}", id(&table).replace('-', "")));
        fs::create_dir_all(folder).unwrap();
    }
}

/// Without quotes around names, in one line.
fn plain(text: &str) -> String {
    text.replace('"', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Speak CQL, where it is to.
pub async fn serve() {
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
    let rest = &body[4 + size..];
    if statement == "DESCRIBE SCHEMA WITH INTERNALS" {
        assert_eq!(rest[2] & 0x04, 0x04, "a page has a size");
        let page = if rest[2] & 0x08 == 0 { 0 } else { rest[rest.len() - 1] };
        return (0x08, described(usize::from(page)));
    }
    let plain = plain(statement);
    if plain == "SELECT JSON schema_version, truncated_at FROM system.local" {
        let truncated = fs::read_to_string(TRUNCATED).unwrap_or_else(|_| "null".into());
        let row = format!(r#"{{"schema_version": "s1", "truncated_at": {truncated}}}"#);
        return (0x08, rows_of(&["[json]"], &[[row.as_str()]], None));
    }
    if plain == "SELECT JSON keyspace_name, id FROM system_schema.tables" {
        let own = r#"{"keyspace_name": "system", "id": "own"}"#;
        let other = r#"{"keyspace_name": "shop", "id": "t"}"#;
        return (0x08, rows_of(&["[json]"], &[[own], [other]], None));
    }
    if let Some(of) = plain.strip_prefix("SELECT JSON id FROM system_schema.tables WHERE ") {
        let quoted: Vec<&str> = of.split('\'').collect();
        let table = format!("{}.{}", quoted[1], quoted[3]);
        let rows: Vec<String> = tables()
            .into_iter()
            .filter(|known| *known == table)
            .map(|known| json!({ "id": id(&known) }).to_string())
            .collect();
        let rows: Vec<[&str; 1]> = rows.iter().map(|row| [row.as_str()]).collect();
        return (0x08, rows_of(&["[json]"], &rows, None));
    }
    if let Some(of) = plain.strip_prefix("SELECT JSON * FROM ") {
        let table = of.strip_suffix(" LIMIT 1").unwrap();
        assert_eq!(u16::from_be_bytes([rest[0], rest[1]]), ALL, "a row may be on one replica");
        if let Some(refusal) = refusal(&plain) {
            return refusal;
        }
        let has_rows = fs::read_to_string(ROWS).unwrap_or_default().lines().any(|t| t == table);
        let rows: &[[&str; 1]] = if has_rows { &[["{}"]] } else { &[] };
        return (0x08, rows_of(&["[json]"], rows, None));
    }
    told(&format!("cql {plain}"));
    refusal(&plain).unwrap_or_else(|| change(statement, &plain))
}

fn refusal(plain: &str) -> Option<(u8, Vec<u8>)> {
    let refused = fs::read_to_string(REFUSED).unwrap_or_default();
    let lines: Vec<&str> = refused.lines().collect();
    let [part, words, rest @ ..] = &lines[..] else { return None };
    let code = rest.first().map_or(INVALID, |code| code.parse().unwrap());
    plain.contains(part).then(|| error(code, words))
}

fn error(code: i32, words: &str) -> (u8, Vec<u8>) {
    let mut error = code.to_be_bytes().to_vec();
    string(&mut error, words);
    (0x00, error)
}

fn change(statement: &str, plain: &str) -> (u8, Vec<u8>) {
    let mut schema = schema();
    let is_void = (0x08, vec![0, 0, 0, 1]);
    if plain.starts_with("CREATE ") {
        let new = format!("{};", statement.trim_end_matches(';'));
        let name = |text: &str| text.split([' ', '(']).take(3).collect::<Vec<_>>().join(" ");
        if schema.iter().any(|old| name(&self::plain(old)) == name(plain)) {
            return error(EXISTS, "it exists already");
        }
        schema.push(new);
    } else if let Some(rest) = plain.strip_prefix("ALTER TABLE ") {
        let (table, what) = rest.split_once(' ').unwrap();
        let Some(own) = schema
            .iter_mut()
            .find(|old| self::plain(old).starts_with(&format!("CREATE TABLE {table} ")))
        else {
            return error(INVALID, "there is no such table");
        };
        match what.trim_end_matches(';').strip_prefix("WITH gc_grace_seconds = ") {
            Some(seconds) => *own = with_grace(own, seconds),
            None => own.push_str(&format!("\nALTER TABLE {table} {what};")),
        }
    } else if !plain.starts_with("TRUNCATE ") {
        return error(0x2000, "no");
    }
    save(&schema);
    if let Some(data) = super::fake_load::data() {
        make_directories(data);
    }
    is_void
}

fn with_grace(create: &str, seconds: &str) -> String {
    const NAME: &str = "gc_grace_seconds = ";
    let Some((before, after)) = create.split_once(NAME) else {
        return format!("{} AND {NAME}{seconds};", create.trim_end_matches(';'));
    };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{before}{NAME}{seconds}{rest}")
}

fn string(body: &mut Vec<u8>, text: &str) {
    body.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
    body.extend(text.as_bytes());
}

/// A page has one statement, and names the next one, if there is one.
fn described(page: usize) -> Vec<u8> {
    let schema = schema();
    let next = (page + 1 < schema.len()).then(|| u8::try_from(page + 1).unwrap());
    let columns = ["keyspace_name", "type", "name", "create_statement"];
    rows_of(&columns, &[["shop", "table", "users", &schema[page]]], next)
}

fn rows_of<const COLUMNS: usize>(
    columns: &[&str; COLUMNS],
    rows: &[[&str; COLUMNS]],
    next: Option<u8>,
) -> Vec<u8> {
    let mut body = Vec::new();
    let int = |body: &mut Vec<u8>, number: usize| {
        body.extend(i32::try_from(number).unwrap().to_be_bytes());
    };
    [2, if next.is_some() { 1 | 2 } else { 1 }, COLUMNS]
        .into_iter()
        .for_each(|n| int(&mut body, n));
    if let Some(next) = next {
        int(&mut body, 1);
        body.push(next);
    }
    ["system", "describe"].into_iter().for_each(|name| string(&mut body, name));
    for name in columns {
        string(&mut body, name);
        body.extend(13_u16.to_be_bytes());
    }
    int(&mut body, rows.len());
    for cell in rows.iter().flatten() {
        int(&mut body, cell.len());
        body.extend(cell.as_bytes());
    }
    body
}
