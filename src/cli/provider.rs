//! `ccc provider …` and `ccc validate …`.

use std::time::Duration;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum ProviderCommand {
    /// Show all providers; * marks the one that is used
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one provider, its keys masked
    Show {
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a provider; asks for what is missing, if there is a terminal
    Add(Box<AddArgs>),
    /// Remove a provider, and its key with it
    #[command(visible_alias = "rm")]
    Remove { name: String },
    /// Make a provider the one that is used; `none` goes back to claude's own login
    Use { name: String },
    /// Give a provider another name
    Rename { old: String, new: String },
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

    /// Take the key from this variable whenever it is needed; the file only names it
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

    /// The model to ask for
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// The model for small tasks
    #[arg(long, value_name = "NAME")]
    pub small_model: Option<String>,

    /// Replace a provider of that name
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// The provider to try [default: the one that is used]
    pub provider: Option<String>,

    /// Try all of them
    #[arg(long, conflicts_with = "provider")]
    pub all: bool,

    /// How long to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = seconds)]
    pub timeout: Duration,

    /// As JSON
    #[arg(long)]
    pub json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(number) {
        Ok(duration) if !duration.is_zero() && number < 1e6 => Ok(duration),
        _ => Err("must be above 0 seconds, and within reason".to_owned()),
    }
}
