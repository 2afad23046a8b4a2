//! A scripted Messages API on loopback, so that the real client runs with no key and no network.
//!
//! Owns the listener, its threads, the rules and the record of what was asked. The first rule that
//! fits a request answers it; with none, the answer is "ok.". It never listens beyond 127.0.0.1.
//!
//! ```ignore
//! let gate = Gate::new();
//! let api = Api::start(vec![
//!     Rule::on("list the files").tool("Bash", json!({"command": "ls"})).times(1),
//!     Rule::on("hello").gate(&gate).text("Hi."),
//!     Rule::any().status(400, "invalid_request_error", "Credit balance is too low"),
//! ]);
//! ```

// Each test binary uses its own part of this.
#![allow(dead_code, unused_imports)]

// Explicit paths, so that it makes no difference whether this file comes in by `mod` or `#[path]`.
#[path = "api/gate.rs"]
mod gate;
#[path = "api/http.rs"]
mod http;
#[path = "api/prefix.rs"]
pub mod prefix;
#[path = "api/request.rs"]
mod request;
#[path = "api/rule.rs"]
mod rule;

pub use gate::Gate;
pub use request::Request;
pub use rule::Rule;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

/// The running API. Dropping it opens every gate, closes every connection and joins every thread.
pub struct Api {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl Api {
    /// Listens on a free port of 127.0.0.1 and answers by `rules`.
    #[must_use]
    pub fn start(rules: Vec<Rule>) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on loopback");
        let address = listener.local_addr().expect("the listener's address");
        let shared = Arc::new(Shared::default());
        shared.script().rules = rules;
        let for_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("scripted-api".into())
            .spawn(move || listen(&listener, &for_thread))
            .expect("start the listener's thread");
        Self { address, shared, listener: Some(thread) }
    }

    /// What `ANTHROPIC_BASE_URL` should be.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Puts a rule in front of all others: for answers that depend on what the test saw so far.
    pub fn prepend(&self, rule: Rule) {
        self.shared.script().rules.insert(0, rule);
    }

    /// Every `/v1/messages` request so far, those still waiting for an answer included.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.script().requests.clone()
    }

    /// Waits until `reached` holds for the requests so far, and returns them.
    ///
    /// # Panics
    /// After `timeout`, with a summary of every request.
    #[track_caller]
    pub fn wait_for(
        &self,
        reached: impl Fn(&[Request]) -> bool,
        timeout: Duration,
    ) -> Vec<Request> {
        let (script, wait) = self
            .shared
            .arrived
            .wait_timeout_while(self.shared.script(), timeout, |script| !reached(&script.requests))
            .unwrap_or_else(PoisonError::into_inner);
        let requests = script.requests.clone();
        drop(script);
        assert!(
            !wait.timed_out(),
            "the requests did not get there within {timeout:?}; {}",
            summary(&requests)
        );
        requests
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        {
            let mut connections = self.shared.connections();
            connections.stopped = true;
            for stream in connections.open.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        for rule in &self.shared.script().rules {
            rule.open_gates();
        }
        // The listener looks at `stopped` only when somebody knocks.
        let _ = TcpStream::connect(self.address);
        let ended = self.listener.take().map(JoinHandle::join);
        assert!(
            !matches!(ended, Some(Err(_))) || thread::panicking(),
            "a thread of the scripted API panicked, see above"
        );
    }
}

#[derive(Default)]
struct Shared {
    script: Mutex<Script>,
    arrived: Condvar,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Script {
    rules: Vec<Rule>,
    requests: Vec<Request>,
}

#[derive(Default)]
struct Connections {
    stopped: bool,
    next: u64,
    open: HashMap<u64, TcpStream>,
}

impl Shared {
    // A failed assertion in a test's predicate poisons the lock; the data is whole all the same.
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the request and picks its answer in one step, so that `times` holds under concurrency.
    fn take(&self, request: Request) -> Rule {
        let mut script = self.script();
        let rule = script.rules.iter_mut().find_map(|rule| rule.claim(&request));
        script.requests.push(request);
        drop(script);
        self.arrived.notify_all();
        rule.unwrap_or_else(Rule::any)
    }
}

fn listen(listener: &TcpListener, shared: &Shared) {
    thread::scope(|scope| {
        for stream in listener.incoming().map_while(Result::ok) {
            let Some(connection) = Connection::register(stream, shared) else { break };
            scope.spawn(move || {
                // An error here is a client that went away, which is its right.
                let _ = connection.serve();
            });
        }
    });
}

/// One client connection; closed when dropped, also by a panic in a rule's predicate.
struct Connection<'a> {
    id: u64,
    stream: TcpStream,
    shared: &'a Shared,
}

impl<'a> Connection<'a> {
    /// `None` once the API is being dropped.
    fn register(stream: TcpStream, shared: &'a Shared) -> Option<Self> {
        let mut connections = shared.connections();
        if connections.stopped {
            return None;
        }
        let id = connections.next;
        connections.next += 1;
        connections.open.insert(id, stream.try_clone().ok()?);
        Some(Self { id, stream, shared })
    }

    fn serve(&self) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        let mut reader = BufReader::new(&self.stream);
        while let Some(head) = http::read_head(&mut reader)? {
            let body = http::read_body(&mut reader, &mut &self.stream, &head)?;
            let goes_on = self.answer(&head, &body)?;
            if !goes_on || head.wants_close() {
                break;
            }
        }
        Ok(())
    }

    /// Answers one request; says whether the connection can take another.
    fn answer(&self, head: &http::Head, body: &[u8]) -> io::Result<bool> {
        let mut out = &self.stream;
        if head.method != "POST" {
            http::respond(&mut out, &head.method, 200, &json!({"data": []}))?;
            return Ok(true);
        }
        if !head.route().ends_with("/v1/messages") {
            http::respond(&mut out, "POST", 200, &json!({"input_tokens": 10}))?;
            return Ok(true);
        }
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            let error = rule::error("invalid_request_error", "the body is not JSON");
            http::respond(&mut out, "POST", 400, &error)?;
            return Ok(true);
        };
        let request = Request::new(head.headers.clone(), body);
        let (model, streamed) = (request.model().to_owned(), request.body["stream"] == true);
        let rule = self.shared.take(request);
        rule.wait_at_gate();
        if let Some((status, error)) = rule.failure() {
            http::respond(&mut out, "POST", status, &error)?;
        } else if streamed {
            http::begin_stream(&mut out)?;
            rule.stream(&model, |event| http::send_event(&mut out, event))?;
        } else {
            rule.wait_midway();
            http::respond(&mut out, "POST", 200, &rule.message(&model))?;
        }
        Ok(!streamed || rule.failure().is_some())
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        // The clone in `open` keeps the socket alive, so dropping the stream alone would not end it.
        let _ = self.stream.shutdown(Shutdown::Both);
        self.shared.connections().open.remove(&self.id);
    }
}

fn summary(requests: &[Request]) -> String {
    let mut text = format!("{} so far", requests.len());
    for (index, request) in requests.iter().enumerate() {
        let _ = write!(text, "\n--- request {index}: {}", request.summary());
    }
    text
}
