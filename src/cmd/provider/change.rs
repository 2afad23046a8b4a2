//! The changes to `ccc.json`, each on the parsed file. Anything they do not name is preserved.

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use crate::cmd::Usage;
use crate::config;

type Root = Map<String, Value>;

const CURRENT: &str = "current_provider";

/// Adds a provider. The first one becomes the current one if it can be used as it is; otherwise the
/// client's own login stays in use. With `replace`, an existing provider keeps its settings except for
/// `env`.
pub fn add(
    root: &mut Root,
    name: &str,
    env: Map<String, Value>,
    replace: bool,
    usable: bool,
) -> Result<()> {
    let providers = providers(root)?;
    let first = providers.is_empty();
    match providers.get_mut(name) {
        Some(_) if !replace => bail!("a provider named {name} already exists; --force replaces it"),
        Some(Value::Object(settings)) => {
            settings.insert("env".to_owned(), Value::Object(env));
        }
        _ => {
            providers.insert(name.to_owned(), json!({ "env": env }));
        }
    }
    if first {
        let current = if usable { name } else { config::OWN_LOGIN };
        root.insert(CURRENT.to_owned(), json!(current));
    }
    Ok(())
}

/// Side effects of a removal, to be reported.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub was_current: bool,
    pub was_supervisors: bool,
}

pub fn remove(root: &mut Root, name: &str) -> Result<Removed> {
    let providers = providers(root)?;
    if !providers.contains_key(name) {
        return Err(unknown(providers, name));
    }
    providers.shift_remove(name);
    let was_current = current(root) == Some(name);
    if was_current {
        root.shift_remove(CURRENT);
    }
    let supervisor = root.get_mut("supervisor").and_then(Value::as_object_mut);
    let was_supervisors = supervisor.is_some_and(|supervisor| {
        let named = supervisor.get("provider").and_then(Value::as_str) == Some(name);
        named && supervisor.shift_remove("provider").is_some()
    });
    Ok(Removed { was_current, was_supervisors })
}

pub fn make_current(root: &mut Root, name: &str) -> Result<()> {
    let providers = providers(root)?;
    if name != config::OWN_LOGIN && !providers.contains_key(name) {
        return Err(unknown(providers, name));
    }
    root.insert(CURRENT.to_owned(), json!(name));
    Ok(())
}

/// Renames a provider, keeping its position, and updates everything that refers to it.
pub fn rename(root: &mut Root, old: &str, new: &str) -> Result<()> {
    let providers = providers(root)?;
    if !providers.contains_key(old) {
        return Err(unknown(providers, old));
    }
    if old != new && providers.contains_key(new) {
        bail!("a provider named {new} already exists");
    }
    *providers = std::mem::take(providers)
        .into_iter()
        .map(|(name, settings)| (if name == old { new.to_owned() } else { name }, settings))
        .collect();
    if current(root) == Some(old) {
        root.insert(CURRENT.to_owned(), json!(new));
    }
    if let Some(provider) =
        root.get_mut("supervisor").and_then(|section| section.get_mut("provider"))
        && provider == old
    {
        *provider = json!(new);
    }
    Ok(())
}

fn current(root: &Root) -> Option<&str> {
    root.get(CURRENT).and_then(Value::as_str)
}

fn providers(root: &mut Root) -> Result<&mut Map<String, Value>> {
    let section = root.entry("providers").or_insert_with(|| json!({}));
    if section.is_null() {
        *section = json!({});
    }
    match section.as_object_mut() {
        Some(providers) => Ok(providers),
        None => bail!(
            "\"providers\" in ccc.json must be an object; nothing was changed. Correct it in the \
             file, then try again"
        ),
    }
}

fn unknown(providers: &Map<String, Value>, name: &str) -> anyhow::Error {
    unknown_provider(providers.keys().map(String::as_str), name)
}

pub fn unknown_provider<'a>(known: impl Iterator<Item = &'a str>, name: &str) -> anyhow::Error {
    let known: Vec<_> = known.collect();
    let rest = match known.as_slice() {
        [] => "; ccc.json has no providers, `ccc provider add` adds one".to_owned(),
        names => format!(" (providers: {})", names.join(", ")),
    };
    Usage(format!("there is no provider {name:?}{rest}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> Root {
        let root = json!({
            "x": 1, "current_provider": "b",
            "providers": {"a": {"env": {"A": 1}}, "b": {"env": {"B": 1}, "model": "m"}, "c": {}},
            "supervisor": {"max_iterations": 3, "provider": "b", "y": null}, "z": 2
        });
        root.as_object().cloned().unwrap()
    }

    fn text(root: &Root) -> String {
        serde_json::to_string(root).unwrap()
    }

    #[test]
    fn adding() {
        let env = || json!({"K": "v"}).as_object().cloned().unwrap();
        let mut empty = Root::new();
        add(&mut empty, "a", env(), false, true).unwrap();
        add(&mut empty, "b", env(), false, true).unwrap();
        assert_eq!(
            text(&empty),
            r#"{"providers":{"a":{"env":{"K":"v"}},"b":{"env":{"K":"v"}}},"current_provider":"a"}"#
        );
        let mut root = root();
        assert!(add(&mut root, "b", env(), false, true).is_err());
        add(&mut root, "b", env(), true, true).unwrap();
        assert_eq!(root["providers"]["b"], json!({"env": {"K": "v"}, "model": "m"}));
        let mut odd = json!({"providers": [1]}).as_object().cloned().unwrap();
        assert!(add(&mut odd, "b", env(), true, true).is_err());
        let mut keyless = Root::new();
        add(&mut keyless, "a", env(), false, false).unwrap();
        assert_eq!(keyless["current_provider"], "none", "claude's own login stays");
    }

    #[test]
    fn removing_the_current_one_leaves_none() {
        let mut root = root();
        let removed = remove(&mut root, "b").unwrap();
        assert_eq!(removed, Removed { was_current: true, was_supervisors: true });
        assert_eq!(
            text(&root),
            r#"{"x":1,"providers":{"a":{"env":{"A":1}},"c":{}},"supervisor":{"max_iterations":3,"y":null},"z":2}"#
        );
        assert_eq!(remove(&mut root, "c").unwrap(), Removed::default());
        let error = remove(&mut root, "c").unwrap_err();
        assert!(error.is::<Usage>() && error.to_string().contains("(providers: a"), "{error}");
    }

    #[test]
    fn renaming_keeps_the_place_and_what_points_to_it() {
        let mut root = root();
        rename(&mut root, "b", "new").unwrap();
        assert_eq!(
            text(&root),
            r#"{"x":1,"current_provider":"new","providers":{"a":{"env":{"A":1}},"new":{"env":{"B":1},"model":"m"},"c":{}},"supervisor":{"max_iterations":3,"provider":"new","y":null},"z":2}"#
        );
        assert!(rename(&mut root, "new", "a").is_err());
        rename(&mut root, "a", "first").unwrap();
        assert_eq!(root["current_provider"], "new");
    }

    #[test]
    fn only_a_known_one_becomes_current() {
        let mut root = root();
        make_current(&mut root, "c").unwrap();
        assert_eq!(root["current_provider"], "c");
        assert!(make_current(&mut root, "d").is_err());
        make_current(&mut root, "none").unwrap();
        assert_eq!(root["current_provider"], "none");
    }
}
