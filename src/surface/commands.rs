//! What a person types to ccc itself: exit, help, the state of the session, a shell command (`!`), a
//! note for the project's memory (`#`). None of it costs a turn or a review.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::ImageSource;
use super::completion::KnownCommands;
use super::context::short;
use super::limit;
use super::notices::money;
use crate::client::mode::PermissionMode;
use crate::client::stream::{Model, strip_escapes};
use crate::event::Wish;
use crate::machine::Status;

pub const NO_TODOS: &str = "The agent has no todo list.";
/// How many bytes of a command's output the agent gets.
const MOST_SHOWN: usize = 30_000;
pub const NO_MODELS: &str = "claude has not listed its models; use /model NAME.";

/// A typed text that is not for the agent.
#[derive(Debug, PartialEq, Eq)]
pub enum OwnCommand {
    Leave,
    Help,
    /// Go back to an earlier message; the text after the command says which.
    Rewind(String),
    /// Show this answer and do nothing else.
    Answer(String),
    /// Run this in the person's shell; the agent gets the output with the next message.
    Shell(String),
    Note(String),
    Wish(Wish),
    /// Let the person choose from the models that the client offers.
    ChooseModel,
    Diff,
    Todos,
    Vim,
    Image(ImageSource),
}

/// The facts that answers are made from.
#[derive(Debug)]
pub struct About<'a> {
    pub status: &'a Status,
    /// The provider, or what the client identifies itself with.
    pub account: &'a str,
    pub session: Option<&'a str>,
}

/// Commands that need the full-screen client, and what to do here instead.
const FULL_SCREEN_ONLY: [(&str, &str); 10] = [
    ("/resume", "To resume another session, exit and run `ccc --supervisor --resume`."),
    (
        "/permissions",
        "Your answers here last until the end of the session; permanent rules are in claude's settings.json.",
    ),
    (
        "/export",
        "`ccc sessions show` prints this session; `ccc sessions path` prints where it is recorded.",
    ),
    ("/config", ""),
    ("/login", "To log in, run `claude /login` in another terminal."),
    ("/logout", "To log out, run `claude /logout` in another terminal."),
    ("/memory", "To add a note to CLAUDE.md, begin a line with #, or edit the file."),
    ("/hooks", ""),
    ("/agents", ""),
    (
        "/theme",
        "To change the colours, set `supervisor.theme` in ccc.json to terminal, dark or light.",
    ),
];
const WHERE: &str = "is only available in claude's own interface: `ccc --supervisor=native`.";

pub fn own_command(typed: &str, about: &About<'_>, commands: &KnownCommands) -> Option<OwnCommand> {
    let text = typed.trim();
    if let Some(command) = text.strip_prefix('!').map(str::trim).filter(|text| !text.is_empty()) {
        return Some(OwnCommand::Shell(command.to_owned()));
    }
    // `##` starts a heading, not a note.
    if let Some(note) = text.strip_prefix('#').filter(|note| !note.starts_with('#')) {
        let note = note.trim();
        let one_line = !note.is_empty() && !note.contains('\n');
        return one_line.then(|| OwnCommand::Note(note.to_owned()));
    }
    Some(match text {
        "exit" | "quit" | "/exit" | "/quit" | ":q" => OwnCommand::Leave,
        "/help" => OwnCommand::Help,
        _ if text.split_whitespace().next() == Some("/rewind") => {
            OwnCommand::Rewind(text.trim_start_matches("/rewind").trim().to_owned())
        }
        "/cost" => OwnCommand::Answer(cost(about.status)),
        "/status" => OwnCommand::Answer(status(about)),
        "/context" => OwnCommand::Wish(Wish::Context),
        "/model" => OwnCommand::ChooseModel,
        "/mode" => OwnCommand::Wish(Wish::NextMode),
        "/diff" => OwnCommand::Diff,
        "/todos" => OwnCommand::Todos,
        "/vim" => OwnCommand::Vim,
        "/image" => OwnCommand::Image(ImageSource::Clipboard),
        _ if text.starts_with("/image ") => {
            let path = text["/image ".len()..].trim();
            OwnCommand::Image(ImageSource::Path(unquoted(path)))
        }
        "/background" => OwnCommand::Wish(Wish::Background),
        _ if text.starts_with("/mode ") => mode(&text["/mode ".len()..]),
        _ if text.starts_with("/model ") => {
            OwnCommand::Wish(Wish::Model(text["/model ".len()..].trim().to_owned()))
        }
        _ => {
            let word = text.split_whitespace().next()?;
            if commands.has(word.trim_start_matches('/')) {
                return None;
            }
            if let Some((_, here)) = FULL_SCREEN_ONLY.iter().find(|(name, _)| *name == word) {
                return Some(OwnCommand::Answer(
                    format!("{word} {WHERE} {here}").trim_end().to_owned(),
                ));
            }
            // As the client does with its own screen: a path is no command. A space before the slash
            // makes any text a message.
            if !typed.starts_with('/') || !commands.is_unknown(word) || Path::new(word).exists() {
                return None;
            }
            OwnCommand::Answer(unknown(word, commands.closest(word)))
        }
    })
}

