//! The server that the client's hooks report to: an address on loopback, for the lifetime of the
//! session. Every request must carry the session's secret or be known to come from the client, and its
//! size and duration are bounded. The client waits as long as a request is unanswered; if it stops
//! waiting, the session is told.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::hooks::HookEvent;
use super::origin::{ClientProcess, Origin};
use crate::hook::reply::{Form, Reply};
use crate::threads::named;

/// Far more than an event needs: one with a long answer of the agent has some kilobytes.
const MAX_BODY: usize = 16 << 20;
const MAX_HEAD: usize = 32 << 10;
const MAX_HEADERS: usize = 64;
/// The limit for a body whose sender has not shown the secret: it may come from anyone.
const MAX_UNPROVEN: usize = 1 << 20;
/// How long a request may take to arrive: the client has all of it ready when it connects.
const TO_SEND: Duration = Duration::from_secs(5);
/// How many connections may be open at the same time. Those of the client itself are always served: an
/// agent that keeps all others open must not prevent a review.
const MOST: usize = 64;

/// What the server tells the session.
#[derive(Debug)]
pub enum Report {
    /// An event whose answer the client waits for.
    Call(Box<Call>),
    /// The client no longer waits for the answer to the call with this number.
    GivenUp(u64),
    /// Somebody addressed the server by another host name, or kept too many connections open.
    Stranger,
    /// Too many connections at once: one was turned away, and it may have been the client's.
    Crowded,
}

#[derive(Debug)]
pub struct Call {
    pub id: u64,
    pub event: HookEvent,
    pub from: SocketAddr,
    pub knows_secret: bool,
    pub answer: Answer,
}

/// The connection on which the client waits for its answer.
#[derive(Debug)]
pub struct Answer {
    stream: TcpStream,
    answered: Arc<AtomicBool>,
}

impl Answer {
    /// Returns whether the client was still there to take the answer.
    pub fn send(self, reply: &Reply) -> bool {
        let body = reply.body(Form::Context).unwrap_or_else(|| "{}".to_owned());
        self.respond("200 OK", body.as_bytes())
    }

    /// Rejects a request that did not come from the client.
    pub fn refuse(self) {
        self.respond(Problem::Unauthorized.status(), b"");
    }

    fn respond(self, status: &str, body: &[u8]) -> bool {
        self.answered.store(true, Ordering::SeqCst);
        let sent = respond(&self.stream, status, body).is_ok();
        // The thread that waits for the end of the connection need not wait until the client closes it.
        let _ = self.stream.shutdown(Shutdown::Both);
        sent
    }
}

#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
}

