//! `ccc sessions …`.

use std::time::Duration;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SessionsArgs {
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List this project's recorded sessions, the newest first; so does `ccc sessions` alone
    List(ListArgs),
    /// Tell what happened in a session: rounds, verdicts, what the supervisor checked
    Show {
        /// The session's id or its beginning [default: the newest]
        id: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the directory of a recording
    Path {
        /// The session's id or its beginning [default: the newest]
        id: Option<String>,
    },
    /// Remove recordings; claude's own conversations and the Stop hook's state stay
    #[command(visible_alias = "remove")]
    Rm {
        /// Ids or their beginnings
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Remove recordings that nothing was added to for a while; never one that is running
    Prune {
        /// How long: a number with s, m, h, d or w, as in 30d
        #[arg(long, value_name = "TIME", value_parser = age)]
        older_than: Duration,
        /// Only say which
        #[arg(long)]
        dry_run: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Also those that are further back
    #[arg(long)]
    pub all: bool,
    /// As JSON, always all of them
    #[arg(long)]
    pub json: bool,
}

fn age(text: &str) -> Result<Duration, String> {
    let wrong = || "a number with s, m, h, d or w, as in 30d".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let digits = &text[..text.len() - 1];
    let number: u32 = digits.parse().map_err(|_| wrong())?;
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(wrong());
    }
    Ok(Duration::from_secs(seconds * u64::from(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_and_a_unit() {
        for (text, seconds) in [("0s", 0), ("90s", 90), ("2m", 120), ("1h", 3600), ("1w", 604_800)]
        {
            assert_eq!(age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "d", "30", "-1d", "+1d", "1.5h", "1y", "1 d", "99999999999d", "日"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
