//! The client's own `.claude.json`. It is not a settings file, and no option keeps the client from
//! reading it. It may contain an `env`, which overrides the process environment, and the agent can
//! write it. Only settings on the command line take precedence over it.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Variables, environment, object, section};
use crate::config::profile::BASE_URL;
use crate::config::secret::{is_secret, login};
use crate::files;

/// The client stores a lot in this file, but not more than this.
const LARGEST: u64 = 256 << 20;

/// Where the file may be. The client reads the first that exists, and the agent can create one.
fn places() -> Vec<PathBuf> {
    let dir =
        std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let home = dirs::home_dir();
    let beside = dir.clone().or_else(|| home.clone());
    let inside = dir.or_else(|| home.map(|home| home.join(".claude")));
    let inside = inside.map(|dir| dir.join(".config.json"));
    inside.into_iter().chain(beside.map(|dir| dir.join(".claude.json"))).collect()
}

/// The only part of the file that matters here. The rest is skipped unread, however large or deep
/// it is.
#[derive(Deserialize)]
struct Global {
    env: Option<Value>,
}

/// The variables that the file sets now. A file that ccc cannot read is an error: the client may be
/// able to read it, and it may name another endpoint.
pub fn variables() -> Result<Map<String, Value>> {
    let mut all = Map::new();
    for path in places() {
        all.extend(of(&path).with_context(|| {
            format!(
                "ccc cannot read {}, which can name another endpoint for the supervisor. Look at \
                 it; if it is broken, repair or remove it",
                path.display()
            )
        })?);
    }
    Ok(all)
}

fn of(path: &Path) -> Result<Map<String, Value>> {
    let mut bytes = Vec::new();
    match files::open_file(path) {
        Ok(file) => file.take(LARGEST).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(error.into()),
    };
    // Read as the client does: invalid UTF-8 is replaced, and a byte order mark is skipped.
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(Map::new());
    }
    let global: Global = serde_json::from_str(text)?;
    Ok(global.env.and_then(|env| env.as_object().cloned()).unwrap_or_default())
}

/// The variables that decide where a client's requests go and which code runs before its commands.
/// Older clients read the file again while they run, so these are always set, whether the file
/// contains them or not. An empty value means not set.
const STATED: [&str; 24] = [
    "ALL_PROXY",
    "ANTHROPIC_AWS_BASE_URL",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "ANTHROPIC_FOUNDRY_BASE_URL",
    "ANTHROPIC_UNIX_SOCKET",
    "ANTHROPIC_VERTEX_BASE_URL",
    "BASH_ENV",
    "CLAUDE_CODE_SHELL",
    "CLAUDE_CODE_SHELL_PREFIX",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_VERTEX",
    "ENV",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LD_PRELOAD",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "PATH",
];

const HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";

/// The judge's settings, with a value for every variable that the file sets now or could set later:
/// the value in the judge's environment, or none. Keys are not written into settings: a planted key
/// makes the provider refuse the judge, which is an error.
pub fn settings_above(settings: &Value, env: &Variables) -> Result<Value> {
    above(settings, env, &variables()?)
}

fn above(settings: &Value, env: &Variables, planted: &Map<String, Value>) -> Result<Value> {
    let mut settings = settings.clone();
    let said = section(object(&mut settings)?, "env")?;
    let stated = STATED.map(str::to_owned).into_iter().chain(planted.keys().cloned());
    for name in stated.filter(|name| !name.is_empty()) {
        let given = environment::text(env, &name);
        let has_login = given.as_deref().and_then(login).is_some();
        if said.contains_key(&name) {
            continue;
        }
        let is_key = has_login || is_secret(&name);
        // A gateway may send a request to whatever address a header names.
        let may_lead_elsewhere = has_login || name == HEADERS;
        let value = match given {
            // `login_as_header` passes the login on.
            Some(address) if has_login && name == BASE_URL => without_login(&address),
            Some(_) if may_lead_elsewhere && planted.contains_key(&name) => bail!(
                "the client's .claude.json sets {name}, and ccc cannot overrule it, because your \
                 own {name} contains a key. Remove it from .claude.json"
            ),
            Some(_) if is_key => continue,
            given => given.unwrap_or_default(),
        };
        said.insert(name, json!(value));
    }
    Ok(settings)
}

