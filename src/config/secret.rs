//! Keeps keys off the screen: they are masked in settings that are shown, and removed from texts of
//! others.

use serde_json::Value;
use url::{Position, Url};

use super::settings::variables;

/// Shorter secrets are masked completely.
const SHOWN_FROM: usize = 16;
/// A part of a key of at least this length counts as the key: servers often quote the beginning.
const PIECE: usize = 8;
/// Shorter values are placeholders; removing them would mangle ordinary words.
const SHORTEST: usize = 4;

pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = ["TOKEN", "KEY", "AUTHORIZATION", "COOKIE"];
    let holds = ["SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CUSTOM_HEADERS"];
    ends.iter().any(|end| name.ends_with(end)) || holds.iter().any(|part| name.contains(part))
}

/// Masks a key as `sk-…abcd`. A reference to a variable is not secret, and is shown as it is.
pub fn mask(text: &str) -> String {
    if text.is_empty() || is_reference(text) {
        return text.to_owned();
    }
    let count = text.chars().count();
    if count < SHOWN_FROM {
        return "…".to_owned();
    }
    let start = if text.starts_with("sk-") { "sk-" } else { "" };
    let end: String = text.chars().skip(count - 4).collect();
    format!("{start}…{end}")
}

/// Whether the text is nothing but `${VAR}`.
pub fn is_reference(text: &str) -> bool {
    matches!(variables(text).as_slice(), [name] if text.len() == name.len() + 3)
}

/// An address without what may contain credentials: `user:password@`, and everything after `?`.
pub fn mask_url(url: &str) -> String {
    if !url.contains(['@', '?']) {
        return url.to_owned();
    }
    // If the address cannot be parsed, for example because it contains variables, the end of the
    // login is unknown.
    let Ok(parsed) = Url::parse(url) else { return "…".to_owned() };
    let login = if login(url).is_some() { "…@" } else { "" };
    let query = if parsed.query().is_some() { "?…" } else { "" };
    let (scheme, rest) =
        (&parsed[..Position::BeforeUsername], &parsed[Position::BeforeHost..Position::AfterPath]);
    format!("{scheme}{login}{rest}{query}")
}

/// The user and password before the `@` of an address.
pub fn login(url: &str) -> Option<String> {
    let parsed = Url::parse(url).ok()?;
    match (parsed.username(), parsed.password()) {
        ("", None) => None,
        (user, None) => Some(user.to_owned()),
        (user, Some(password)) => Some(format!("{user}:{password}")),
    }
}

/// Settings in the form in which they may be shown.
pub fn masked(settings: &Value) -> Value {
    let mut secrets = Vec::new();
    for_each(settings, &mut |text| {
        if !is_reference(text) {
            secrets.push(text.to_owned());
        }
    });
    mask_under(None, settings, &secrets)
}

/// Finds each text whose name says that it is a secret.
pub fn for_each(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if is_secret(name) => found(text),
                    field => for_each(field, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| for_each(item, found)),
        _ => {}
    }
}

fn mask_under(name: Option<&str>, value: &Value, secrets: &[String]) -> Value {
    match value {
        Value::String(text) if name.is_some_and(is_secret) => Value::String(mask(text)),
        Value::String(text) if text.contains("://") => {
            Value::String(scrub(&mask_url(text), secrets))
        }
        Value::String(text) => Value::String(scrub(text, secrets)),
        Value::Array(items) => items.iter().map(|item| mask_under(name, item, secrets)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| (name.clone(), mask_under(Some(name), field, secrets)))
            .collect(),
        other => other.clone(),
    }
}

/// Removes the secrets, and longer parts of them, from a text that ccc did not write.
pub fn scrub(text: &str, secrets: &[String]) -> String {
    let secrets: Vec<Vec<char>> = secrets
        .iter()
        .map(|secret| secret.chars().collect())
        .filter(|secret: &Vec<char>| secret.len() >= SHORTEST)
        .collect();
    let text: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < text.len() {
        let hit = secrets.iter().map(|secret| piece(&text[at..], secret)).max().unwrap_or(0);
        if hit == 0 {
            out.push(text[at]);
            at += 1;
        } else {
            out.push('…');
            at += hit;
        }
    }
    out
}

/// The length of the part of the secret with which the text begins, or 0 if it is too short to
/// count.
fn piece(text: &[char], secret: &[char]) -> usize {
    let common = |from: &[char]| text.iter().zip(from).take_while(|(a, b)| a == b).count();
    let longest = (0..secret.len()).map(|from| common(&secret[from..])).max().unwrap_or(0);
    if longest >= PIECE.min(secret.len()) { longest } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn at_most_four_characters_of_a_key_are_shown() {
        for (key, shown) in [
            ("sk-0123456789abcdef", "sk-…cdef"),
            ("0123456789abcdef", "…cdef"),
            ("sk-short", "…"),
            ("x", "…"),
            ("", ""),
            ("${KIMI_KEY}", "${KIMI_KEY}"),
            ("${A}${B}", "…"),
            ("literal-and-long-${A}", "…${A}"),
        ] {
            assert_eq!(mask(key), shown, "{key}");
        }
    }

    #[test]
    fn names_that_hold_secrets() {
        for name in
            ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "apiKey", "X_SECRET_2", "authorization"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["CLAUDE_CODE_MAX_OUTPUT_TOKENS", "ANTHROPIC_MODEL", "apiKeyHelper"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn settings_are_shown_without_their_keys() {
        let key = "sk-0123456789abcdef";
        let shown = masked(&json!({
            "env": {"ANTHROPIC_AUTH_TOKEN": key, "ANTHROPIC_BASE_URL": "https://me:pw@host/x?key=1",
                    "ANTHROPIC_CUSTOM_HEADERS": "X-Other: hidden", "ANTHROPIC_API_KEY": "${VAR}"},
            "apiKeyHelper": format!("echo {key}"), "list": [{"password": "p"}, 1]
        }));
        assert_eq!(
            shown,
            json!({
                "env": {"ANTHROPIC_AUTH_TOKEN": "sk-…cdef",
                        "ANTHROPIC_BASE_URL": "https://…@host/x?…",
                        "ANTHROPIC_CUSTOM_HEADERS": "…", "ANTHROPIC_API_KEY": "${VAR}"},
                "apiKeyHelper": "echo …", "list": [{"password": "…"}, 1]
            })
        );
    }

    #[test]
    fn others_cannot_quote_a_key() {
        let secrets = ["sk-0123456789abcdef".to_owned(), "tiny".to_owned(), "x".to_owned()];
        for (text, clean) in [
            ("bad key sk-0123456789abcdef!", "bad key …!"),
            ("it begins sk-01234567***", "it begins …***"),
            ("it ends ***89abcdef", "it ends ***…"),
            ("tiny text, exact", "… text, exact"),
            ("sk-01 is too little to matter", "sk-01 is too little to matter"),
            ("", ""),
        ] {
            assert_eq!(scrub(text, &secrets), clean);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_around_it_lets_a_key_through(
            before in "\\PC{0,20}", after in "\\PC{0,20}", key in "[a-zA-Z0-9_-]{4,40}"
        ) {
            let text = format!("{before}{key}{after}");
            proptest::prop_assert!(!scrub(&text, std::slice::from_ref(&key)).contains(&key));
        }
    }
}
