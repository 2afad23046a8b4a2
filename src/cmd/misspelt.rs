//! Words on the command line that would go to claude but were probably meant for ccc. Claude would
//! take a misspelt command for a prompt, and reject an option of ccc's without saying whose it is.

use std::ffi::OsString;

use anyhow::Result;
use clap::CommandFactory;

use super::Usage;
use crate::cli::Cli;
use crate::config::{self, Config};

/// Commands of claude itself, which must not be taken for typing mistakes.
const CLIENT_COMMANDS: [&str; 14] = [
    "agents",
    "attach",
    "auth",
    "auto-mode",
    "config",
    "install",
    "logs",
    "mcp",
    "migrate-installer",
    "plugin",
    "plugins",
    "setup-token",
    "update",
    "upgrade",
];
/// Options that claude has too.
const SHARED_OPTIONS: [&str; 2] = ["prompt", "output-format"];

/// `rest`: what goes to claude. After a provider's name or `-p`, its first word is no command.
pub fn check(rest: &[OsString], first_is_a_command: bool, config: &Config) -> Result<()> {
    let first = rest.first().and_then(|word| word.to_str()).filter(|_| first_is_a_command);
    if let Some(word) = first
        && let Some(meant) = close_to(word, config)
    {
        let problem = format!(
            "there is no command or provider {word:?}; did you mean `{meant}`? To send {word:?} \
             to claude as a prompt, use `ccc -p {word}`"
        );
        return Err(Usage(problem).into());
    }
    if first.is_some_and(|word| CLIENT_COMMANDS.contains(&word)) {
        return Ok(());
    }
    let words = rest.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str());
    match words.filter_map(|word| word.strip_prefix("--")).find_map(option_of_ours) {
        Some(problem) => Err(Usage(problem).into()),
        None => Ok(()),
    }
}

/// What a first word that is neither a command nor a provider was probably meant to be.
fn close_to(word: &str, config: &Config) -> Option<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c == '-';
    if word.len() < 4 || !word.chars().all(plain) || CLIENT_COMMANDS.contains(&word) {
        return None;
    }
    let mut cli = Cli::command();
    cli.build();
    let commands = cli.get_subcommands().map(|command| command.get_name().to_owned());
    let known = commands.chain(config.provider_names().map(str::to_owned));
    let known = known.filter(|name| slips(word, name) <= allowed(name));
    config::nearest(known, |name| strsim::jaro_winkler(word, name))
}

/// What is wrong with an option that claude does not have, and ccc has or nearly has.
fn option_of_ours(word: &str) -> Option<String> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let cli = Cli::command();
    let ours = cli.get_arguments().filter_map(clap::Arg::get_long);
    let ours = ours.filter(|option| !SHARED_OPTIONS.contains(option));
    let (count, option) = ours.map(|option| (slips(name, option), option)).min()?;
    match count {
        0 => Some(format!(
            "--{option} is an option of ccc, not of claude; put it before the provider and the \
             arguments for claude"
        )),
        _ if count <= allowed(option) => {
            Some(format!("there is no option --{name}; did you mean --{option}?"))
        }
        _ => None,
    }
}

/// How many letters were left out, added, changed or swapped.
fn slips(word: &str, meant: &str) -> usize {
    strsim::osa_distance(word, meant)
}

fn allowed(meant: &str) -> usize {
    if meant.len() < 6 { 1 } else { 2 }
}
