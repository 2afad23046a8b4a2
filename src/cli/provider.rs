//! `ccc provider …` and `ccc validate …`.

use std::time::Duration;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum ProviderCommand {
    /// List all providers; * marks the current one
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one provider, with its keys masked
    Show {
        /// The provider's name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a provider; asks for anything missing if there is a terminal
    Add(Box<AddArgs>),
    /// Remove a provider, and its key with it
    #[command(visible_alias = "rm")]
    Remove {
        /// The provider's name
        name: String,
    },
    /// Make a provider the current one; `none` goes back to claude's own login
    Use {
        /// The provider's name, or `none`
        name: String,
    },
    /// Give a provider another name
    Rename {
        /// The provider's name now
        old: String,
        /// Its new name
        new: String,
    },
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// What to call it [default: the name of the preset]
    pub name: Option<String>,

    /// List the presets
    #[arg(long, exclusive = true)]
    pub presets: bool,

    /// A known vendor
    #[arg(long, value_name = "PRESET", conflicts_with = "base_url")]
    pub preset: Option<String>,

    /// The endpoint, without /v1/messages
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// Read the key from this environment variable when it is needed; only its name is stored
    #[arg(long, value_name = "VAR", group = "key")]
    pub token_env: Option<String>,

    /// Read the key from standard input
    #[arg(long, group = "key")]
    pub token_stdin: bool,

    /// The key. Others on this machine can see it in the process list: prefer the two above
    #[arg(long, value_name = "KEY", group = "key")]
    pub token: Option<String>,

    /// Send the key as x-api-key, not as a bearer token
    #[arg(long)]
    pub api_key: bool,

    /// The model to use
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// The model for small tasks
    #[arg(long, value_name = "NAME")]
    pub small_model: Option<String>,

    /// Replace an existing provider of that name
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// The provider to test [default: the current one]
    pub provider: Option<String>,

    /// Test all of them
    #[arg(long, conflicts_with = "provider")]
    pub all: bool,

    /// How long to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = seconds)]
    pub timeout: Duration,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(number) {
        Ok(duration) if !duration.is_zero() && number < 1e6 => Ok(duration),
        _ => Err("expected a number of seconds above 0 and below 1000000".to_owned()),
    }
}
