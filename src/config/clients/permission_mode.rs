//! The permission mode in which a session begins: the user's choice, or else that of the client's
//! own screen.

use std::ffi::OsString;

use serde_json::Value;

use super::{Role, Variables, environment, generated, resolved};
use crate::client::mode::PermissionMode;
use crate::config::{Config, profile};
use crate::directories::Directories;
use crate::machine::Modes;

/// Switches for other kinds of providers. Like another endpoint, they have no check for auto mode.
const OTHER_KINDS: [&str; 3] =
    ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];

/// `args` are the user's arguments for the client; `own` is the environment of this process.
pub fn modes(
    directories: &Directories,
    config: &Config,
    provider: Option<&str>,
    user: Option<&Value>,
    args: &[OsString],
    own: &Variables,
) -> Modes {
    let others = generated::other_settings(directories, Role::Agent);
    let mut all: Vec<_> = others.into_iter().map(|other| other.settings).collect();
    all.extend(resolved(config, provider, user, own));
    let variable = |name: &str| {
        let set = environment::text(own, name).filter(|value| !value.is_empty());
        set.is_some() || all.iter().any(|settings| profile::env(settings, name).is_some())
    };
    let elsewhere = variable(profile::BASE_URL) || OTHER_KINDS.iter().any(|name| variable(name));
    let auto = !elsewhere && !all.iter().any(forbids_auto);
    Modes { auto, ..chosen(&all, args) }
}

fn chosen(all: &[Value], args: &[OsString]) -> Modes {
    const MODE: &str = "--permission-mode";
    const SKIPS: &str = "--dangerously-skip-permissions";
    const MAY_SKIP: &str = "--allow-dangerously-skip-permissions";
    let given = |option: &str| {
        args.iter().any(|arg| {
            let arg = arg.to_string_lossy();
            arg == option || arg.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
        })
    };
    let set = all.iter().rev().find_map(|settings| settings["permissions"]["defaultMode"].as_str());
    let typed = args.iter().enumerate().find_map(|(at, arg)| {
        let arg = arg.to_string_lossy();
        match arg.strip_prefix(MODE)? {
            "" => Some(args.get(at + 1)?.to_string_lossy().into_owned()),
            value => value.strip_prefix('=').map(str::to_owned),
        }
    });
    let skips = given(SKIPS).then_some(PermissionMode::Bypass);
    let chosen = typed.or(set.map(str::to_owned)).map(PermissionMode::from);
    let chosen = skips.or(chosen);
    Modes {
        told: true,
        auto: false,
        unchosen: chosen.is_none(),
        begins: Some(chosen.unwrap_or_default()),
        bypass: given(SKIPS) || given(MAY_SKIP),
    }
}

fn forbids_auto(settings: &Value) -> bool {
    settings["disableAutoMode"] == "disable"
        || settings["permissions"]["disableAutoMode"] == "disable"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    struct TestDirectories {
        _dir: tempfile::TempDir,
        directories: Directories,
    }

    fn place(settings: &Value) -> TestDirectories {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("client")).unwrap();
        std::fs::write(at("client/settings.json"), settings.to_string()).unwrap();
        let directories = Directories {
            project: at("p"),
            config_dir: at("config"),
            client_dir: at("client"),
            state_dir: at("s"),
        };
        TestDirectories { directories, _dir: dir }
    }

    fn found(settings: &Value, config: &str, args: &str, env: &[(&str, &str)]) -> Modes {
        let place = place(settings);
        let config = Config::parse(config).unwrap();
        let args: Vec<_> = args.split_whitespace().map(OsString::from).collect();
        let env = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        modes(&place.directories, &config, Some("kimi"), None, &args, &env)
    }

    #[test]
    fn the_users_choice_counts() {
        let none = json!({});
        assert!(found(&none, "{}", "", &[]).unchosen);
        assert!(!found(&json!({"permissions":{"defaultMode":"default"}}), "{}", "", &[]).unchosen);
        let shared = r#"{"settings":{"permissions":{"defaultMode":"plan"}}}"#;
        assert!(!found(&none, shared, "", &[]).unchosen);
        for args in
            ["--permission-mode plan", "--permission-mode=plan", "--dangerously-skip-permissions"]
        {
            assert!(!found(&none, "{}", args, &[]).unchosen, "{args}");
        }
        let begins = |settings: &Value, args: &str| found(settings, "{}", args, &[]).begins;
        let plan = json!({"permissions":{"defaultMode":"plan"}});
        for (settings, args, mode) in [
            (&none, "", PermissionMode::Ask),
            (&plan, "", PermissionMode::Plan),
            (&plan, "--permission-mode acceptEdits", PermissionMode::AcceptEdits),
            (
                &plan,
                "--permission-mode=auto --dangerously-skip-permissions",
                PermissionMode::Bypass,
            ),
        ] {
            assert_eq!(begins(settings, args), Some(mode), "{args}");
        }
        assert!(found(&none, "{}", "--allow-dangerously-skip-permissions", &[]).bypass);
        assert!(found(&none, "{}", "--dangerously-skip-permissions", &[]).bypass);
        assert!(!found(&none, "{}", "--permission-mode plan", &[]).bypass);
    }

    #[test]
    fn auto_mode_needs_the_check_of_the_provider() {
        let none = json!({});
        assert!(found(&none, "{}", "", &[]).auto);
        assert!(!found(&none, "{}", "", &[("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")]).auto);
        assert!(found(&none, "{}", "", &[("ANTHROPIC_BASE_URL", "")]).auto);
        assert!(!found(&none, "{}", "", &[("CLAUDE_CODE_USE_BEDROCK", "1")]).auto);
        let kimi = r#"{"providers":{"kimi":{"env":{"ANTHROPIC_BASE_URL":"https://k"}}}}"#;
        assert!(!found(&none, kimi, "", &[]).auto);
        let user = json!({"env":{"ANTHROPIC_BASE_URL":"https://mine"}});
        assert!(!found(&user, "{}", "", &[]).auto);
        assert!(!found(&json!({"disableAutoMode":"disable"}), "{}", "", &[]).auto);
    }
}
