//! What an endpoint's answer says about the endpoint. No I/O.

use serde_json::Value;
use url::{Position, Url};

use super::{EndpointAnswer, Failure};

const ERROR_LENGTH: usize = 2000;

/// What is known about an endpoint; `None` means unknown.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub reachable: Option<bool>,
    pub key: Option<bool>,
    pub model: Option<bool>,
    pub detail: String,
}

impl Findings {
    /// Whether a session would work: the endpoint answers, accepts the key and does not refuse the
    /// model.
    pub fn is_good(&self) -> bool {
        self.reachable == Some(true) && self.key == Some(true) && self.model != Some(false)
    }

    pub fn broken(detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..Self::default() }
    }
}

/// The texts may quote the endpoint, and so anything that was sent to it, including secrets.
pub fn read(answer: &EndpointAnswer, model: &str) -> Findings {
    let (status, body, location) = match answer {
        EndpointAnswer::Failed(failure) => return failed(failure),
        EndpointAnswer::Http { status, body, location } => (*status, body, location.as_deref()),
    };
    let json: Option<Value> = serde_json::from_str(body).ok();
    let said = json.as_ref().map(ReportedError::find).unwrap_or_default();
    // Some endpoints answer 200 and put the error into the body.
    let status = if (200..300).contains(&status) { said.code.unwrap_or(status) } else { status };
    let (key, model, what) = match status {
        200..300 if json.as_ref().is_some_and(is_message) => {
            (Some(true), Some(true), String::new())
        }
        200..300 if said.is_error => (None, None, "the endpoint answers with an error".to_owned()),
        200..300 => (None, None, "the endpoint answers, but not like the Messages API".to_owned()),
        300..400 => (None, None, redirect(location)),
        401 | 403 => (Some(false), None, format!("the key is not accepted ({status})")),
        402 => (Some(true), None, "payment is required (402)".to_owned()),
        404 if said.is_about_model(model) => (Some(true), Some(false), unknown_model(model)),
        404 | 405 => (None, None, format!("there is no Messages API at this address ({status})")),
        400 | 422 if said.is_about_money() => (Some(true), None, format!("refused ({status})")),
        400 | 422 if said.is_about_model(model) => (Some(true), Some(false), unknown_model(model)),
        400 | 422 => {
            (None, None, format!("the endpoint does not understand the request ({status})"))
        }
        429 => (Some(true), None, "too many requests right now (429)".to_owned()),
        500..600 => (None, None, format!("the endpoint has an internal problem ({status})")),
        other => (None, None, format!("unexpected status {other}")),
    };
    let detail = match said.text.as_str() {
        "" => what,
        text if what.is_empty() => text.to_owned(),
        text => format!("{what}: {text}"),
    };
    Findings { reachable: Some(true), key, model, detail }
}

fn failed(failure: &Failure) -> Findings {
    let detail = match failure {
        Failure::NotAsked(why) => return Findings::broken(why),
        Failure::HostUnknown => "the host is unknown (DNS)".to_owned(),
        Failure::Refused => "nothing listens at this address (connection refused)".to_owned(),
        Failure::Unreachable(why) => format!("cannot connect: {why}"),
        Failure::Tls(why) => format!("no secure connection (TLS): {why}"),
        Failure::TimedOut => "no answer in time".to_owned(),
        Failure::NotHttp(why) => format!("the endpoint does not speak HTTP: {why}"),
    };
    Findings { reachable: Some(false), ..Findings::broken(detail) }
}

fn unknown_model(model: &str) -> String {
    format!("the endpoint does not know the model {model}")
}

/// Names only the host: the rest of the address may contain secrets.
fn redirect(location: Option<&str>) -> String {
    match location.and_then(|url| Url::parse(url).ok()).filter(Url::has_host) {
        Some(url) => format!(
            "the endpoint redirects to {}://{}; ccc did not send the key there",
            url.scheme(),
            &url[Position::BeforeHost..Position::AfterPort]
        ),
        None => "the endpoint redirects; ccc did not send the key there".to_owned(),
    }
}

fn is_message(answer: &Value) -> bool {
    answer["type"] == "message" || answer["content"].is_array()
}

/// The error in an answer, in any of the known formats.
#[derive(Default)]
struct ReportedError {
    is_error: bool,
    kind: String,
    text: String,
    code: Option<u16>,
}

impl ReportedError {
    fn find(answer: &Value) -> Self {
        if is_message(answer) {
            return Self::default();
        }
        let error = &answer["error"];
        let text =
            [&error["message"], error, &answer["message"], &answer["msg"], &answer["detail"]];
        let text = text.into_iter().find_map(Value::as_str).unwrap_or_default();
        let kind = error["type"].as_str().unwrap_or_default();
        let code = [&error["code"], &answer["code"], &answer["status"]];
        let code = code.into_iter().find_map(|code| match code {
            Value::String(text) => text.parse().ok(),
            code => code.as_u64(),
        });
        let by_kind = match kind {
            "authentication_error" => Some(401),
            "permission_error" => Some(403),
            "not_found_error" => Some(404),
            "rate_limit_error" => Some(429),
            "invalid_request_error" => Some(400),
            _ => None,
        };
        let code =
            code.filter(|code| (400..600).contains(code)).and_then(|code| code.try_into().ok());
        Self {
            is_error: !error.is_null() || !text.is_empty() || code.is_some(),
            kind: kind.to_owned(),
            text: one_line(text),
            code: by_kind.or(code),
        }
    }

