//! What a provider may be called: the name is typed as a word, and is part of a file name.

use clap::CommandFactory;

use crate::cli::Cli;
use crate::cmd::Usage;
use crate::config;

const LONGEST: usize = 64;
/// Commands that the parser does not list.
const INNER: [&str; 4] = ["agent-shim", "scripted-client", "status-line", "help"];

pub fn check(name: &str) -> Result<(), Usage> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() {
        return Err(Usage("a provider needs a name".into()));
    }
    if !name.chars().all(plain) || name.starts_with(['-', '.']) {
        return Err(Usage(format!(
            "{name:?} cannot be a provider's name: use letters, digits, -, _ and ., and begin with \
             a letter or digit"
        )));
    }
    if name.len() > LONGEST {
        return Err(Usage(format!("a provider's name has at most {LONGEST} characters")));
    }
    if name == config::OWN_LOGIN {
        return Err(Usage(format!(
            "{name:?} cannot be a provider's name: `ccc provider use {name}` goes back to claude's own login"
        )));
    }
    if is_command(name) {
        return Err(Usage(format!(
            "{name:?} cannot be a provider's name: `ccc {name}` is a command"
        )));
    }
    // The settings for the supervisor of `x` are in settings-x-supervisor.json.
    if name.ends_with("-supervisor") {
        return Err(Usage(format!(
            "{name:?} cannot be a provider's name: the ending -supervisor is taken"
        )));
    }
    Ok(())
}

fn is_command(name: &str) -> bool {
    let cli = Cli::command();
    INNER.contains(&name)
        || cli.get_subcommands().any(|command| {
            command.get_name() == name || command.get_all_aliases().any(|a| a == name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["kimi", "GLM-4.6", "a_b", "7", "supervisor-1"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in ["", "-x", ".x", "a b", "a/b", "ü", "x\n", &"x".repeat(65), "kimi-supervisor"] {
            assert!(check(bad).is_err(), "{bad}");
        }
        for command in ["init", "provider", "validate", "replay", "agent-shim", "help"] {
            let error = check(command).unwrap_err();
            assert!(error.0.contains("is a command"), "{}", error.0);
        }
    }
}