impl Server {
    pub fn start(
        secret: String,
        client: ClientProcess,
        on_report: impl Fn(Report) -> bool + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            secret,
            address,
            on_report: Box::new(on_report),
            calls: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        });
        named("hooks", move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                let crowded = shared.open.fetch_add(1, Ordering::SeqCst) >= MOST;
                let from = crowded.then(|| stream.peer_addr().ok()).flatten();
                let from = from.map(|from| client.opened(from, address));
                if crowded && from != Some(Origin::Client) {
                    shared.open.fetch_sub(1, Ordering::SeqCst);
                    let _ = respond(&stream, "503 Service Unavailable", b"");
                    let is_others = matches!(from, Some(Origin::Other | Origin::Gone));
                    (shared.on_report)(if is_others { Report::Stranger } else { Report::Crowded });
                    continue;
                }
                let serving = Arc::clone(&shared);
                let started = named("hook", move || {
                    serving.serve(&stream);
                    serving.open.fetch_sub(1, Ordering::SeqCst);
                });
                if let Err(error) = started {
                    log::warn!("a report of a hook was missed: {error}");
                    shared.open.fetch_sub(1, Ordering::SeqCst);
                    (shared.on_report)(Report::Crowded);
                }
            }
        })?;
        Ok(Self { address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

struct Shared {
    secret: String,
    address: SocketAddr,
    on_report: Box<dyn Fn(Report) -> bool + Send + Sync>,
    calls: AtomicUsize,
    open: AtomicUsize,
}

impl Shared {
    fn serve(&self, stream: &TcpStream) {
        let Request { path, body, knows_secret } = match self.request(stream) {
            Ok(request) => request,
            Err(problem) => {
                if problem == Problem::Unauthorized {
                    (self.on_report)(Report::Stranger);
                }
                let _ = respond(stream, problem.status(), b"");
                return;
            }
        };
        let (Ok(from), Ok(answer)) = (stream.peer_addr(), stream.try_clone()) else { return };
        let event = HookEvent::read(&path, body.as_deref());
        let id = self.calls.fetch_add(1, Ordering::SeqCst) as u64 + 1;
        let answered = Arc::new(AtomicBool::new(false));
        let answer = Answer { stream: answer, answered: Arc::clone(&answered) };
        if !(self.on_report)(Report::Call(Box::new(Call { id, event, from, knows_secret, answer })))
        {
            return;
        }
        // The client sends nothing more; this waits until it or we close the connection.
        let _ = stream.set_read_timeout(None);
        let mut rest = [0; 64];
        while matches!((&*stream).read(&mut rest), Ok(1..)) {}
        if !answered.load(Ordering::SeqCst) {
            (self.on_report)(Report::GivenUp(id));
        }
    }

    fn request(&self, stream: &TcpStream) -> Result<Request, Problem> {
        if !stream.peer_addr().is_ok_and(|peer| peer.ip().is_loopback()) {
            return Err(Problem::Unauthorized);
        }
        let _ = stream.set_read_timeout(Some(TO_SEND));
        let _ = stream.set_write_timeout(Some(TO_SEND));
        let began = Instant::now();
        let mut bytes = Vec::new();
        let Head { length: head, path, body, knows_secret } = loop {
            if let Some(found) = self.head(&bytes)? {
                break found;
            }
            if bytes.len() > MAX_HEAD {
                return Err(Problem::TooLong);
            }
            more(stream, &mut bytes, began)?;
        };
        let whole = body.and_then(|body| {
            while bytes.len() < head + body {
                more(stream, &mut bytes, began)?;
            }
            bytes.truncate(head + body);
            Ok(bytes.split_off(head))
        });
        match whole {
            Err(problem) if !knows_secret => Err(problem),
            whole => Ok(Request { path, body: whole.ok(), knows_secret }),
        }
    }

    /// The head of a request; `None` until it is complete.
    fn head(&self, bytes: &[u8]) -> Result<Option<Head>, Problem> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let head = match request.parse(bytes) {
            Ok(httparse::Status::Complete(head)) => head,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Problem::Bad),
        };
        let value = |name: &str| {
            let header =
                request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            header.and_then(|header| std::str::from_utf8(header.value).ok()).map(str::trim)
        };
        // A web page in a browser could be made to address this server by another host name.
        if value("host").is_none_or(|host| host != self.address.to_string()) {
            return Err(Problem::Unauthorized);
        }
        let secret = value("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let knows_secret =
            secret.is_some_and(|secret| same(secret.as_bytes(), self.secret.as_bytes()));
        if request.method != Some("POST") || value("transfer-encoding").is_some() {
            return Err(Problem::Bad);
        }
        let length = value("content-length").and_then(|length| length.parse::<usize>().ok());
        let most = if knows_secret { MAX_BODY } else { MAX_UNPROVEN };
        let body = match length {
            None => Err(Problem::Bad),
            Some(length) if length > most => Err(Problem::TooLong),
            Some(length) => Ok(length),
        };
        let path = request.path.unwrap_or_default().to_owned();
        Ok(Some(Head { length: head, path, body, knows_secret }))
    }
}

/// The facts from the head of a request.
struct Head {
    length: usize,
    path: String,
    /// The length of the body.
    body: Result<usize, Problem>,
    knows_secret: bool,
}

struct Request {
    path: String,
    /// `None` if it came with the secret, but ccc could not take all of it.
    body: Option<Vec<u8>>,
    knows_secret: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    Unauthorized,
    TooLong,
    Bad,
}

impl Problem {
    fn status(self) -> &'static str {
        match self {
            Problem::Unauthorized => "401 Unauthorized",
            Problem::TooLong => "413 Content Too Large",
            Problem::Bad => "400 Bad Request",
        }
    }
}

fn more(mut stream: &TcpStream, bytes: &mut Vec<u8>, began: Instant) -> Result<(), Problem> {
    if began.elapsed() > TO_SEND {
        return Err(Problem::Bad);
    }
    let mut chunk = [0; 16 << 10];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Err(Problem::Bad),
            Ok(size) => {
                bytes.extend_from_slice(&chunk[..size]);
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Problem::Bad),
        }
    }
}

/// Compares in constant time, so that the time reveals nothing about the secret.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

fn respond(mut stream: &TcpStream, status: &str, body: &[u8]) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    let sent = stream.write_all(&[head.as_bytes(), body].concat());
    // Closing a connection with unread input would reset it and lose the rest of the answer.
    let _ = stream.shutdown(Shutdown::Write);
    sent
}

#[cfg(test)]
mod tests {
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
        for (client, report) in [(None, "Crowded"), (Some(nix::unistd::Pid::parent()), "Stranger")]
        {
            let (server, reports) = server(client.map_or_else(ClientProcess::default, Into::into));
            let silent = || TcpStream::connect(server.address()).unwrap();
            let _crowd: Vec<_> = (0..MOST).map(|_| silent()).collect();
            let turned_away = request(&server, "s3cret", "{}");
            assert!(answer(turned_away).starts_with("HTTP/1.1 503 "));
            assert!(format!("{:?}", reports.recv().unwrap()).starts_with(report));
        }
        let (server, reports) = server(me.into());
        let _crowd: Vec<_> =
            (0..MOST).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
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
                "GET / HTTP/1.1\r\nHost: ADDRESS\r\nAuthorization: Bearer s3cret\r\n\r\n"
                    .to_owned(),
                "400",
            ),
            (
                "POST / HTTP/1.1\r\nHost: ADDRESS\r\nContent-Length: 2000000\r\n\r\n".to_owned(),
                "413",
            ),
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
}