/// A login in the endpoint's address would be on the judge's command line, with the address. The
/// client sends it as a header anyway, so the judge gets it as one.
pub fn login_as_header(env: &mut Variables) {
    let Some(address) = environment::text(env, BASE_URL) else { return };
    let Some(login) = login(&address) else { return };
    let mut headers = environment::text(env, HEADERS).unwrap_or_default();
    if !headers.lines().any(|line| line.to_ascii_lowercase().starts_with("authorization:")) {
        // Without a password there is still a colon.
        let login = if login.contains(':') { login } else { format!("{login}:") };
        let login: Vec<u8> = percent_encoding::percent_decode_str(&login).collect();
        headers = format!("Authorization: Basic {}\n{headers}", STANDARD.encode(login));
    }
    env.retain(|(name, _)| name != BASE_URL && name != HEADERS);
    env.push((BASE_URL.into(), without_login(&address).into()));
    env.push((HEADERS.into(), headers.trim_end().into()));
}

/// The address as it was written, without `user:password@`.
fn without_login(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_login_in_an_address_lets_nobody_else_name_the_endpoint() {
        let url = |value: &str| vec![(BASE_URL.into(), value.into())];
        let planted = json!({BASE_URL: "http://agents", "HTTPS_PROXY": "http://agents"});
        let planted = planted.as_object().unwrap();
        for (given, stated) in [
            ("http://u:p%40w@host:1", "http://host:1"),
            ("https://u@host/a@b?c", "https://host/a@b?c"),
            ("https://host/x", "https://host/x"),
        ] {
            let settings = above(&json!({}), &url(given), planted).unwrap();
            assert_eq!(settings["env"][BASE_URL], stated, "{given}");
        }
        let mut env = url("http://u:p%40w@host:1");
        login_as_header(&mut env);
        let text = |env: &Variables, name| environment::text(env, name).unwrap_or_default();
        assert_eq!(text(&env, BASE_URL), "http://host:1");
        assert_eq!(text(&env, HEADERS), "Authorization: Basic dTpwQHc=");
        env = [url("http://u:p@h"), vec![(HEADERS.into(), "X: y".into())]].concat();
        login_as_header(&mut env);
        assert_eq!(text(&env, HEADERS), "Authorization: Basic dTpw\nX: y");
        env = url("http://u@h");
        login_as_header(&mut env);
        assert_eq!(text(&env, HEADERS), "Authorization: Basic dTo=");
        // No header can replace the login of a proxy.
        let proxy: Variables = vec![("HTTPS_PROXY".into(), "http://u:p@proxy".into())];
        let error = above(&json!({}), &proxy, planted).unwrap_err().to_string();
        assert!(error.contains("sets HTTPS_PROXY") && !error.contains("u:p"), "{error}");
        let headers: Variables = vec![(HEADERS.into(), "X-Key: k".into())];
        let theirs = json!({HEADERS: "X-Target: http://agents"});
        let error = above(&json!({}), &headers, theirs.as_object().unwrap()).unwrap_err();
        assert!(error.to_string().contains("sets ANTHROPIC_CUSTOM_HEADERS"), "{error}");
        assert!(above(&json!({}), &proxy, &Map::new()).unwrap()["env"]["HTTPS_PROXY"].is_null());
    }

    #[test]
    fn variables_are_seen_in_whatever_the_client_can_read_or_it_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".claude.json");
        let seen = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            of(&path).map(|found| found.len())
        };
        let around =
            |odd: &str| format!(r#"{{"odd": {odd}, "\u0065nv": {{"A": "b"}}}}"#).into_bytes();
        let (deep, large) =
            (format!("{}{}", "[".repeat(500), "]".repeat(500)), "x".repeat(17 << 20));
        for odd in ["1", r#""\ud800""#, "1e999", &deep, &format!("{large:?}")] {
            assert_eq!(seen(&around(odd)).unwrap(), 1, "{odd:.20}");
        }
        assert_eq!(seen(&[b"\xef\xbb\xbf", &*around("1")].concat()).unwrap(), 1);
        assert_eq!(seen(b"{\"odd\": \"\xff\", \"env\": {\"A\": \"b\"}}").unwrap(), 1);
        assert_eq!(seen(b"{}").unwrap() + seen(b"").unwrap() + seen(b"{\"env\": 1}").unwrap(), 0);
        for broken in ["{", r#"{"env": {}, "env": {"A": "b"}}"#, r#"{"env": {"A": "\ud800"}}"#] {
            assert!(seen(broken.as_bytes()).is_err(), "{broken}");
        }
        fs::remove_file(&path).unwrap();
        assert!(of(&path).unwrap().is_empty());
        fs::create_dir(&path).unwrap();
        assert!(of(&path).is_err());
    }
}
