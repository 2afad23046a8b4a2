//! The user's arguments for the client, and those of them that the supervised session takes over.
//!
//! They mean the same as for the client, so this module has to know which of the client's options
//! take a value: a word that is no option's value is the prompt.

use std::ffi::{OsStr, OsString};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct ClientArgs {
    /// `-p`, `--print`: work without a person.
    pub print: bool,
    pub prompt: Option<String>,
    /// A second word that is no option's value; only one can be the prompt.
    pub surplus: Option<String>,
    pub output_format: Option<String>,
    pub input_format: Option<String>,
    pub resume: Option<Resume>,
    pub session_id: Option<String>,
    /// `--fork-session`: the resumed session gets a new id.
    pub forks: bool,
    /// Some argument determines the session: `--session-id`, `--fork-session`, `--from-pr`, …
    pub names_session: bool,
    /// `--settings`: a file or JSON text. The client accepts only one, and ccc passes its own.
    pub settings: Option<String>,
    /// `--add-dir`: the agent works there too, so the supervisor has to look there too.
    pub add_dirs: Vec<OsString>,
    /// The options that determine the beginning of the agent's prompt: a fork that repeats them
    /// shares the prompt cache.
    pub prompt_options: Vec<OsString>,
    /// `--bg`: the client starts the session elsewhere and exits.
    pub background: bool,
    /// `--help` and the like: the client prints something and exits.
    pub exits: bool,
    /// What the client gets. The prompt stays in it, because the client ignores it in this mode.
    pub rest: Vec<OsString>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Resume {
    Session(String),
    /// `--resume` without an id: the client would ask for one.
    Choose,
    /// `--continue`.
    Latest,
}

#[derive(Clone, Copy, PartialEq)]
enum Values {
    None,
    One,
    Optional,
    Many,
}

const ONE: &[&str] = &[
    "--agent",
    "--agents",
    "--append-system-prompt",
    "--append-system-prompt-file",
    "--autocompact",
    "--debug-file",
    "--effort",
    "--environment",
    "--fallback-model",
    "--input-format",
    "--json-schema",
    "--max-budget-usd",
    "--max-thinking-tokens",
    "--max-turns",
    "--model",
    "--name",
    "-n",
    "--output-format",
    "--permission-mode",
    "--permission-prompt-tool",
    "--permission-prompts",
    "--plugin-dir",
    "--plugin-url",
    "--remote-control-session-name-prefix",
    "--session-id",
    "--setting-sources",
    "--settings",
    "--system-prompt",
    "--system-prompt-file",
    "--system-prompt-snapshot",
    "--thinking",
];
const OPTIONAL: &[&str] = &[
    "--cloud",
    "--debug",
    "-d",
    "--from-pr",
    "--prompt-suggestions",
    "--remote-control",
    "--resume",
    "-r",
    "--teleport",
    "--worktree",
    "-w",
];
const MANY: &[&str] = &[
    "--add-dir",
    "--allowed-tools",
    "--allowedTools",
    "--betas",
    "--disallowed-tools",
    "--disallowedTools",
    "--file",
    "--mcp-config",
    "--tools",
];

/// Options that change the tools, the system prompt or other parameters that a prompt cache depends
/// on.
const PROMPT_OPTIONS: &[&str] = &[
    "--add-dir",
    "--agent",
    "--agents",
    "--append-system-prompt",
    "--append-system-prompt-file",
    "--betas",
    "--disable-slash-commands",
    "--disallowed-tools",
    "--disallowedTools",
    "--effort",
    "--exclude-dynamic-system-prompt-sections",
    "--max-thinking-tokens",
    "--mcp-config",
    "--system-prompt",
    "--system-prompt-file",
    "--system-prompt-snapshot",
    "--thinking",
    "--tools",
];

fn values(option: &str) -> Values {
    if ONE.contains(&option) {
        Values::One
    } else if OPTIONAL.contains(&option) {
        Values::Optional
    } else if MANY.contains(&option) {
        Values::Many
    } else {
        Values::None
    }
}

impl ClientArgs {
    fn word(&mut self, word: String) {
        if self.prompt.is_none() {
            self.prompt = Some(word);
        } else if self.surplus.is_none() {
            self.surplus = Some(word);
        }
    }
}

pub fn read_args(args: Vec<OsString>) -> ClientArgs {
    let mut taken = ClientArgs::default();
    let mut args = args.into_iter().peekable();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy().into_owned();
        if text == "--" {
            let words: Vec<_> = args.by_ref().collect();
            words.iter().for_each(|word| taken.word(as_text(word)));
            taken.rest.push(arg);
            taken.rest.extend(words);
            break;
        }
        if !text.starts_with('-') || text == "-" {
            taken.word(text);
            taken.rest.push(arg);
            continue;
        }
        let (option, attached) = match text.split_once('=') {
            Some((option, value)) if text.starts_with("--") => {
                (option.to_owned(), Some(value.to_owned()))
            }
            _ => (text, None),
        };
        let mut given: Vec<OsString> = Vec::new();
        let many = match values(&option) {
            _ if attached.is_some() => 0,
            Values::None => 0,
            Values::One | Values::Optional => 1,
            Values::Many => usize::MAX,
        };
        while given.len() < many {
            let required = values(&option) == Values::One;
            match args.next_if(|next| required || !is_option(next)) {
                Some(value) => given.push(value),
                None => break,
            }
        }
        if option == "--add-dir" {
            taken.add_dirs.extend(attached.iter().map(OsString::from).chain(given.iter().cloned()));
        }
        let value = attached.or_else(|| given.first().map(as_text));
        match option.as_str() {
            "-p" | "--print" => taken.print = true,
            "--output-format" => taken.output_format = value,
            // The session always uses stream-json with the client.
            "--input-format" => taken.input_format = value,
            "--verbose" => {}
            "-r" | "--resume" => taken.resume = Some(value.map_or(Resume::Choose, Resume::Session)),
            "-c" | "--continue" => taken.resume = Some(Resume::Latest),
            "--settings" => taken.settings = value,
            _ => {
                taken.names_session |=
                    ["--session-id", "--fork-session", "--from-pr", "--teleport"]
                        .contains(&option.as_str());
                taken.forks |= option == "--fork-session";
                taken.background |= ["--bg", "--background"].contains(&option.as_str());
                if option == "--session-id" {
                    taken.session_id = value;
                }
                if PROMPT_OPTIONS.contains(&option.as_str()) {
                    taken.prompt_options.push(arg.clone());
                    taken.prompt_options.extend(given.iter().cloned());
                }
                taken.exits |= ["-h", "--help", "-v", "--version"].contains(&option.as_str());
                taken.rest.push(arg);
                taken.rest.extend(given);
            }
        }
    }
    taken
}

