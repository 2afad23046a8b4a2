//! `ccc sessions …`.

use clap::{Args, Subcommand};
use jiff::Span;

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
    /// List this project's recorded sessions, newest first (the same as `ccc sessions`)
    List(ListArgs),
    /// Show what happened in a session: rounds, verdicts, what the supervisor checked
    Show {
        /// The session's id, or the beginning of it [default: the newest]
        id: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Also show everything that the checks printed
        #[arg(long)]
        checks: bool,
    },
    /// Print the directory of a recording
    Path {
        /// The session's id, or the beginning of it [default: the newest]
        id: Option<String>,
    },
    /// Remove recordings and what the Stop hook keeps about those sessions; claude's own conversations are kept
    #[command(visible_alias = "remove")]
    Rm {
        /// Session ids, or the beginning of each
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Remove old recordings, and what the Stop hook keeps about old sessions; never a running session
    Prune {
        /// How old: a number with a unit, such as 12h, 30d, 2w or 6mo
        #[arg(long, value_name = "TIME", value_parser = age)]
        older_than: Span,
        /// Only list what would be removed
        #[arg(long)]
        dry_run: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// List older sessions too
    #[arg(long)]
    pub all: bool,
    /// Print JSON, always for all sessions
    #[arg(long)]
    pub json: bool,
}

fn age(text: &str) -> Result<Span, String> {
    let age: Span =
        text.parse().map_err(|_| "expected a number with a unit, such as 30d".to_owned())?;
    if age.is_negative() {
        return Err("expected a time in the past, such as 30d".to_owned());
    }
    Ok(age)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::ToSpan;

    #[test]
    fn an_age_is_a_number_and_a_unit() {
        for (text, span) in [
            ("0s", 0.seconds()),
            ("90s", 90.seconds()),
            ("2m", 2.minutes()),
            ("1h", 1.hour()),
            ("30d", 30.days()),
            ("1w", 1.week()),
            ("6 months", 6.months()),
            ("1y", 1.year()),
        ] {
            assert_eq!(age(text).map(Span::fieldwise), Ok(span.fieldwise()), "{text}");
        }
        for text in ["", "d", "30", "-1d", "1d ago", "1.5d", "99999999999d", "日"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
