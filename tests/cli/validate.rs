//! `ccc validate` against small servers on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::room::{Done, Room};

const KEY: &str = "sk-0123456789secretabcd";
const MESSAGE: &str = r#"{"type":"message","role":"assistant","content":[]}"#;

/// A server that answers every request alike, and tells what it was asked.
struct Server {
    url: String,
    asked: Receiver<String>,
}

/// Takes the connection's request, and answers it or not.
fn serve(answer: impl Fn(&mut TcpStream, &str) + Send + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    let (send, asked) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let request = read_request(&mut stream);
            let _ = send.send(request.clone());
            answer(&mut stream, &request);
        }
    });
    Server { url, asked }
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).is_ok_and(|size| size > 2) {}
    let length = head.to_lowercase().lines().find_map(|line| {
        line.strip_prefix("content-length:").and_then(|value| value.trim().parse().ok())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    let _ = reader.read_exact(&mut body);
    head + &String::from_utf8_lossy(&body)
}

fn answers(status: u16, body: &str) -> Server {
    answers_with(status, "", body)
}

fn answers_with(status: u16, headers: &str, body: &str) -> Server {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    );
    serve(move |stream, _| {
        let _ = stream.write_all(text.as_bytes());
    })
}

/// The address of a server without TLS, which does not wait to be asked.
fn speaks_plainly() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 400 X\r\n\r\n");
            // Until the other side has read it and gone.
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    address
}

fn room(providers: Value) -> Room {
    let room = Room::new();
    room.write("home/.claude/ccc.json", json!({ "providers": providers }).to_string());
    room
}

