//! A session that goes on in the background (`--bg`, `/bg`). Clients before 2.1.260 hand it the key of
//! their environment, but not the address that the key is for: it would be sent to the default one.
//! Settings go with the session.

use serde_json::{Map, Value, json};

use super::generated::OtherSettings;
use super::{Variables, environment};
use crate::client::version::Version;

pub const BASE_URL: &str = "ANTHROPIC_BASE_URL";

/// The first that is known to hand everything on.
pub const HANDS_ON: Version = Version([2, 1, 260]);

/// Puts the address into `env` of the settings, unless settings of any kind name one: those win over the
/// environment. One with a login in it stays out, because settings stand on the command line.
pub fn keep_endpoint(env: &mut Map<String, Value>, others: &[OtherSettings], own: &Variables) {
    let is_said = |other: &OtherSettings| other.settings["env"].get(BASE_URL).is_some();
    if env.contains_key(BASE_URL) || others.iter().any(is_said) {
        return;
    }
    if let Some(url) = environment::text(own, BASE_URL).filter(|url| !has_login(url)) {
        env.insert(BASE_URL.to_owned(), json!(url));
    }
}

/// Whether the address is in the environment and cannot be anywhere else.
pub fn is_only_in(env: &Variables) -> bool {
    environment::text(env, BASE_URL).is_some_and(|url| has_login(&url))
}

fn has_login(url: &str) -> bool {
    url.contains('@')
}
