//! One tiny request to an endpoint that speaks the Messages API. Never follows a redirect, because
//! the key is meant only for the configured host.

pub mod reading;

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::json;
use ureq::Agent;
use ureq::http::{HeaderValue, Uri};
use url::Url;

use crate::config::secret;

pub use reading::{Findings, read};

/// How much of an answer is read; no error needs more.
const BODY_LIMIT: u64 = 64 * 1024;

/// An endpoint and how to ask it. All variables are resolved already.
#[derive(Default)]
pub struct Endpoint {
    pub base_url: String,
    /// Sent as `authorization: Bearer`.
    pub auth_token: Option<String>,
    /// Sent as `x-api-key`.
    pub api_key: Option<String>,
    /// More headers, which may contain secrets too.
    pub headers: Vec<(String, String)>,
    pub model: String,
}

impl Endpoint {
    /// Everything that must not appear in any output.
    pub fn secrets(&self) -> Vec<String> {
        let keys = self.auth_token.iter().chain(&self.api_key);
        let headers = self.headers.iter().map(|(_, value)| value);
        let login = secret::login(&self.base_url);
        let password = login.as_ref().and_then(|login| Some(login.split_once(':')?.1.to_owned()));
        keys.chain(headers).cloned().chain(login).chain(password).collect()
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum EndpointAnswer {
    Http { status: u16, body: String, location: Option<String> },
    Failed(Failure),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The request could not be made; the text says why.
    NotAsked(String),
    HostUnknown,
    Refused,
    Unreachable(String),
    Tls(String),
    TimedOut,
    /// It closed the connection, or speaks another protocol.
    NotHttp(String),
}

/// Where the client sends its messages: it appends `/v1/messages` to the base URL.
pub fn messages_url(base_url: &str) -> Result<Uri, String> {
    let base = base_url.trim_end_matches('/');
    let bad = |why: &str| format!("the base URL is not usable: {why}");
    if base.is_empty() {
        return Err(bad("it is empty"));
    }
    if base.contains(['?', '#']) {
        return Err(bad("it contains ? or #"));
    }
    match Url::parse(base) {
        // The parser accepts a host after any number of slashes; the client does not.
        Ok(_) if base.contains(":///") => return Err(bad("it has no host")),
        Ok(url) if ["http", "https"].contains(&url.scheme()) => {}
        Err(url::ParseError::EmptyHost) => return Err(bad("it has no host")),
        Ok(_) | Err(url::ParseError::RelativeUrlWithoutBase) => {
            return Err(bad("it must begin with https:// or http://"));
        }
        Err(_) => return Err(bad("it is not a URL")),
    }
    format!("{base}/v1/messages").parse().map_err(|_| bad("it is not a URL"))
}

pub fn ask(target: &Endpoint, timeout: Duration) -> (EndpointAnswer, Duration) {
    let start = Instant::now();
    let answer = send(target, timeout).unwrap_or_else(EndpointAnswer::Failed);
    (answer, start.elapsed())
}

fn send(target: &Endpoint, timeout: Duration) -> Result<EndpointAnswer, Failure> {
    let url = messages_url(&target.base_url).map_err(Failure::NotAsked)?;
    let agent: Agent = Agent::config_builder()
        .max_redirects(0)
        .http_status_as_error(false)
        .timeout_global(Some(timeout))
        .user_agent(concat!("ccc/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut request = agent
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json")
        .header("anthropic-version", "2023-06-01");
    for (name, value) in &target.headers {
        request = request.header(name.as_str(), header(value, name)?);
    }
    if let Some(token) = &target.auth_token {
        request = request.header("authorization", header(&format!("Bearer {token}"), "the key")?);
    }
    if let Some(key) = &target.api_key {
        request = request.header("x-api-key", header(key, "the key")?);
    }
    let body = json!({
        "model": target.model,
        "max_tokens": 1,
        "messages": [{"role": "user", "content": "hi"}],
    });
    let response = request.send(body.to_string()).map_err(|error| failure(&error))?;
    let location = response.headers().get("location").and_then(|value| value.to_str().ok());
    let (status, location) = (response.status().as_u16(), location.map(str::to_owned));
    let mut bytes = Vec::new();
    // The status is useful even if the body is incomplete.
    let _ = response.into_body().into_reader().take(BODY_LIMIT).read_to_end(&mut bytes);
    Ok(EndpointAnswer::Http {
        status,
        body: String::from_utf8_lossy(&bytes).into_owned(),
        location,
    })
}

fn header(value: &str, what: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(value).map_err(|_| {
        Failure::NotAsked(format!("{what} contains characters that an HTTP header cannot carry"))
    })
}

fn failure(error: &ureq::Error) -> Failure {
    use std::io::ErrorKind;
    use ureq::Error;
    match error {
        Error::Timeout(_) => Failure::TimedOut,
        Error::HostNotFound => Failure::HostUnknown,
        Error::Tls(why) => Failure::Tls((*why).to_owned()),
        Error::Rustls(why) => Failure::Tls(why.to_string()),
        Error::TlsRequired | Error::Pem(_) => Failure::Tls(error.to_string()),
        Error::Io(io) => match io.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Failure::TimedOut,
            ErrorKind::ConnectionRefused => Failure::Refused,
            // rustls reports a failed handshake like this.
            ErrorKind::InvalidData => Failure::Tls(io.to_string()),
            ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe => {
                Failure::NotHttp("the endpoint closed the connection".to_owned())
            }
            // The resolver's errors have no kind of their own.
            _ if io.to_string().contains("lookup") => Failure::HostUnknown,
            _ => Failure::Unreachable(io.to_string()),
        },
        Error::BadUri(_) | Error::Http(_) => {
            Failure::NotAsked("ccc cannot make a request from these settings".to_owned())
        }
        Error::InvalidProxyUrl | Error::ConnectProxyFailed(_) => {
            Failure::Unreachable("the proxy set in the environment does not work".to_owned())
        }
        Error::Protocol(why) => Failure::NotHttp(why.to_string()),
        other => Failure::NotHttp(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (base, url) in [
            ("https://h", "https://h/v1/messages"),
            ("https://h/a/", "https://h/a/v1/messages"),
            ("http://127.0.0.1:1/x", "http://127.0.0.1:1/x/v1/messages"),
        ] {
            assert_eq!(messages_url(base).unwrap().to_string(), url);
        }
        for bad in [
            "",
            "  ",
            "h",
            "h/a",
            "ftp://h",
            "https://",
            "https:///a",
            "https://h?x",
            "https://a b",
        ] {
            assert!(messages_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_not_sent() {
        let target = Endpoint {
            base_url: "http://127.0.0.1:1".into(),
            auth_token: Some("two\nlines".into()),
            ..Endpoint::default()
        };
        let (answer, _) = ask(&target, Duration::from_secs(5));
        assert!(matches!(answer, EndpointAnswer::Failed(Failure::NotAsked(_))), "{answer:?}");
    }

    #[test]
    fn every_secret_is_known() {
        let target = Endpoint {
            base_url: "https://me:word@h/x".into(),
            auth_token: Some("t".into()),
            api_key: Some("k".into()),
            headers: vec![("X-A".into(), "v".into())],
            model: "m".into(),
        };
        assert_eq!(target.secrets(), ["t", "k", "v", "me:word", "word"]);
    }
}
