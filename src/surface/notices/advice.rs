//! What a person can do about an error.

/// What a person can do about an error of the API, by what it says.
pub(super) fn advice(error: &str) -> Option<&'static str> {
    let error = error.to_lowercase();
    let known: [(&[&str], &str); 9] = [
        (
            &["no conversation found", "valid session id"],
            "`ccc sessions` lists the sessions of this project; `ccc --supervisor --resume` lets you choose one.",
        ),
        (
            &["not logged in", "oauth token has expired", "token has been revoked"],
            "Log in with `claude /login`, or add an endpoint with its key: `ccc provider add`. If a \
             key is set already, the endpoint rejected it: `ccc validate` tries it.",
        ),
        (
            &["invalid api key", "authenticat", "401", "403", "/login", "unauthorized", "oauth"],
            "The key was rejected: `ccc provider` shows which one is used, `ccc validate` tries \
             it; `claude /login` logs in without a key.",
        ),
        (
            &["credit balance", "billing", "402", "quota"],
            "The account is out of credit: top it up, or continue with another provider (`ccc \
             --supervisor NAME --resume …`).",
        ),
        (
            &["prompt is too long", "context"],
            "The conversation is too long: `/compact` makes it shorter, `/clear` starts over.",
        ),
        (
            &["rate limit", "429", "usage limit", "you've hit your"],
            "Send a message to try again once the limit has reset.",
        ),
        (
            &["overloaded", "529", "503", "502", "500", "internal server"],
            "The endpoint is having trouble: send a message to try again.",
        ),
        (
            &[
                "connection",
                "econnrefused",
                "enotfound",
                "timed out",
                "fetch failed",
                "unable to connect",
            ],
            "The endpoint cannot be reached: `ccc validate` tries it.",
        ),
        (&["model"], "Check the model: `/model` or `--model` selects another one."),
    ];
    // A status is a word of its own; the number of a port may contain the same digits.
    let words: Vec<_> = error.split(|c: char| !c.is_alphanumeric()).collect();
    let is_there = |sign: &&str| match sign.parse::<u16>() {
        Ok(_) => words.contains(sign),
        Err(_) => error.contains(sign),
    };
    let fits = |(signs, _): &&(&[&str], &'static str)| signs.iter().any(is_there);
    known.iter().find(fits).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As claude 2.1.327 says it.
    #[test]
    fn the_advice_fits_the_error() {
        for (error, says) in [
            (
                "API Error: 500 Internal error. If it persists, check your inference gateway \
                 (127.0.0.1:4010).",
                "having trouble",
            ),
            ("API Error: 529 Overloaded, see http://127.0.0.1:40290/", "having trouble"),
            ("Failed to authenticate. API Error: 403 not you", "key was rejected"),
            ("Invalid API key · Fix external API key", "key was rejected"),
            // Also when a token was sent and rejected.
            ("Not logged in · Please run /login", "the endpoint rejected it"),
            ("API Error: Request rejected (429) · slow down", "limit has reset"),
            ("API Error: Unable to connect to API (ConnectionRefused)", "cannot be reached"),
        ] {
            let advice = advice(error).unwrap_or_default();
            assert!(advice.contains(says), "{error}: {advice}");
        }
    }
}
