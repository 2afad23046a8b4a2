//! The server that the client's hooks report to: an address on loopback, for the lifetime of the
//! session. Every request must carry the session's secret or be known to come from the client, and its
//! size and duration are bounded. The client waits as long as a request is unanswered; if it stops
//! waiting, the session is told.

#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
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

/// How long to wait before the next attempt when the system opens no connection.
const TRY_AGAIN: Duration = Duration::from_millis(200);

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
    /// The system did not let ccc take a connection, and it may have been the client's. The agent can bring
    /// this about: it may lower the limits of every process of the same user.
    Missed(io::Error),
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
        Self::on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, secret, client, on_report)
    }

    fn on(
        listener: TcpListener,
        secret: String,
        client: ClientProcess,
        on_report: impl Fn(Report) -> bool + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            secret,
            address,
            on_report: Box::new(on_report),
            calls: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        });
        named("hooks", move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                let stream = match stream {
                    Ok(stream) => stream,
                    // Its sender is gone already.
                    Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                    Err(error) => {
                        if !(shared.on_report)(Report::Missed(error)) {
                            return;
                        }
                        sleep(TRY_AGAIN);
                        continue;
                    }
                };
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
                    shared.open.fetch_sub(1, Ordering::SeqCst);
                    (shared.on_report)(Report::Missed(error));
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
        let Ok(from) = stream.peer_addr() else { return };
        let answer = match stream.try_clone() {
            Ok(answer) => answer,
            Err(error) => {
                (self.on_report)(Report::Missed(error));
                return;
            }
        };
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
