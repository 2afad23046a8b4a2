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
            "Log in with `claude /login`, or add an endpoint with its key: `ccc provider add`. \
             `ccc doctor` shows what is set up.",
        ),
        (
            &["invalid api key", "authentication", "401", "/login", "unauthorized", "oauth"],
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
    let fits =
        |(signs, _): &&(&[&str], &'static str)| signs.iter().any(|sign| error.contains(sign));
    known.iter().find(fits).map(|(_, advice)| *advice)
}
