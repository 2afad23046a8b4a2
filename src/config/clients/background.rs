//! A session that continues in the background (`--bg`, `/bg`). Clients before 2.1.260 pass it the
//! key in their environment, but not the address that the key is for, so the key would be sent to
//! the default address. Settings are passed on with the session.

use serde_json::{Map, Value, json};

use super::generated::OtherSettings;
use super::{Variables, environment};
use crate::client::version::Version;
use crate::config::profile::BASE_URL;

/// The first version that is known to pass on everything.
pub const HANDS_ON: Version = Version([2, 1, 260]);

/// Puts the address into `env` of the settings, unless other settings name one, since those win
/// over the environment. An address with a login stays out, because settings appear on the command
/// line.
pub fn keep_endpoint(env: &mut Map<String, Value>, others: &[OtherSettings], own: &Variables) {
    let is_said = |other: &OtherSettings| other.settings["env"].get(BASE_URL).is_some();
    if env.contains_key(BASE_URL) || others.iter().any(is_said) {
        return;
    }
    if let Some(url) = environment::text(own, BASE_URL).filter(|url| !has_login(url)) {
        env.insert(BASE_URL.to_owned(), json!(url));
    }
}

/// Whether the address is only in the environment, because a login keeps it out of the settings.
pub fn is_only_in(env: &Variables) -> bool {
    environment::text(env, BASE_URL).is_some_and(|url| has_login(&url))
}

fn has_login(url: &str) -> bool {
    url.contains('@')
}
