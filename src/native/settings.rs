//! The settings the client is started with: where its hooks report to, and what its status line shows.
//! They are passed as text on the command line and never written to a file, so that the agent cannot
//! change them; the secret is passed in the client's environment.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::hooks::EVENTS;
use crate::config::clients::quoted;

/// The environment variable that holds the secret.
pub const SECRET: &str = "CCC_HOOK_SECRET";
/// Practically unlimited: ccc has its own deadlines for everything it does, and Esc ends every wait.
const STOP_TIMEOUT: u64 = 24 * 60 * 60;
const TIMEOUT: u64 = 15;

/// Where the client reports to.
#[derive(Debug, Clone, Copy)]
pub struct Reports<'a> {
    pub to: SocketAddr,
    pub ccc: &'a Path,
    /// The file that the status line is read from.
    pub status: &'a Path,
}

impl Reports<'_> {
    /// One hook for each event.
    pub fn hooks(&self) -> Map<String, Value> {
        let hook = |event: &str| {
            let mut hook = json!({
                "type": "http",
                "url": format!("http://{}/{event}", self.to),
                "timeout": if event == "Stop" { STOP_TIMEOUT } else { TIMEOUT },
                "headers": {"Authorization": format!("Bearer ${SECRET}")},
                "allowedEnvVars": [SECRET],
            });
            if event == "Stop" {
                hook["statusMessage"] = json!("ccc reviews the work");
            }
            json!([{"hooks": [hook]}])
        };
        EVENTS.iter().map(|event| ((*event).to_owned(), hook(event))).collect()
    }

    /// The status line, preceded by the user's own.
    pub fn status_line(&self, users: Option<&Value>) -> Value {
        let mut command = format!("{} status-line {}", quoted(self.ccc), quoted(self.status));
        let mut line = match users {
            Some(users) if users["type"] == "command" => {
                let own = users["command"].as_str().unwrap_or_default();
                command = format!("{command} {}", shell_words::quote(own));
                users.clone()
            }
            _ => json!({"type": "command"}),
        };
        line["command"] = json!(command);
        line["refreshInterval"] = json!(1);
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports() -> Reports<'static> {
        Reports {
            to: "127.0.0.1:4711".parse().unwrap(),
            ccc: Path::new("/opt/c c"),
            status: Path::new("/p/status"),
        }
    }

    #[test]
    fn every_event_is_reported_with_the_secret_and_none_stands_in_the_text() {
        let hooks = reports().hooks();
        assert_eq!(hooks.len(), EVENTS.len());
        let stop = &hooks["Stop"][0]["hooks"][0];
        assert_eq!(stop["url"], "http://127.0.0.1:4711/Stop");
        assert_eq!(stop["headers"]["Authorization"], "Bearer $CCC_HOOK_SECRET");
        assert_eq!(stop["allowedEnvVars"], json!(["CCC_HOOK_SECRET"]));
    }

    #[test]
    fn the_users_status_line_is_kept() {
        let alone = reports().status_line(None);
        assert_eq!(alone["command"], "'/opt/c c' status-line /p/status");
        let users = json!({"type": "command", "command": "date +%H", "padding": 2});
        let both = reports().status_line(Some(&users));
        assert_eq!(both["command"], "'/opt/c c' status-line /p/status 'date +%H'");
        assert_eq!((&both["padding"], &both["refreshInterval"]), (&json!(2), &json!(1)));
    }
}
