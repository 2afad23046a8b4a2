use std::sync::mpsc::{Receiver, channel};

use super::*;

fn server(client: ClientProcess) -> (Server, Receiver<Report>) {
    let (send, reports) = channel();
    let send = std::sync::Mutex::new(send);
    let server = Server::start("s3cret".into(), client, move |report| {
        send.lock().unwrap().send(report).is_ok()
    });
    (server.unwrap(), reports)
}

fn request(server: &Server, secret: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let head = format!(
        "POST /hook HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {secret}\r\nContent-Length: {}\r\n\r\n",
        server.address(),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn an_event_is_heard_and_answered() {
    let (server, reports) = server(ClientProcess::default());
    let stream = request(&server, "s3cret", r#"{"hook_event_name":"Stop","session_id":"a"}"#);
    let Report::Call(call) = reports.recv().unwrap() else { panic!("a call") };
    assert_eq!((call.event.name.as_str(), call.id, call.knows_secret), ("Stop", 1, true));
    assert!(call.answer.send(&Reply::Nothing));
    let text = answer(stream);
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\n{}"), "{text}");
}

#[test]
fn whoever_does_not_know_the_secret_is_known_as_such() {
    let (server, reports) = server(ClientProcess::default());
    for secret in ["", "s3cre", "s3creT"] {
        let stream = request(&server, secret, "{}");
        let Report::Call(call) = reports.recv().unwrap() else { panic!("a call") };
        assert!(!call.knows_secret);
        call.answer.refuse();
        let text = answer(stream);
        assert!(text.starts_with("HTTP/1.1 401 "), "{text}");
    }
    let mut elsewhere = TcpStream::connect(server.address()).unwrap();
    elsewhere
        .write_all(b"POST / HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer s3cret\r\nContent-Length: 2\r\n\r\n{}")
        .unwrap();
    assert!(answer(elsewhere).starts_with("HTTP/1.1 401 "));
    assert!(matches!(reports.recv().unwrap(), Report::Stranger));
}

#[test]
fn who_does_not_wait_for_the_answer_is_told_of() {
    let (server, reports) = server(ClientProcess::default());
    let stream = request(&server, "s3cret", r#"{"hook_event_name":"Stop"}"#);
    let Report::Call(call) = reports.recv().unwrap() else { panic!("a call") };
    drop(stream);
    assert!(matches!(reports.recv().unwrap(), Report::GivenUp(id) if id == call.id));
}

/// An agent could otherwise prevent every review.
#[test]
#[cfg(target_os = "linux")]
fn whoever_keeps_all_connections_open_keeps_nothing_of_the_clients_out() {
    let me = nix::unistd::Pid::this();
    for (client, report) in [(None, "Crowded"), (Some(nix::unistd::Pid::parent()), "Stranger")] {
        let (server, reports) = server(client.map_or_else(ClientProcess::default, Into::into));
        let silent = || TcpStream::connect(server.address()).unwrap();
        let _crowd: Vec<_> = (0..MOST).map(|_| silent()).collect();
        let turned_away = request(&server, "s3cret", "{}");
        assert!(answer(turned_away).starts_with("HTTP/1.1 503 "));
        assert!(format!("{:?}", reports.recv().unwrap()).starts_with(report));
    }
    let (server, reports) = server(me.into());
    let _crowd: Vec<_> = (0..MOST).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    let stream = request(&server, "s3cret", r#"{"session_id":"s"}"#);
    let Report::Call(call) = reports.recv().unwrap() else { panic!("a call") };
    call.answer.send(&Reply::Nothing);
    assert!(answer(stream).starts_with("HTTP/1.1 200 "));
}

#[test]
fn what_is_too_long_or_no_request_is_refused() {
    let (server, reports) = server(ClientProcess::default());
    for (request, status) in [
        (
            "GET / HTTP/1.1\r\nHost: ADDRESS\r\nAuthorization: Bearer s3cret\r\n\r\n".to_owned(),
            "400",
        ),
        ("POST / HTTP/1.1\r\nHost: ADDRESS\r\nContent-Length: 2000000\r\n\r\n".to_owned(), "413"),
        ("nonsense\r\n\r\n".to_owned(), "400"),
    ] {
        let request = request.replace("ADDRESS", &server.address().to_string());
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let text = answer(stream);
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {text}");
    }
    assert!(reports.try_recv().is_err());
}

#[test]
fn an_event_of_the_clients_that_cannot_be_read_is_reported_by_its_name() {
    let (server, reports) = server(ClientProcess::default());
    for body in ["3\r\n\r\nno{", "99999999999\r\n\r\n", "9\r\n\r\n{}", "many\r\n\r\n"] {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let head = format!("Host: {}\r\nAuthorization: Bearer s3cret", server.address());
        let request = format!("POST /Stop HTTP/1.1\r\n{head}\r\nContent-Length: {body}");
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let call = reports.iter().find_map(|report| match report {
            Report::Call(call) => Some(call),
            _ => None,
        });
        let call = call.unwrap();
        assert!(call.event.is_unread && call.event.name == "Stop", "{body}");
        call.answer.send(&Reply::Tell("Not reviewed.".into()));
        assert!(answer(stream).contains("Not reviewed."), "{body}");
    }
}

#[test]
fn a_connection_that_the_system_does_not_open_is_told() {
    // Accepting from it fails at once, as it does for a process that may open no more files.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let (send, reports) = channel();
    let _server = Server::on(listener, String::new(), ClientProcess::default(), move |report| {
        send.send(report).is_ok()
    })
    .unwrap();
    assert!(matches!(reports.recv().unwrap(), Report::Missed(_)));
}
