//! The client's command lines and environment: the agent's and the supervisor's.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::client::case::{Case, Sandbox};
use crate::event::ReviewRequest;
use crate::review::prompt::SCHEMA;

/// Everything needed to start a client process, resolved: no environment is read after this.
#[derive(Debug, Clone)]
pub struct Launch {
    /// ccc itself, for the shim.
    pub ccc: PathBuf,
    /// The client: an executable, and what must stand in front of its arguments.
    pub claude: Vec<OsString>,
    pub args: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub dir: PathBuf,
    /// What it must not be able to change. The agent has none.
    pub case: Option<Case>,
}

impl Launch {
    /// The whole command, with the shim in front.
    pub fn argv(&self) -> Vec<OsString> {
        let mut argv = vec![self.ccc.clone().into(), "agent-shim".into()];
        argv.extend(self.case.iter().flat_map(Case::args));
        argv.push("--".into());
        argv.extend(self.claude.iter().chain(&self.args).cloned());
        argv
    }

    /// The same for a shim of another kind, which puts nothing into a case.
    pub fn argv_of(&self, kind: &str) -> Vec<OsString> {
        let mut argv: Vec<OsString> =
            vec![self.ccc.clone().into(), "agent-shim".into(), kind.into(), "--".into()];
        argv.extend(self.claude.iter().chain(&self.args).cloned());
        argv
    }
}

/// One argument is limited to 128 KiB on Linux.
pub const MAX_ARGUMENT: usize = 120 << 10;

/// In the form with a schema the supervisor does not even have these tools. The cached form keeps the
/// agent's tools, to the letter; there the judge's settings forbid every change.
const NO_CHANGES: &str = "Edit,Write,NotebookEdit";

/// How the agent is started. What the user passed comes last.
pub fn agent_args(
    start: &AgentStart,
    settings: Option<&Path>,
    live: bool,
    user_args: &[OsString],
) -> Vec<OsString> {
    let mut args = speak_json();
    if live {
        args.push("--include-partial-messages".into());
    }
    // The echo of a user message is the receipt for it.
    args.push("--replay-user-messages".into());
    match start {
        AgentStart::New { session_id } => pair(&mut args, "--session-id", session_id),
        AgentStart::Resume { session_id } => pair(&mut args, "--resume", session_id),
        AgentStart::Continue => args.push("--continue".into()),
        AgentStart::AsUserSays => {}
    }
    if let Some(settings) = settings {
        pair(&mut args, "--settings", settings);
    }
    args.extend(user_args.iter().cloned());
    args
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentStart {
    /// ccc chooses the id, so that it is known before the first line.
    New {
        session_id: String,
    },
    Resume {
        session_id: String,
    },
    Continue,
    /// The user's own arguments name the session.
    AsUserSays,
}

/// What a review is asked for in: `supervisor.review` in ccc.json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewForm {
    /// The agent's own prompt with one message more, so that the provider's prompt cache knows all but
    /// that message. The verdict is JSON in the last text.
    #[default]
    Cached,
    /// With a schema, a system prompt and fewer tools. The client puts all three in front of the
    /// conversation, and with another beginning nothing of it is cached.
    Schema,
}

#[derive(Debug, Clone, Default)]
pub struct ReviewOptions {
    pub form: ReviewForm,
    /// JSON, or the name of a file with it.
    pub settings: Option<OsString>,
    /// Overrides the agent's model.
    pub model: Option<String>,
    /// Another provider judges; the agent's model means nothing to it.
    pub second_opinion: bool,
    pub allowed_tools: Vec<String>,
    /// Directories beside the project that it may look at.
    pub add_dirs: Vec<OsString>,
    /// The agent's options that decide how its prompt begins.
    pub prompt_options: Vec<OsString>,
    pub sandbox: Sandbox,
}

impl ReviewOptions {
    /// The form of this review and, when it is not the one that was asked for, why.
    pub fn form(&self, request: &ReviewRequest) -> (ReviewForm, Option<&'static str>) {
        let other_model = self.model.as_ref().is_some_and(|model| *model != request.model);
        let reason = match self.form {
            ReviewForm::Cached if request.fresh => Some("it judges with fresh eyes"),
            ReviewForm::Cached if self.second_opinion => Some("another provider judges"),
            ReviewForm::Cached if other_model => Some("another model judges"),
            ReviewForm::Schema | ReviewForm::Cached => None,
        };
        (if reason.is_some() { ReviewForm::Schema } else { self.form }, reason)
    }
}

