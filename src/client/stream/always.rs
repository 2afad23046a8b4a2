//! What "always" means: the client's own suggestions, but only for this session. The client would
//! write some of them to the project's settings, where they would outlive the session.

use serde_json::Value;

const DESTINATION: &str = "destination";

/// The suggestions, limited to the session.
pub fn for_session(suggestions: &str) -> serde_json::Result<Value> {
    let mut updates: Value = serde_json::from_str(suggestions)?;
    for update in updates.as_array_mut().into_iter().flatten() {
        if let Some(fields) = update.as_object_mut() {
            fields.insert(DESTINATION.to_owned(), "session".into());
        }
    }
    Ok(updates)
}

/// The suggestions in words, one by one.
pub fn meaning(suggestions: &str) -> Vec<String> {
    let Ok(Value::Array(updates)) = serde_json::from_str(suggestions) else { return Vec::new() };
    updates.iter().flat_map(update).collect()
}

fn update(update: &Value) -> Vec<String> {
    let list = |name: &str| update[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let kind = update["type"].as_str().unwrap_or_default();
    match kind {
        "addRules" if update["behavior"].as_str().unwrap_or("allow") == "allow" => {
            list("rules").iter().filter_map(rule).collect()
        }
        "addDirectories" => {
            let directories = list("directories").iter().filter_map(Value::as_str);
            directories.map(|directory| format!("files in {directory}")).collect()
        }
        "setMode" => match update["mode"].as_str().unwrap_or_default() {
            "acceptEdits" => vec!["all file edits".to_owned()],
            mode => vec![format!("permission mode {mode}")],
        },
        kind => vec![kind.to_owned()],
    }
}

/// A rule in the syntax of the client's settings.
fn rule(rule: &Value) -> Option<String> {
    let tool = rule["toolName"].as_str()?;
    Some(match rule["ruleContent"].as_str() {
        Some(content) => format!("{tool}({content})"),
        None => format!("every use of {tool}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn touch() -> String {
        json!([
            {"type": "addRules", "behavior": "allow", "destination": "localSettings",
             "rules": [{"toolName": "Bash", "ruleContent": "touch a"}, {"toolName": "WebSearch"}]},
            {"type": "addDirectories", "directories": ["/project"], "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ])
        .to_string()
    }

    #[test]
    fn nothing_outlives_the_session() {
        let taken = for_session(&touch()).unwrap();
        for update in taken.as_array().unwrap() {
            assert_eq!(update["destination"], "session", "{update}");
        }
        assert_eq!(taken[0]["rules"][0]["ruleContent"], "touch a");
        assert_eq!(for_session("null").unwrap(), Value::Null);
        assert!(for_session("{").is_err());
    }

    #[test]
    fn suggestions_are_described_in_words() {
        let words =
            ["Bash(touch a)", "every use of WebSearch", "files in /project", "all file edits"];
        assert_eq!(meaning(&touch()), words);
        assert_eq!(meaning(r#"[{"type":"setMode","mode":"plan"}]"#), ["permission mode plan"]);
        assert_eq!(meaning(r#"[{"type":"tomorrow"}]"#), ["tomorrow"]);
        assert_eq!(meaning(r#"[{"type":"addRules","behavior":"deny"}]"#), ["addRules"]);
        for none in ["", "null", "[]", r#"[{"type":"addRules","rules":[7]}]"#] {
            assert_eq!(meaning(none), Vec::<String>::new(), "{none}");
        }
    }
}
