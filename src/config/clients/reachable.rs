//! Keeps ccc reachable for the client's hooks. A proxy or a list of the addresses that hooks may
//! use can get in the way; the agent can write either into the project's settings during a session,
//! and then no stop would be reported any more. Settings on the command line override a variable of
//! the project's, and are added to its lists.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::generated::OtherSettings;
use super::{Variables, environment, object, section};

/// The variables with the hosts that need no proxy; programs disagree on the spelling.
const WITHOUT_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];
const ADDRESSES: &str = "allowedHttpHookUrls";
const VARIABLES: &str = "httpHookAllowedEnvVars";

/// Lets the hooks reach `to` with the secret in the variable `secret`, whatever other settings say
/// now or later. Everything else stays allowed or forbidden as it is.
pub fn keep_open(
    settings: &mut Value,
    others: &[OtherSettings],
    own: &Variables,
    to: SocketAddr,
    secret: &str,
) -> Result<()> {
    let others: Vec<_> = others.iter().map(|other| &other.settings).collect();
    let fields = object(settings)?;
    let env = section(fields, "env")?;
    let hosts = without_proxy(env, &others, own, &to.ip().to_string());
    env.extend(WITHOUT_PROXY.map(|name| (name.to_owned(), json!(hosts))));

    let is_limited = |list: &str, fields: &Map<String, Value>| {
        fields.contains_key(list) || others.iter().any(|other| other.get(list).is_some())
    };
    // Without a list every address is allowed, and a list that is added later must not change that.
    let address = if is_limited(ADDRESSES, fields) { format!("http://{to}/*") } else { "*".into() };
    add(fields, ADDRESSES, address)?;
    // If there is no list of variables, ours would be the only one, and exclude the variables of
    // the user's own hooks.
    if is_limited(VARIABLES, fields) {
        add(fields, VARIABLES, secret.to_owned())?;
    }
    Ok(())
}

fn add(fields: &mut Map<String, Value>, list: &str, entry: String) -> Result<()> {
    let found = fields.entry(list).or_insert_with(|| json!([]));
    let found = found.as_array_mut();
    found.with_context(|| format!("{list} in ccc.json must be a list"))?.push(entry.into());
    Ok(())
}

fn without_proxy(
    env: &Map<String, Value>,
    others: &[&Value],
    own: &Variables,
    host: &str,
) -> String {
    let mut hosts: Vec<String> = Vec::new();
    for name in WITHOUT_PROXY {
        let said = others.iter().rev().find_map(|other| other["env"].get(name));
        let said = env.get(name).or(said).and_then(Value::as_str).map(str::to_owned);
        let said = said.or_else(|| environment::text(own, name)).unwrap_or_default();
        for entry in said.split([',', ' ']).map(str::trim).chain([host]) {
            if !entry.is_empty() && !hosts.iter().any(|known| known == entry) {
                hosts.push(entry.to_owned());
            }
        }
    }
    hosts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(mut settings: Value, other: Value, own: &[(&str, &str)]) -> Value {
        let others = [OtherSettings { path: "/s.json".into(), settings: other }];
        let own: Variables = own.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let to = "127.0.0.1:4711".parse().unwrap();
        keep_open(&mut settings, &others, &own, to, "SECRET").unwrap();
        settings
    }

    #[test]
    fn no_proxy_stands_between() {
        let hosts = |settings: &Value| settings["env"]["NO_PROXY"].as_str().unwrap().to_owned();
        let none = opened(json!({}), json!({}), &[]);
        assert_eq!(hosts(&none), "127.0.0.1");
        assert_eq!(none["env"]["no_proxy"], none["env"]["NO_PROXY"]);
        let own = opened(json!({}), json!({}), &[("no_proxy", "a.example, b.example")]);
        assert_eq!(hosts(&own), "127.0.0.1,a.example,b.example");
        let users = json!({"env": {"NO_PROXY": "c.example"}});
        assert_eq!(hosts(&opened(json!({}), users, &[("NO_PROXY", "a")])), "c.example,127.0.0.1");
    }

    #[test]
    fn lists_are_made_longer_and_none_is_made_shorter() {
        let none = opened(json!({}), json!({}), &[]);
        assert_eq!((&none[ADDRESSES], &none[VARIABLES]), (&json!(["*"]), &Value::Null));
        let users = json!({ADDRESSES: ["https://x/*"], VARIABLES: ["TOKEN"]});
        let added = opened(json!({}), users, &[]);
        assert_eq!(added[ADDRESSES], json!(["http://127.0.0.1:4711/*"]));
        assert_eq!(added[VARIABLES], json!(["SECRET"]));
        let given = opened(json!({ADDRESSES: []}), json!({}), &[]);
        assert_eq!(given[ADDRESSES], json!(["http://127.0.0.1:4711/*"]));
    }
}