/// How the supervisor is started.
pub fn review_args(
    request: &ReviewRequest,
    instructions: &str,
    options: &ReviewOptions,
) -> Vec<OsString> {
    let mut args = speak_json();
    if !request.fresh {
        args.push("--fork-session".into());
        pair(&mut args, "--resume", &request.session_id);
    }
    // Else `--continue` could take up the review instead of the work.
    args.push("--no-session-persistence".into());
    // The agent can write every file that settings, servers, skills and memory are read from. What of
    // them counts is in the settings that ccc generated when the session began.
    pair(&mut args, "--setting-sources", "");
    args.push("--strict-mcp-config".into());
    match options.form(request).0 {
        ReviewForm::Cached => args.extend(options.prompt_options.iter().cloned()),
        ReviewForm::Schema => {
            pair(&mut args, "--json-schema", SCHEMA);
            // Newer clients drop this on a resumed session; the review's message repeats it, and is
            // all there is of instructions that no argument can hold.
            if instructions.len() <= MAX_ARGUMENT {
                pair(&mut args, "--system-prompt", instructions);
            }
            pair(&mut args, "--disallowedTools", NO_CHANGES);
            for dir in &options.add_dirs {
                pair(&mut args, "--add-dir", dir);
            }
        }
    }
    if !options.allowed_tools.is_empty() {
        pair(&mut args, "--allowedTools", options.allowed_tools.join(","));
    }
    // Without it a fork may fall back to another variant of the model.
    let agents = if options.second_opinion { "" } else { &request.model };
    let model = options.model.as_deref().unwrap_or(agents);
    if !model.is_empty() {
        pair(&mut args, "--model", model);
    }
    if let Some(settings) = &options.settings {
        pair(&mut args, "--settings", settings);
    }
    args
}

fn speak_json() -> Vec<OsString> {
    [
        "--print",
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
        "--verbose",
        // Undocumented, and the only way in which the client asks instead of denying silently.
        "--permission-prompt-tool",
        "stdio",
    ]
    .map(OsString::from)
    .to_vec()
}

fn pair(args: &mut Vec<OsString>, option: &str, value: impl AsRef<OsStr>) {
    args.push(option.into());
    args.push(value.as_ref().to_owned());
}

/// Settings of the client that a person makes in their environment; they mean the same in a child.
const KEPT: [&str; 13] = [
    "CLAUDE_CODE_ATTRIBUTION_HEADER",
    "CLAUDE_CODE_AUTO_COMPACT_",
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_SHELL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_",
    "CLAUDE_CODE_SKIP_",
    "CLAUDE_CODE_DISABLE_",
    "CLAUDE_CODE_ENABLE_",
    "CLAUDE_CODE_MAX_",
    "CLAUDE_CODE_CLIENT_",
    "CLAUDE_CODE_EXTRA_",
    "CLAUDE_CODE_SUBAGENT_MODEL",
];