/// Removes the user's `--settings` from arguments that otherwise go to the client unread.
pub fn take_settings(args: &mut Vec<OsString>) -> Option<String> {
    let at = args.iter().position(|arg| {
        let text = arg.to_string_lossy();
        text == "--settings" || text.starts_with("--settings=")
    })?;
    let option = as_text(&args.remove(at));
    match option.split_once('=') {
        Some((_, value)) => Some(value.to_owned()),
        None => (at < args.len()).then(|| as_text(&args.remove(at))),
    }
}

fn is_option(arg: &OsString) -> bool {
    arg.as_encoded_bytes().starts_with(b"-") && arg != OsStr::new("-")
}

fn as_text(arg: &OsString) -> String {
    arg.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(line: &str) -> ClientArgs {
        read_args(line.split_whitespace().map(OsString::from).collect())
    }

    fn rest(taken: &ClientArgs) -> String {
        taken.rest.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn scenario_002_arguments_are_passed_on() {
        assert_eq!(rest(&take("/path/to/project --help")), "/path/to/project --help");
        assert_eq!(
            rest(&take("--model opus --add-dir a b --debug")),
            "--model opus --add-dir a b --debug"
        );
    }

    #[test]
    fn a_word_that_is_no_options_value_is_the_prompt() {
        for (line, prompt) in [
            ("fix", Some("fix")),
            ("--model opus fix", Some("fix")),
            ("--model=opus fix", Some("fix")),
            ("fix --model opus", Some("fix")),
            ("-p fix", Some("fix")),
            ("--print --verbose fix", Some("fix")),
            ("--add-dir a b --verbose fix", Some("fix")),
            ("--add-dir a b", None),
            ("--add-dir=a fix", Some("fix")),
            ("--dangerously-skip-permissions fix", Some("fix")),
            ("--append-system-prompt -x fix", Some("fix")),
            ("-- --odd", Some("--odd")),
        ] {
            let taken = take(line);
            assert_eq!((taken.prompt.as_deref(), taken.surplus), (prompt, None), "{line}");
        }
        for line in ["fix it", "fix -p it", "fix --model opus it", "fix -- it", "-- fix it now"] {
            let taken = take(line);
            assert_eq!(
                (taken.prompt.as_deref(), taken.surplus.as_deref()),
                (Some("fix"), Some("it"))
            );
        }
    }

    #[test]
    fn added_directories_are_noted_for_the_supervisor() {
        let taken = take("--add-dir a b --model x --add-dir=c fix");
        assert_eq!(taken.add_dirs, ["a", "b", "c"].map(OsString::from));
        assert_eq!(rest(&taken), "--add-dir a b --model x --add-dir=c fix");
    }

    #[test]
    fn prompt_options_are_noted_and_passed_on() {
        let line = "--tools Read,Bash --model x --effort=high --disallowedTools Edit Write -p fix \
                    --mcp-config a.json --add-dir b --permission-mode plan";
        let taken = take(line);
        let noted: Vec<_> = taken.prompt_options.iter().map(as_text).collect();
        assert_eq!(
            noted.join(" "),
            "--tools Read,Bash --effort=high --disallowedTools Edit Write --mcp-config a.json --add-dir b"
        );
        assert_eq!(rest(&taken), line.replace("-p ", ""));
    }

    #[test]
    fn settings_are_found_in_both_spellings() {
        for line in ["-p x --settings mine.json y", "-p x --settings=mine.json y"] {
            let mut args = line.split_whitespace().map(OsString::from).collect();
            assert_eq!(take_settings(&mut args).as_deref(), Some("mine.json"));
            assert_eq!(args, ["-p", "x", "y"].map(OsString::from));
        }
        assert_eq!(take_settings(&mut vec!["x".into()]), None);
    }

    #[test]
    fn arguments_for_the_session_are_taken_from_any_position() {
        let taken = take("--model opus -p fix --output-format json --resume abc --verbose");
        assert!(taken.print);
        assert_eq!(taken.output_format.as_deref(), Some("json"));
        assert_eq!(taken.resume, Some(Resume::Session("abc".into())));
        assert_eq!(rest(&taken), "--model opus fix");
        assert_eq!(take("-r --model x").resume, Some(Resume::Choose));
        assert_eq!(take("-c").resume, Some(Resume::Latest));
        assert_eq!(take("--resume=abc").resume, Some(Resume::Session("abc".into())));
        assert!(take("--session-id abc").names_session);
        assert!(take("--bg fix").background && take("--bg fix").prompt.is_some());
        assert!(take("--help").exits && !take("fix").exits);
        let settings = take("--settings mine.json --model x");
        assert_eq!(
            (settings.settings.as_deref(), rest(&settings).as_str()),
            (Some("mine.json"), "--model x")
        );
    }
}
