//! The account that the client would use: what its answer to `initialize` says about a key or a
//! login.

use serde::Deserialize;

/// The account as the client reports it, which does not say whether the key or the login is valid.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Account {
    email: Option<String>,
    organization: Option<String>,
    subscription_type: Option<String>,
    token_source: Option<String>,
    api_key_source: Option<String>,
    api_provider: Option<String>,
}

pub fn read(line: &str) -> Option<Account> {
    #[derive(Deserialize)]
    struct AccountLine {
        response: Outer,
    }
    #[derive(Deserialize)]
    struct Outer {
        response: Inner,
    }
    #[derive(Deserialize)]
    struct Inner {
        account: Account,
    }
    serde_json::from_str::<AccountLine>(line).ok().map(|line| line.response.response.account)
}

impl Account {
    /// Where the credentials come from; `None` when there are none.
    pub fn told(&self) -> Option<String> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let source = |text: &Option<String>| given(text).filter(|text| text != "none");
        if let Some(email) = given(&self.email) {
            let plan = source(&self.subscription_type).map(|plan| format!(", {plan}"));
            let of = given(&self.organization).map(|name| format!(", {name}"));
            let (plan, of) = (plan.unwrap_or_default(), of.unwrap_or_default());
            return Some(format!("logged in as {email}{of}{plan}"));
        }
        if let Some(name) = source(&self.api_key_source) {
            return Some(format!("a key from {name}"));
        }
        if let Some(name) = source(&self.token_source) {
            return Some(format!("a token from {name}"));
        }
        // Bedrock and similar providers have their own credentials, which the client does not check
        // here.
        let elsewhere = given(&self.api_provider).filter(|name| name != "firstParty");
        elsewhere.map(|name| format!("the credentials of {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(account: &str) -> Option<String> {
        let line = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"r","response":{{"models":[],"account":{account}}}}}}}"#
        );
        read(&line).expect("an account").told()
    }

    #[test]
    fn the_source_of_the_credentials_is_named() {
        for (account, expected) in [
            (r#"{"tokenSource":"none","apiProvider":"firstParty"}"#, None),
            (
                r#"{"tokenSource":"none","apiKeySource":"ANTHROPIC_API_KEY","apiProvider":"firstParty"}"#,
                Some("a key from ANTHROPIC_API_KEY"),
            ),
            (
                r#"{"tokenSource":"ANTHROPIC_AUTH_TOKEN"}"#,
                Some("a token from ANTHROPIC_AUTH_TOKEN"),
            ),
            (
                r#"{"email":"a@b.c","organization":"Lab","subscriptionType":"max","tokenSource":"claude.ai"}"#,
                Some("logged in as a@b.c, Lab, max"),
            ),
            (
                r#"{"tokenSource":"none","apiProvider":"bedrock"}"#,
                Some("the credentials of bedrock"),
            ),
        ] {
            assert_eq!(told(account).as_deref(), expected, "{account}");
        }
        assert_eq!(read(r#"{"type":"system","subtype":"init"}"#), None);
        assert_eq!(read("not JSON"), None);
    }
}