/// Whether a variable belongs to the client session that ccc itself may have been started in. A
/// client that sees one of them takes itself for a part of that session.
pub fn belongs_to_a_session(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == "CLAUDECODE"
        || (name.starts_with("CLAUDE_CODE_") && !KEPT.iter().any(|kept| name.starts_with(kept)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(args: &[OsString]) -> String {
        args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn scenario_001_the_agent_speaks_stream_json() {
        let start = AgentStart::New { session_id: "S".into() };
        let args = agent_args(
            &start,
            Some(Path::new("/c/s.json")),
            false,
            &["--model".into(), "opus".into()],
        );
        assert_eq!(
            text(&args),
            "--print --output-format stream-json --input-format stream-json --verbose \
             --permission-prompt-tool stdio --replay-user-messages --session-id S \
             --settings /c/s.json --model opus"
        );
    }

    #[test]
    fn text_comes_as_it_is_written_only_for_who_watches() {
        let args = |live| text(&agent_args(&AgentStart::Continue, None, live, &[]));
        assert!(args(true).contains("--include-partial-messages"));
        assert!(!args(false).contains("--include-partial-messages"));
    }

    fn request() -> ReviewRequest {
        ReviewRequest {
            review: 1,
            round: 1,
            max: 10,
            session_id: "S".into(),
            model: "agents-model".into(),
            said: Vec::new(),
            last_answer: String::new(),
            background: Vec::new(),
            brief: String::new(),
            ..ReviewRequest::default()
        }
    }

    #[test]
    fn scenario_001_the_supervisor_is_a_fork() {
        let options = ReviewOptions { form: ReviewForm::Schema, ..Default::default() };
        let args = text(&review_args(&request(), "INSTRUCTIONS", &options));
        for part in [
            "--print --output-format stream-json",
            "--fork-session --resume S --no-session-persistence",
            "--json-schema {",
            "--system-prompt INSTRUCTIONS",
            "--disallowedTools Edit,Write,NotebookEdit",
            "--model agents-model",
        ] {
            assert!(args.contains(part), "{part}: {args}");
        }
        let huge = text(&review_args(&request(), &"x".repeat(200_000), &options));
        assert!(!huge.contains("--system-prompt"));
        let options = ReviewOptions {
            model: Some("other".into()),
            allowed_tools: vec!["Bash(cargo test:*)".into(), "WebFetch".into()],
            add_dirs: vec!["../lib".into()],
            ..options
        };
        let args = text(&review_args(&request(), "", &options));
        assert!(
            args.contains(
                "--add-dir ../lib --allowedTools Bash(cargo test:*),WebFetch --model other"
            ),
            "{args}"
        );
    }

    #[test]
    fn the_cached_form_repeats_what_the_agents_prompt_begins_with_and_adds_nothing_to_it() {
        let options = ReviewOptions {
            allowed_tools: vec!["Bash(cargo test:*)".into()],
            add_dirs: vec!["../lib".into()],
            prompt_options: ["--add-dir", "../lib", "--effort", "high"].map(Into::into).to_vec(),
            ..Default::default()
        };
        let args = text(&review_args(&request(), "INSTRUCTIONS", &options));
        assert!(
            args.ends_with(
                "--fork-session --resume S --no-session-persistence --setting-sources  \
                 --strict-mcp-config --add-dir ../lib --effort high \
                 --allowedTools Bash(cargo test:*) --model agents-model"
            ),
            "{args}"
        );
    }

    #[test]
    fn where_nothing_would_be_cached_the_form_is_the_one_with_a_schema() {
        let form = |options: ReviewOptions| options.form(&request());
        let cached = ReviewOptions::default;
        assert_eq!(form(cached()), (ReviewForm::Cached, None));
        let same = ReviewOptions { model: Some("agents-model".into()), ..cached() };
        assert_eq!(form(same), (ReviewForm::Cached, None));
        let model = ReviewOptions { model: Some("other".into()), ..cached() };
        assert_eq!(form(model), (ReviewForm::Schema, Some("another model judges")));
        let provider = ReviewOptions { second_opinion: true, ..cached() };
        assert_eq!(form(provider), (ReviewForm::Schema, Some("another provider judges")));
        let schema = ReviewOptions { form: ReviewForm::Schema, second_opinion: true, ..cached() };
        assert_eq!(form(schema), (ReviewForm::Schema, None));
    }

    #[test]
    fn fresh_eyes_have_not_seen_the_conversation() {
        let request = ReviewRequest { fresh: true, ..request() };
        let options = ReviewOptions::default();
        assert_eq!(options.form(&request).0, ReviewForm::Schema);
        let args = text(&review_args(&request, "INSTRUCTIONS", &options));
        assert!(!args.contains("--resume") && !args.contains("--fork-session"), "{args}");
        assert!(args.contains("--no-session-persistence --setting-sources  --strict-mcp-config"));
    }

    #[test]
    fn a_surrounding_session_is_forgotten_and_settings_are_kept() {
        for name in
            ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_X"]
        {
            assert!(belongs_to_a_session(OsStr::new(name)), "{name}");
        }
        for name in
            ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "PATH"]
        {
            assert!(!belongs_to_a_session(OsStr::new(name)), "{name}");
        }
    }
}
