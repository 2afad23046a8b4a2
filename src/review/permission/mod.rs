//! What a supervisor may do. The client asks before each tool runs; the answer depends on whether a
//! glass case contains what the tool writes (`client::case`), and on `supervisor.allowed_tools`.
//!
//! | | in a case | without one |
//! |---|---|---|
//! | tools that only look | allowed | allowed |
//! | tools that edit | denied, always | denied, always |
//! | commands that only read | allowed | allowed |
//! | commands that reach beyond every case (`outward`) | denied unless a rule names them | the same |
//! | all other commands | allowed | the person is asked; without a person, denied |
//! | the web | allowed | the person is asked; without a person, denied |
//! | tools that ccc does not know, such as those of MCP servers | denied unless a rule names them | the same |
//!
//! ccc recognizes commands by name, behind `&&`, pipes, `sh -c`, `sudo`, `xargs` and the like. A script or
//! a program in another language can do the same unseen: these rules prevent a judge's mistake, not an
//! attack. Only the case reliably protects the project.

pub mod outward;
mod reading;
mod requests;
pub mod shell;

pub use reading::is_reading;

use serde::{Deserialize, Serialize};

use crate::client::case::CaseKind;
use crate::client::stream::PermissionRequest;

/// How much of a command is kept, which is enough to recognize it.
const MOST_OF_INPUT: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    Allow,
    /// The person is asked.
    Ask,
    Deny(String),
}

/// Something that a judge was not allowed to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    pub tool: String,
    /// The command, the file or the address.
    pub what: String,
    pub reason: String,
}