    fn is_about_model(&self, model: &str) -> bool {
        let text = self.text.to_lowercase();
        self.kind.contains("model")
            || text.contains("model")
            || text.contains("模型")
            || (!model.is_empty() && text.contains(&model.to_lowercase()))
    }

    fn is_about_money(&self) -> bool {
        let text = self.text.to_lowercase();
        ["credit", "balance", "quota", "billing"].iter().any(|word| text.contains(word))
    }
}

/// Foreign text for the screen: one line, limited in length, without control characters.
fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().take(ERROR_LENGTH).map(plain).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(status: u16, body: &str) -> Findings {
        read(&EndpointAnswer::Http { status, body: body.to_owned(), location: None }, "big-1")
    }

    #[test]
    fn answers() {
        const YES: Option<bool> = Some(true);
        const NO: Option<bool> = Some(false);
        let message = r#"{"type":"message","role":"assistant","content":[]}"#;
        for (status, body, key, model, detail) in [
            (200, message, YES, YES, ""),
            (200, "<html>", None, None, "not like the Messages API"),
            (200, r#"{"code":401,"msg":"token expired"}"#, NO, None, "token expired"),
            (200, r#"{"error":{"type":"authentication_error","message":"bad"}}"#, NO, None, "bad"),
            (200, r#"{"error":"odd"}"#, None, None, "an error: odd"),
            (301, "", None, None, "redirects"),
            (401, "", NO, None, "the key is not accepted (401)"),
            (403, r#"{"error":{"message":"forbidden"}}"#, NO, None, "(403): forbidden"),
            (402, "", YES, None, "payment"),
            (
                404,
                r#"{"error":{"type":"not_found_error","message":"model: big-1"}}"#,
                YES,
                NO,
                "big-1",
            ),
            (404, r#"{"detail":"Not Found"}"#, None, None, "no Messages API"),
            (404, "<html>nginx</html>", None, None, "no Messages API"),
            (405, "", None, None, "no Messages API"),
            (400, r#"{"error":{"message":"Model Not Exist"}}"#, YES, NO, "Model Not Exist"),
            (
                400,
                r#"{"error":{"message":"big-1 does not exist"}}"#,
                YES,
                NO,
                "does not know the model",
            ),
            (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, YES, None, "credit"),
            (400, r#"{"error":{"message":"max_tokens: too small"}}"#, None, None, "max_tokens"),
            (429, r#"{"error":{"message":"slow down"}}"#, YES, None, "slow down"),
            (
                529,
                r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                None,
                None,
                "(529)",
            ),
            (500, "", None, None, "(500)"),
            (418, "", None, None, "418"),
        ] {
            let found = http(status, body);
            assert_eq!((found.key, found.model), (key, model), "{status} {body}: {found:?}");
            assert!(
                found.reachable == Some(true) && found.detail.contains(detail),
                "{status} {body}: {found:?}"
            );
            assert_eq!(found.is_good(), key == YES && model != NO, "{status} {body}");
        }
    }

    #[test]
    fn failures_say_what_failed() {
        for (failure, said) in [
            (Failure::HostUnknown, "DNS"),
            (Failure::Refused, "refused"),
            (Failure::Tls("bad certificate".into()), "TLS"),
            (Failure::TimedOut, "in time"),
        ] {
            let found = read(&EndpointAnswer::Failed(failure), "m");
            assert!(
                found.reachable == Some(false) && !found.is_good() && found.detail.contains(said),
                "{found:?}"
            );
        }
    }

    #[test]
    fn an_endpoint_that_was_not_asked_is_not_unreachable() {
        let found = read(&EndpointAnswer::Failed(Failure::NotAsked("no URL".into())), "m");
        assert_eq!((found.reachable, found.is_good()), (None, false));
    }

    #[test]
    fn a_redirect_names_the_host_only() {
        let location = Some("https://me:pw@else.where/path?key=secret".to_owned());
        let answer = EndpointAnswer::Http { status: 307, body: String::new(), location };
        let detail = read(&answer, "m").detail;
        assert!(detail.contains("https://else.where;"), "{detail}");
        assert!(!detail.contains("secret") && !detail.contains("pw"), "{detail}");
    }

    #[test]
    fn foreign_text_stays_on_one_line() {
        let found = http(401, r#"{"error":{"message":"a\n\u001b[31mb\u0000  c"}}"#);
        assert!(found.detail.ends_with("a [31mb c"), "{found:?}");
    }
}