fn unknown(word: &str, meant: Option<String>) -> String {
    let instead = meant.map_or_else(
        || {
            "Some commands exist only in claude's own interface: `ccc --supervisor=native`."
                .to_owned()
        },
        |meant| format!("Did you mean {meant}?"),
    );
    format!(
        "There is no command {word} here, so nothing was sent. {instead} To send the text as a \
         message, begin it with a space."
    )
}

fn mode(typed: &str) -> OwnCommand {
    PermissionMode::typed(typed).map_or_else(
        || {
            let modes = "ask, edits, plan, auto or bypass";
            OwnCommand::Answer(format!(
                "The permission mode must be {modes}, not {:?}.",
                typed.trim()
            ))
        },
        |mode| OwnCommand::Wish(Wish::Mode(mode)),
    )
}

/// The models as text, for a surface without a picker.
pub fn models(models: &[Model], now: &str) -> String {
    if models.is_empty() {
        return NO_MODELS.to_owned();
    }
    // Two names may stand for the same model.
    let current = models.iter().position(|model| model.resolved == now || model.value == now);
    let line = |(at, model): (usize, &Model)| {
        let mark = if current == Some(at) { " (current)" } else { "" };
        let description = model.description.lines().next().unwrap_or_default();
        format!("{}{mark}: {description}", model.value)
    };
    let lines: Vec<_> = models.iter().enumerate().map(line).collect();
    format!("{}\nType /model NAME to change it.", lines.join("\n"))
}

fn cost(status: &Status) -> String {
    let agent = (status.cost_usd - status.reviews_usd).max(0.0);
    format!(
        "agent    {}\nreviews  {}\ntotal    {}",
        money(agent),
        money(status.reviews_usd),
        money(status.cost_usd)
    )
}

fn status(about: &About<'_>) -> String {
    let status = about.status;
    let or = |text: &str, otherwise: &str| {
        if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
    };
    let context = match status.context {
        Some((tokens, Some(window))) => format!("{} of {} tokens", short(tokens), short(window)),
        Some((tokens, None)) => format!("{} tokens", short(tokens)),
        None => "not known yet".to_owned(),
    };
    let supervision = if status.supervising {
        format!("on, {} of {} reviews used", status.round, status.max)
    } else {
        "off".to_owned()
    };
    let mode = match &status.mode {
        Some(PermissionMode::Bypass) => "skipped",
        Some(mode) => mode.words(),
        None => "not known yet",
    };
    let limit = status.limit.as_ref().map(|limit| {
        let told = limit::told(limit, Timestamp::now(), &TimeZone::system());
        format!("\nlimit        {told}")
    });
    format!(
        "session      {}\nmodel        {}\naccount      {}\npermissions  {mode}\nsupervision  {supervision}\ncontext      {context}\ncost         {} (reviews: {}){}",
        about.session.unwrap_or("not started yet"),
        or(&status.model, "not known yet"),
        or(about.account, "claude's own login"),
        money(status.cost_usd),
        money(status.reviews_usd),
        limit.unwrap_or_default(),
    )
}

/// A path without the quotes or escapes that a person or a terminal adds.
fn unquoted(path: &str) -> String {
    let words = shell_words::split(path).unwrap_or_default();
    if let [word] = words.as_slice() { word.clone() } else { path.to_owned() }
}

/// Puts `shown` before the message. A slash command stays alone: it is only a command at the start.
pub fn behind(shown: &mut String, text: String) -> String {
    if text.trim_start().starts_with('/') { text } else { std::mem::take(shown) + &text }
}

/// What the agent reads before the next message: the beginning and the end of a long output, as claude
/// does with the output of its own commands.
pub fn shown_to_the_agent(command: &str, output: &str) -> String {
    let output = strip_escapes(output);
    let output = output.trim_end();
    let shown = match output.len().checked_sub(MOST_SHOWN) {
        None | Some(0) => output.to_owned(),
        Some(more) => {
            let is_between = |at: &usize| output.is_char_boundary(*at);
            let to = (0..=MOST_SHOWN / 2).rev().find(is_between).unwrap_or(0);
            let from =
                (MOST_SHOWN / 2 + more..=output.len()).find(is_between).unwrap_or(output.len());
            format!("{}\n[{} bytes left out]\n{}", &output[..to], from - to, &output[from..])
        }
    };
    format!("I ran this command myself:\n```\n$ {command}\n{shown}\n```")
}

