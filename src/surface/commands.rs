//! What a person types that is for ccc itself: leaving, help, the state of the session, a command of the
//! shell (`!`), a note to the project's memory (`#`). None of it costs a turn or a review.

use super::notices::money;
use crate::machine::Status;

/// What was typed, when it is not for the agent.
#[derive(Debug, PartialEq, Eq)]
pub enum OwnCommand {
    Leave,
    Help,
    /// Only to be answered.
    Answer(String),
    /// To be run in the person's shell; the agent gets the output with the next message.
    Shell(String),
    /// To be added to the project's CLAUDE.md.
    Note(String),
}

/// What an answer can be about.
#[derive(Debug)]
pub struct About<'a> {
    pub status: &'a Status,
    pub provider: &'a str,
    pub session: Option<&'a str>,
}

/// Commands of the full-screen client that need its screen, and what does the same here.
const FULL_SCREEN_ONLY: [(&str, &str); 12] = [
    ("/resume", "Leave, then `ccc --supervisor --resume` lets you choose a session."),
    ("/model", "Leave, then resume with another one: `ccc --supervisor --model NAME --resume`."),
    (
        "/permissions",
        "Answers to questions last for the session; rules are in claude's settings.json.",
    ),
    (
        "/export",
        "`ccc sessions show` prints the session, `ccc sessions path` is where it is recorded.",
    ),
    ("/config", ""),
    ("/login", "Run `claude /login` in another terminal."),
    ("/logout", "Run `claude /logout` in another terminal."),
    ("/memory", "Begin a line with # to add a note to CLAUDE.md, or edit the file."),
    ("/hooks", ""),
    ("/agents", ""),
    ("/theme", ""),
    ("/vim", "Ctrl-G opens the text in $VISUAL or $EDITOR."),
];
const INSTEAD: &str = "The full-screen client has it: `ccc --supervisor=hook` starts that one, supervised by its Stop hook.";

/// `knows`: whether the client has a command of this name.
pub fn own_command(
    text: &str,
    about: &About<'_>,
    knows: impl Fn(&str) -> bool,
) -> Option<OwnCommand> {
    let text = text.trim();
    if let Some(command) = text.strip_prefix('!').map(str::trim).filter(|text| !text.is_empty()) {
        return Some(OwnCommand::Shell(command.to_owned()));
    }
    // A heading is no note.
    if let Some(note) = text.strip_prefix('#').filter(|note| !note.starts_with('#')) {
        let note = note.trim();
        let one_line = !note.is_empty() && !note.contains('\n');
        return one_line.then(|| OwnCommand::Note(note.to_owned()));
    }
    Some(match text {
        "exit" | "quit" | "/exit" | "/quit" | ":q" => OwnCommand::Leave,
        "/help" => OwnCommand::Help,
        "/cost" => OwnCommand::Answer(cost(about.status)),
        "/status" => OwnCommand::Answer(status(about)),
        _ => {
            let word = text.split_whitespace().next()?;
            let (_, here) = FULL_SCREEN_ONLY.iter().find(|(name, _)| *name == word)?;
            if knows(word.trim_start_matches('/')) {
                return None;
            }
            let here = if here.is_empty() { String::new() } else { format!("{here} ") };
            OwnCommand::Answer(format!(
                "{word} is not available in a supervised session. {here}{INSTEAD}"
            ))
        }
    })
}

fn cost(status: &Status) -> String {
    format!("The session has cost {} so far, reviews included.", money(status.cost_usd))
}

fn status(about: &About<'_>) -> String {
    let status = about.status;
    let or = |text: &str, otherwise: &str| {
        if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
    };
    let context = match status.context {
        Some((tokens, Some(window))) => format!("{tokens} of {window} tokens"),
        Some((tokens, None)) => format!("{tokens} tokens"),
        None => "not known yet".to_owned(),
    };
    let supervision = if status.supervising {
        format!("on, {} of {} reviews used", status.round, status.max)
    } else {
        "off".to_owned()
    };
    format!(
        "session      {}\nmodel        {}\nprovider     {}\nsupervision  {supervision}\ncontext      {context}\ncost         {}",
        about.session.unwrap_or("not started yet"),
        or(&status.model, "not known yet"),
        or(about.provider, "claude's own login"),
        money(status.cost_usd),
    )
}

/// What the agent reads in front of the next message.
pub fn shown_to_the_agent(command: &str, output: &str) -> String {
    format!("I ran this command myself:\n```\n$ {command}\n{}\n```", output.trim_end())
}

/// For `--plain`, where there is no table of keys.
pub const PLAIN_HELP: &str = "\
Type a message and Enter. A line that ends with a backslash goes on in the next one.
While the agent works, a message steers it; during a review, it cancels the review.
Ctrl-C interrupts; twice when nothing is running, or Ctrl-D, leaves.
/status and /cost tell how the session stands, /supervisor and /supervisoroff switch reviews.
!command runs a command in your shell, #note adds a note to CLAUDE.md. Other slash commands are claude's.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::sample;

    fn own(text: &str) -> Option<OwnCommand> {
        let status = sample::status();
        let about = About { status: &status, provider: "", session: Some("s-1") };
        own_command(text, &about, |name| name == "agents")
    }

    #[test]
    fn what_is_not_for_the_agent() {
        for leave in ["exit", " quit ", "/exit", "/quit"] {
            assert_eq!(own(leave), Some(OwnCommand::Leave), "{leave}");
        }
        assert_eq!(own("/help"), Some(OwnCommand::Help));
        assert_eq!(own("! ls -l"), Some(OwnCommand::Shell("ls -l".into())));
        assert_eq!(own("# use tabs"), Some(OwnCommand::Note("use tabs".into())));
        for answered in ["/cost", "/status", "/model opus", "/resume", "/vim"] {
            assert!(matches!(own(answered), Some(OwnCommand::Answer(_))), "{answered}");
        }
        for agents in [
            "exit the loop early",
            "quit smoking",
            "/compact",
            "/agents",
            "## a heading",
            "#",
            "!",
            "# a\nb",
            "fix it",
            "/exit now",
        ] {
            assert_eq!(own(agents), None, "{agents}");
        }
    }
}