fn provider(url: &str) -> Value {
    json!({"env": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_MODEL": "big-1"}})
}

fn validate(room: &Room, words: &[&str]) -> Done {
    let args: Vec<&str> = ["validate"].iter().chain(words).copied().collect();
    let done = room.ccc(&args).env("SET_KEY", KEY).run();
    for text in [done.out(), done.err()] {
        assert!(!text.contains("secret"), "a key got out: {text}");
    }
    done
}

/// The only row, as JSON.
fn row(room: &Room, code: i32) -> Value {
    let done = validate(room, &["--json", "--timeout", "20"]).code(code);
    let rows: Value = serde_json::from_str(&done.out()).expect("JSON");
    rows[0].clone()
}

#[track_caller]
fn expect(
    row: &Value,
    reachable: Option<bool>,
    key: Option<bool>,
    model: Option<bool>,
    detail: &str,
) {
    assert_eq!(row["reachable"], json!(reachable), "{row}");
    assert_eq!(row["key_accepted"], json!(key), "{row}");
    assert_eq!(row["model_known"], json!(model), "{row}");
    assert!(row["detail"].as_str().unwrap().contains(detail), "{row}");
}

#[test]
fn a_good_provider_gets_one_small_request() {
    let server = answers(200, MESSAGE);
    let room = room(json!({"good": provider(&format!("{}/base/", server.url))}));
    let out = validate(&room, &[]).code(0).out();
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["PROVIDER", "REACHABLE", "KEY", "MODEL", "MS", "DETAIL"]);
    assert_eq!(
        (&lines[1][..4], lines[1][5]),
        (&["good", "yes", "yes", "yes"][..], "big-1"),
        "{out}"
    );
    let request = server.asked.recv().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /base/v1/messages HTTP/1.1\r\n"), "{head}");
    let head = head.to_lowercase();
    for line in [&format!("authorization: bearer {KEY}"), "anthropic-version: 2023-06-01"] {
        assert!(head.contains(&line.to_lowercase()), "{head}");
    }
    assert!(!head.contains("x-api-key"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("big-1"), &json!(1)));
    assert!(server.asked.try_recv().is_err(), "one request only");
}

#[test]
fn the_key_goes_into_the_header_its_variable_stands_for() {
    let server = answers(200, MESSAGE);
    let room = room(json!({"good": {"env": {"ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "${SET_KEY}", "ANTHROPIC_CUSTOM_HEADERS": "X-Mine: mine"}}}));
    expect(&row(&room, 0), Some(true), Some(true), Some(true), "");
    let request = server.asked.recv().unwrap().to_lowercase();
    assert!(request.contains(&format!("x-api-key: {KEY}")), "{request}");
    assert!(request.contains("x-mine: mine") && !request.contains("authorization"), "{request}");
}

#[test]
fn what_the_endpoint_says_is_understood() {
    for (status, body, key, model, detail) in [
        (
            401,
            r#"{"error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            Some(false),
            None,
            "invalid x-api-key",
        ),
        (
            404,
            r#"{"error":{"type":"not_found_error","message":"model: big-1"}}"#,
            Some(true),
            Some(false),
            "does not know the model big-1",
        ),
        (404, "<html>", None, None, "no Messages API at this address"),
        (400, r#"{"error":{"message":"odd request"}}"#, None, None, "odd request"),
        (503, "", None, None, "503"),
        (200, "<html>", None, None, "not like the Messages API"),
    ] {
        let server = answers(status, body);
        let room = room(json!({"one": provider(&server.url)}));
        expect(&row(&room, 1), Some(true), key, model, detail);
    }
    let server = answers(429, "{}");
    expect(
        &row(&room(json!({"one": provider(&server.url)})), 0),
        Some(true),
        Some(true),
        None,
        "429",
    );
}

#[test]
fn a_server_that_quotes_the_key_is_not_repeated() {
    let server = serve(|stream, request| {
        let body = json!({"error": {"message": format!("who sent {request}? and {}", &KEY[..14])}});
        let body = body.to_string();
        let length = body.len();
        let _ = write!(stream, "HTTP/1.1 401 X\r\ncontent-length: {length}\r\n\r\n{body}");
    });
    let room = room(json!({"echo": provider(&server.url)}));
    let row = row(&room, 1);
    expect(&row, Some(true), Some(false), None, "who sent POST");
    assert!(!row.to_string().contains("0123456789"), "{row}");
    validate(&room, &[]).code(1);
}

#[test]
fn the_key_does_not_follow_a_redirect() {
    let trap = answers(200, MESSAGE);
    for status in [301, 302, 307, 308] {
        let location = format!("location: {}/v1/messages?{KEY}\r\n", trap.url);
        let server = answers_with(status, &location, "");
        let room = room(json!({"moved": provider(&server.url)}));
        expect(&row(&room, 1), Some(true), None, None, &trap.url);
    }
    assert!(trap.asked.try_recv().is_err(), "nobody came");
}

#[test]
fn an_endpoint_that_says_nothing_times_out() {
    let server = serve(|stream, _| {
        // Holds the connection until the other side gives up.
        let _ = stream.read(&mut [0]);
    });
    let room = room(json!({"slow": provider(&server.url)}));
    let out = validate(&room, &["--timeout", "0.3"]).code(1).out();
    assert!(out.contains("no answer in time"), "{out}");
}

#[test]
fn what_cannot_be_reached_says_why() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let hangs_up = serve(|_, _| {});
    for (url, detail) in [
        (format!("http://{address}"), "refused"),
        (format!("https://{}", speaks_plainly()), "TLS"),
        (hangs_up.url.clone(), "closed the connection"),
    ] {
        let room = room(json!({"one": provider(&url)}));
        expect(&row(&room, 1), Some(false), None, None, detail);
    }
}

#[test]
fn what_cannot_be_asked_says_why() {
    for (url, detail) in [
        ("not a url", "the base URL is not usable"),
        ("ftp://127.0.0.1", "the base URL is not usable"),
        ("", "ANTHROPIC_BASE_URL is not set"),
        ("${NO_SUCH}", "NO_SUCH is not set"),
    ] {
        let room = room(json!({"one": provider(url)}));
        expect(&row(&room, 1), None, None, None, detail);
    }
}

#[test]
fn settings_that_explain_a_failure_are_named() {
    let refuses = answers(401, "");
    let no_key = json!({"one": {"env": {"ANTHROPIC_BASE_URL": refuses.url}}});
    expect(&row(&room(no_key), 1), Some(true), Some(false), None, "no key is set");
    let nothing = answers(404, "");
    let with_v1 = json!({"one": provider(&format!("{}/v1", nothing.url))});
    expect(&row(&room(with_v1), 1), Some(true), None, None, "ends in /v1");
    let other = answers(400, r#"{"error":{"message":"unknown model"}}"#);
    let no_model =
        json!({"one": {"env": {"ANTHROPIC_BASE_URL": other.url, "ANTHROPIC_AUTH_TOKEN": KEY}}});
    expect(&row(&room(no_model), 1), Some(true), Some(true), Some(false), "no model is set");
}

#[test]
fn all_are_tried_at_the_same_time() {
    // Each server answers only when all of them have been asked.
    let gate = std::sync::Arc::new(std::sync::Barrier::new(3));
    let servers: Vec<Server> = (0..3)
        .map(|_| {
            let gate = gate.clone();
            serve(move |stream, _| {
                gate.wait();
                let length = MESSAGE.len();
                let _ =
                    write!(stream, "HTTP/1.1 200 X\r\ncontent-length: {length}\r\n\r\n{MESSAGE}");
            })
        })
        .collect();
    let providers: serde_json::Map<String, Value> = servers
        .iter()
        .enumerate()
        .map(|(number, server)| (format!("p{number}"), provider(&server.url)))
        .chain([("bad".to_owned(), json!({"env": {}}))])
        .collect();
    let room = room(Value::Object(providers));
    let done = validate(&room, &["--all", "--json", "--timeout", "60"]).code(1);
    let rows: Value = serde_json::from_str(&done.out()).unwrap();
    let good: Vec<_> = rows.as_array().unwrap().iter().map(|row| row["ok"].clone()).collect();
    assert_eq!(good, [true, true, true, false]);
    validate(&room, &["bad"]).code(1);
}

#[test]
fn without_providers_claude_is_asked_for_its_own_login() {
    let room = Room::new();
    for (account, code, said) in [
        (r#"{"tokenSource":"none"}"#, 1, "neither a login nor a key"),
        (
            r#"{"apiKeySource":"ANTHROPIC_API_KEY"}"#,
            0,
            "Claude has a key from ANTHROPIC_API_KEY; ccc made no request.\n",
        ),
    ] {
        room.client(&format!(
            "#!/bin/sh\nread request\necho '{{\"response\":{{\"response\":{{\"account\":{account}}}}}}}'\n"
        ));
        for args in [&[][..], &["--all"]] {
            let out = validate(&room, args).code(code).out();
            assert!(out.contains("No provider is set") && out.contains(said), "{out}");
        }
        let rows: Value =
            serde_json::from_str(&validate(&room, &["--json"]).code(code).out()).unwrap();
        assert_eq!(rows[0]["ok"], code == 0);
    }
    {
        room.client("#!/bin/sh\nexit 3\n");
        let err = validate(&room, &[]).code(1).err();
        assert!(err.contains("exited without saying"), "{err}");
    }
    validate(&room, &["none"]).code(2);
    validate(&room, &["none", "--all"]).code(2);
    validate(&room, &["--timeout", "0"]).code(2);
}