/// For `--plain`, which has no table of keys.
pub const PLAIN_HELP: &str = "\
Type a message and press Enter. End a line with a backslash to continue it on
the next one. While the agent works, a message steers it; during a review, it
cancels the review.
Ctrl-C interrupts. Ctrl-D exits; so does Ctrl-C, twice, when nothing is running.
/supervisor and /supervisoroff: turn reviews on and off
/status and /cost: where the session stands, and what it has cost
/mode and /model: change the permission mode (ask, edits, plan, auto), the model
/context: what fills the model's context
/diff: what the task has changed
/todos: the agent's todo list
/rewind: the messages that you can go back to
/background: send the running command to the background
/image PATH: add an image to your next message
!command: run a command in your shell
#note: add a note to CLAUDE.md
Other slash commands are claude's.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::stream::{Message, SlashCommand};
    use crate::surface::sample;

    fn known() -> KnownCommands {
        let mut known = KnownCommands::default();
        let named = |name: &str, alias: &str| SlashCommand {
            name: name.into(),
            aliases: vec![alias.into()],
            ..SlashCommand::default()
        };
        let commands = vec![named("agents", ""), named("compact", ""), named("clear", "reset")];
        known.learn(&Message::CommandsChanged(commands));
        known
    }

    fn own(text: &str) -> Option<OwnCommand> {
        let status = sample::status();
        let about = About { status: &status, account: "", session: Some("s-1") };
        own_command(text, &about, &known())
    }

    #[test]
    fn the_help_fits_a_plain_terminal() {
        assert!(PLAIN_HELP.lines().all(|line| line.len() <= 80), "{PLAIN_HELP}");
    }

    #[test]
    fn of_a_long_output_the_agent_sees_both_ends() {
        let output = format!("begins{}ends\n", "中".repeat(MOST_SHOWN));
        let shown = shown_to_the_agent("make", &output);
        assert!(shown.len() < MOST_SHOWN + 200, "{}", shown.len());
        assert!(shown.starts_with("I ran this command myself:\n```\n$ make\nbegins中"));
        assert!(shown.ends_with("中ends\n```") && shown.contains(" bytes left out]\n中"));
        assert!(shown_to_the_agent("ls", "\x1b[31ma\x1b[0m\n").ends_with("$ ls\na\n```"));
    }

    #[test]
    fn an_unknown_command_is_not_sent() {
        for (typed, said) in [
            (
                "/compakt now",
                "There is no command /compakt here, so nothing was sent. Did you mean /compact?",
            ),
            ("/rest", "Did you mean /reset?"),
            ("/supervisorof", "Did you mean /supervisoroff?"),
            ("/STATUS", "Did you mean /status?"),
            (
                "/zq-nothing",
                "only in claude's own interface: `ccc --supervisor=native`. To send the text as a message, begin it with a space.",
            ),
        ] {
            let Some(OwnCommand::Answer(answer)) = own(typed) else { panic!("{typed}") };
            assert!(answer.contains(said), "{answer}");
        }
        for sent in [
            " /compakt now",
            "/etc/hosts is broken",
            "/tmp",
            "/tmp is full",
            "/zq.nothing",
            "/* a comment */",
            "/",
            "// x",
            "/reset",
            "/mcp__zq__prompt",
            "/supervisoroff",
        ] {
            assert_eq!(own(sent), None, "{sent}");
        }
        let status = sample::status();
        let about = About { status: &status, account: "", session: None };
        let not_listed_yet = own_command("/zq-nothing", &about, &KnownCommands::default());
        assert_eq!(not_listed_yet, None);
    }

    #[test]
    fn what_is_not_for_the_agent() {
        for leave in ["exit", " quit ", "/exit", "/quit"] {
            assert_eq!(own(leave), Some(OwnCommand::Leave), "{leave}");
        }
        assert_eq!(own("/help"), Some(OwnCommand::Help));
        assert_eq!(own("! ls -l"), Some(OwnCommand::Shell("ls -l".into())));
        assert_eq!(own("# use tabs"), Some(OwnCommand::Note("use tabs".into())));
        let wish = |wish| Some(OwnCommand::Wish(wish));
        assert_eq!(own("/mode"), wish(Wish::NextMode));
        assert_eq!(own("/mode edits"), wish(Wish::Mode(PermissionMode::AcceptEdits)));
        assert_eq!(own("/model opus"), wish(Wish::Model("opus".into())));
        assert_eq!(own("/model"), Some(OwnCommand::ChooseModel));
        assert_eq!(own("/context"), wish(Wish::Context));
        for answered in ["/cost", "/status", "/mode fast", "/resume", "/theme"] {
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
