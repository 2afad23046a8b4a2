//! The client's command lines and environment: the agent's and the supervisor's.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::client::case::{CaseRequest, Sandbox};
use crate::event::ReviewRequest;
use crate::review::prompt::SCHEMA;

/// Everything needed to start a client process. The environment is not read after this.
#[derive(Debug, Clone)]
pub struct Launch {
    /// ccc itself, for the shim.
    pub ccc: PathBuf,
    /// The client's executable, and arguments that must come before its own.
    pub claude: Vec<OsString>,
    pub args: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub dir: PathBuf,
    /// The case in which the client runs; the agent has none.
    pub case: Option<CaseRequest>,
}

impl Launch {
    pub fn argv(&self) -> Vec<OsString> {
        let mut argv = vec![self.ccc.clone().into(), "agent-shim".into()];
        argv.extend(self.case.iter().flat_map(CaseRequest::args));
        argv.push("--".into());
        argv.extend(self.claude.iter().chain(&self.args).cloned());
        argv
    }

    /// The same for another kind of shim, which has no case.
    pub fn argv_for(&self, kind: &str) -> Vec<OsString> {
        let mut argv: Vec<OsString> =
            vec![self.ccc.clone().into(), "agent-shim".into(), kind.into(), "--".into()];
        argv.extend(self.claude.iter().chain(&self.args).cloned());
        argv
    }
}

/// One argument is limited to 128 KiB on Linux.
pub const MAX_ARGUMENT: usize = 120 << 10;

/// In the schema form the supervisor does not even have these tools. The cached form must keep
/// exactly the agent's tools; there the judge's settings forbid changes.
const NO_CHANGES: &str = "Edit,Write,NotebookEdit";

/// The agent's arguments, with the user's own last.
pub fn agent_args(
    start: &AgentStart,
    settings: Option<&Path>,
    live: bool,
    user_args: &[OsString],
) -> Vec<OsString> {
    let mut args = stream_json_args();
    if live {
        args.push("--include-partial-messages".into());
    }
    // The echo of a user message acknowledges it.
    args.push("--replay-user-messages".into());
    match start {
        AgentStart::New { session_id } => push_option(&mut args, "--session-id", session_id),
        AgentStart::Resume { session_id } => push_option(&mut args, "--resume", session_id),
        AgentStart::Continue => args.push("--continue".into()),
        AgentStart::AsUserSays => {}
    }
    if let Some(settings) = settings {
        push_option(&mut args, "--settings", settings);
    }
    args.extend(user_args.iter().cloned());
    args
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentStart {
    /// ccc chooses the id, so that it knows it before the first line.
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

/// The form of a review: `supervisor.review` in ccc.json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewForm {
    /// The agent's own prompt plus one message, so that everything before that message is in the
    /// provider's prompt cache. The verdict is JSON in the last text.
    #[default]
    Cached,
    /// With a schema, a system prompt and fewer tools. The client puts all three before the
    /// conversation, so nothing of it is found in the cache.
    Schema,
}

#[derive(Debug, Clone, Default)]
pub struct ReviewOptions {
    pub form: ReviewForm,
    /// JSON, or the name of a JSON file.
    pub settings: Option<OsString>,
    /// Overrides the agent's model.
    pub model: Option<String>,
    /// Another provider judges, which may not know the agent's model.
    pub second_opinion: bool,
    pub allowed_tools: Vec<String>,
    /// Directories beside the project that the supervisor may read.
    pub add_dirs: Vec<OsString>,
    /// The agent's options that determine the beginning of its prompt.
    pub prompt_options: Vec<OsString>,
    pub sandbox: Sandbox,
}

impl ReviewOptions {
    /// The form of this review and, if it is not the configured one, the reason.
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

pub fn review_args(
    request: &ReviewRequest,
    instructions: &str,
    options: &ReviewOptions,
) -> Vec<OsString> {
    let mut args = stream_json_args();
    if !request.fresh {
        args.push("--fork-session".into());
        push_option(&mut args, "--resume", &request.session_id);
    }
    // Otherwise `--continue` could resume the review instead of the work.
    args.push("--no-session-persistence".into());
    // The agent can write every file from which settings, servers, skills and memory are read. Only
    // those in the settings that ccc generated when the session began are used.
    push_option(&mut args, "--setting-sources", "");
    args.push("--strict-mcp-config".into());
    match options.form(request).0 {
        ReviewForm::Cached => args.extend(options.prompt_options.iter().cloned()),
        ReviewForm::Schema => {
            push_option(&mut args, "--json-schema", SCHEMA);
            // Newer clients ignore it in a resumed session, so the review's message repeats it.
            // Instructions that are too long for an argument are only in that message.
            if instructions.len() <= MAX_ARGUMENT {
                push_option(&mut args, "--system-prompt", instructions);
            }
            push_option(&mut args, "--disallowedTools", NO_CHANGES);
            for dir in &options.add_dirs {
                push_option(&mut args, "--add-dir", dir);
            }
        }
    }
    if !options.allowed_tools.is_empty() {
        push_option(&mut args, "--allowedTools", options.allowed_tools.join(","));
    }
    // Without this option a fork may fall back to another variant of the model.
    let agents = if options.second_opinion { "" } else { &request.model };
    let model = options.model.as_deref().unwrap_or(agents);
    if !model.is_empty() {
        push_option(&mut args, "--model", model);
    }
    if let Some(settings) = &options.settings {
        push_option(&mut args, "--settings", settings);
    }
    args
}

fn stream_json_args() -> Vec<OsString> {
    [
        "--print",
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
        "--verbose",
        // Undocumented, but without it the client denies silently instead of asking.
        "--permission-prompt-tool",
        "stdio",
    ]
    .map(OsString::from)
    .to_vec()
}

fn push_option(args: &mut Vec<OsString>, option: &str, value: impl AsRef<OsStr>) {
    args.push(option.into());
    args.push(value.as_ref().to_owned());
}

/// Settings of the client in the user's environment, which also apply to its children.
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

/// Whether a variable belongs to a client session in which ccc itself was started. A client that
/// sees such a variable considers itself part of that session.
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
    fn partial_messages_are_requested_only_for_a_live_screen() {
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
    fn the_cached_form_repeats_the_agents_prompt_options_and_adds_none() {
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
    fn a_review_that_nothing_is_cached_for_uses_the_schema_form() {
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
    fn a_fresh_judge_does_not_resume_the_conversation() {
        let request = ReviewRequest { fresh: true, ..request() };
        let options = ReviewOptions::default();
        assert_eq!(options.form(&request).0, ReviewForm::Schema);
        let args = text(&review_args(&request, "INSTRUCTIONS", &options));
        assert!(!args.contains("--resume") && !args.contains("--fork-session"), "{args}");
        assert!(args.contains("--no-session-persistence --setting-sources  --strict-mcp-config"));
    }

    #[test]
    fn variables_of_a_surrounding_session_are_dropped_and_settings_kept() {
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
