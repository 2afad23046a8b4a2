//! Merges client settings, and expands `${VAR}` from the environment.

use anyhow::{Result, bail};
use serde_json::Value;

/// Merges objects key by key; everything else is replaced.
pub fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                match base.get_mut(key) {
                    Some(existing) => merge(existing, value),
                    None => {
                        base.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// Expands `${VAR}` in every text, so that a key need not be in the file.
pub fn expand(value: &mut Value, lookup: &impl Fn(&str) -> Option<String>) -> Result<()> {
    match value {
        Value::String(text) => *text = expand_text(text, lookup)?,
        Value::Array(items) => items.iter_mut().try_for_each(|item| expand(item, lookup))?,
        Value::Object(fields) => fields.values_mut().try_for_each(|field| expand(field, lookup))?,
        _ => {}
    }
    Ok(())
}

fn expand_text(text: &str, lookup: &impl Fn(&str) -> Option<String>) -> Result<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((name, tail)) = after.split_once('}').filter(|(name, _)| is_name(name)) else {
            // Not a reference of ours, but perhaps a shell expression in a hook.
            out.push_str("${");
            rest = after;
            continue;
        };
        let Some(value) = lookup(name) else {
            bail!(
                "ccc.json uses ${{{name}}}, but {name} is not set in the environment; set it, or \
                 choose another provider"
            );
        };
        out.push_str(&value);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

pub fn variables(text: &str) -> Vec<String> {
    let names = std::cell::RefCell::new(Vec::new());
    let note = |name: &str| {
        names.borrow_mut().push(name.to_owned());
        Some(String::new())
    };
    // This fails only on a missing variable, and here every lookup succeeds.
    let _ = expand_text(text, &note);
    names.into_inner()
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_come_from_the_environment() {
        let lookup = |name: &str| (name == "KEY").then(|| "secret".to_owned());
        let mut value = json!({"env": {"TOKEN": "${KEY}", "MIX": "a${KEY}b${KEY}"}, "list": ["${KEY}", 1], "sh": "${x:-y} $KEY"});
        expand(&mut value, &lookup).unwrap();
        assert_eq!(
            value,
            json!({"env": {"TOKEN": "secret", "MIX": "asecretbsecret"}, "list": ["secret", 1], "sh": "${x:-y} $KEY"})
        );
        let error = expand(&mut json!("${OTHER}"), &lookup).unwrap_err();
        assert!(error.to_string().contains("OTHER is not set"), "{error}");
        assert_eq!(variables("a${KEY}b${OTHER}${x:-y}$Z"), ["KEY", "OTHER"]);
    }
}
