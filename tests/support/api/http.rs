//! Just enough HTTP/1.1 for the client: requests with a content-length, JSON answers, event streams.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

pub struct Head {
    pub method: String,
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Head {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The target without its query.
    pub fn route(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// `None` when the client closed the connection between two requests.
pub fn read_head(reader: &mut impl BufRead) -> io::Result<Option<Head>> {
    let Some(first) = read_line(reader)? else { return Ok(None) };
    let mut words = first.split(' ').map(str::to_owned);
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, first));
    };
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        if line.is_empty() {
            return Ok(Some(Head { method, target, headers }));
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = reader.read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

pub fn read_body(
    reader: &mut impl BufRead,
    out: &mut impl Write,
    head: &Head,
) -> io::Result<Vec<u8>> {
    assert!(
        head.header("transfer-encoding").is_none(),
        "the scripted API reads no chunked bodies: {:?}",
        head.headers
    );
    if head.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        out.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let length = match head.header("content-length") {
        Some(value) => value.parse().map_err(|_| io::ErrorKind::InvalidData)?,
        None => 0,
    };
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

/// A whole JSON answer. For HEAD, only that there is one.
pub fn respond(out: &mut impl Write, method: &str, status: u16, payload: &Value) -> io::Result<()> {
    let body = if method == "HEAD" { String::new() } else { payload.to_string() };
    let length = body.len();
    let reason = if status < 400 { "OK" } else { "Error" };
    // In one write: a client must never see a head without its body because of a shutdown.
    let answer = format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    out.write_all(answer.as_bytes())
}

/// The stream ends with the connection, as it has no length.
pub fn begin_stream(out: &mut impl Write) -> io::Result<()> {
    out.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    )
}

pub fn send_event(out: &mut impl Write, event: &Value) -> io::Result<()> {
    let kind = event["type"].as_str().unwrap_or_default();
    out.write_all(format!("event: {kind}\ndata: {event}\n\n").as_bytes())
}