impl Denied {
    pub fn new(asked: &PermissionRequest, reason: &str) -> Self {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Input {
            command: Option<String>,
            file_path: Option<String>,
            notebook_path: Option<String>,
            url: Option<String>,
        }
        let input: Input = serde_json::from_str(&asked.input).unwrap_or_default();
        let what = input.command.or(input.file_path).or(input.notebook_path).or(input.url);
        let what = what.unwrap_or_default().chars().take(MOST_OF_INPUT).collect();
        Self { tool: asked.tool.clone(), what, reason: reason.to_owned() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Looks,
    Edits,
    Runs,
    Web,
    AsksThePerson,
}

const TOOLS: [(&str, Class); 37] = [
    ("Read", Class::Looks),
    ("Glob", Class::Looks),
    ("Grep", Class::Looks),
    ("LS", Class::Looks),
    ("LSP", Class::Looks),
    ("NotebookRead", Class::Looks),
    ("ListMcpResourcesTool", Class::Looks),
    ("ReadMcpResourceTool", Class::Looks),
    ("ToolSearch", Class::Looks),
    ("StructuredOutput", Class::Looks),
    ("ReportFindings", Class::Looks),
    // The judge's own notes and plans.
    ("TodoRead", Class::Looks),
    ("TodoWrite", Class::Looks),
    ("TaskCreate", Class::Looks),
    ("TaskGet", Class::Looks),
    ("TaskList", Class::Looks),
    ("TaskUpdate", Class::Looks),
    ("EnterPlanMode", Class::Looks),
    ("ExitPlanMode", Class::Looks),
    ("Skill", Class::Looks),
    // Sub-agents have to ask about their tools like the judge itself, and so does whatever they
    // start.
    ("Task", Class::Looks),
    ("Agent", Class::Looks),
    ("ListAgents", Class::Looks),
    ("TaskOutput", Class::Looks),
    ("TaskStop", Class::Looks),
    ("BashOutput", Class::Looks),
    ("KillBash", Class::Looks),
    ("KillShell", Class::Looks),
    ("Edit", Class::Edits),
    ("MultiEdit", Class::Edits),
    ("Write", Class::Edits),
    ("NotebookEdit", Class::Edits),
    ("Bash", Class::Runs),
    ("Monitor", Class::Runs),
    ("WebFetch", Class::Web),
    ("WebSearch", Class::Web),
    ("AskUserQuestion", Class::AsksThePerson),
];

/// Decides by the rules alone whether the tool may be used.
pub fn rule(held: CaseKind, asked: &PermissionRequest, allowed: &[String]) -> Ruling {
    let allowed: Vec<_> = allowed.iter().filter_map(|rule| Allowed::read(rule)).collect();
    let tool = asked.tool.as_str();
    let is_named = allowed.iter().any(|rule| rule.tool == tool && rule.command.is_none());
    let class = TOOLS.iter().find(|(name, _)| *name == tool).map(|(_, class)| *class);
    match class {
        Some(Class::Looks) => Ruling::Allow,
        Some(Class::Edits) => Ruling::Deny(format!(
            "A review changes nothing, so {tool} is not allowed. Say in your verdict what has to change."
        )),
        Some(Class::Runs) => command(held, &asked.input, &allowed),
        Some(Class::Web) if held.is_case() || is_named => Ruling::Allow,
        Some(Class::Web | Class::AsksThePerson) => Ruling::Ask,
        None if is_named => Ruling::Allow,
        None => Ruling::Deny(format!(
            "ccc does not know whether {tool} changes anything, so it is not allowed. \
             supervisor.allowed_tools in ccc.json can allow it."
        )),
    }
}

/// Whether a rule names `git push`.
pub fn allows_pushing(allowed: &[String]) -> bool {
    let rules = allowed.iter().filter_map(|rule| Allowed::read(rule));
    rules.filter_map(|rule| rule.command).any(|command| command.starts_with("git push"))
}

fn command(held: CaseKind, input: &str, allowed: &[Allowed<'_>]) -> Ruling {
    #[derive(Deserialize)]
    struct Input {
        command: Option<String>,
    }
    let script = serde_json::from_str::<Input>(input).ok().and_then(|input| input.command);
    let Some(script) = script else {
        return Ruling::Deny("ccc cannot tell what this would run.".to_owned());
    };
    let commands = shell::commands(&script);
    let is_named = |command: &shell::Command| {
        let text = command.words.join(" ");
        allowed.iter().any(|rule| rule.tool == "Bash" && rule.names(&text))
    };
    for command in commands.iter().filter(|command| !is_named(command)) {
        if let Some(outward) = outward::find(&command.words) {
            return Ruling::Deny(format!(
                "`{}` is not allowed in a review: {}. To allow it, add a rule that names it, such \
                 as `Bash({}:*)`, to supervisor.allowed_tools in ccc.json.",
                outward.name,
                outward.reach.why(),
                outward.name
            ));
        }
    }
    let is_allowed = |command: &shell::Command| {
        is_named(command) || (!command.writes && is_reading(&command.words))
    };
    let all = allowed.iter().any(|rule| rule.tool == "Bash" && rule.command.is_none());
    if held.is_case() || all || (!commands.is_empty() && commands.iter().all(is_allowed)) {
        return Ruling::Allow;
    }
    Ruling::Ask
}

/// A rule as the client writes it: `Tool`, `Bash(exactly this)`, `Bash(begins with:*)`.
struct Allowed<'a> {
    tool: &'a str,
    command: Option<&'a str>,
}

impl<'a> Allowed<'a> {
    fn read(rule: &'a str) -> Option<Self> {
        let rule = rule.trim();
        let Some((tool, rest)) = rule.split_once('(') else {
            return Some(Self { tool: rule, command: None });
        };
        let command = rest.strip_suffix(')')?.trim();
        // A rule for every command does not name any particular one.
        let command = (!matches!(command, "*" | ":*" | "")).then_some(command);
        Some(Self { tool, command })
    }

    fn names(&self, text: &str) -> bool {
        let Some(command) = self.command else { return false };
        let start = command.strip_suffix(":*").or_else(|| command.strip_suffix(" *"));
        match start.or_else(|| command.strip_suffix('*')) {
            Some(start) => text.strip_prefix(start).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(' ') || start.ends_with(' ')
            }),
            None => text == command,
        }
    }
}

#[cfg(test)]
mod tests;
