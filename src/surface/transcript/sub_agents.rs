//! The running sub-agents as a tree: the purpose of each, how many tools it has used, for how long
//! it has run, and what it is doing. Its report is a line of the transcript.

use std::time::Duration;

use super::outputs::report;
use super::tools::WORTH_TELLING;
use super::{Author, Transcript};
use crate::client::stream::{Block, Message, TaskNote};
use crate::event::Now;
use crate::surface::status::clock;
use crate::surface::styled::{self, Style, Styled};

/// Whether this tool starts a sub-agent.
pub fn starts_sub_agent(tool: &str) -> bool {
    ["Task", "Agent"].contains(&tool)
}

#[derive(Debug)]
pub struct SubAgent {
    /// The tool use that started it.
    id: String,
    what: String,
    since: Now,
    tools: u64,
    doing: String,
    /// The turn does not wait for it.
    background: bool,
}

impl SubAgent {
    pub fn new(id: &str, what: &str, since: Now) -> Self {
        let (id, what) = (id.to_owned(), what.to_owned());
        Self { id, what, since, tools: 0, doing: String::new(), background: false }
    }

    fn facts(&self, now: Now, waited: Duration) -> Vec<String> {
        let took = now.saturating_sub(self.since).saturating_sub(waited);
        let tools = match self.tools {
            0 => None,
            1 => Some("1 tool".to_owned()),
            tools => Some(format!("{tools} tools")),
        };
        tools.into_iter().chain((took >= WORTH_TELLING).then(|| clock(took))).collect()
    }
}

impl Transcript {
    /// A sub-agent's messages, and messages about one, are count_with but not shown.
    pub(super) fn follow_sub_agent(&mut self, parent: Option<&str>, message: &Message) {
        let id = match message {
            Message::TaskProgress(progress) => Some(progress.tool_use_id.as_str()),
            _ => parent,
        };
        let agent = self.sub_agents.iter_mut().find(|agent| Some(agent.id.as_str()) == id);
        match (agent, message) {
            (Some(agent), Message::TaskProgress(progress)) => {
                agent.tools = agent.tools.max(progress.tools);
                agent.doing.clone_from(&progress.doing);
            }
            (Some(agent), Message::Assistant { blocks, .. }) => {
                let used = blocks.iter().filter(|block| matches!(block, Block::ToolUse { .. }));
                // Some clients report a count themselves, right before or after.
                let used = u64::try_from(used.count()).unwrap_or(0);
                agent.tools = agent.tools.max(agent.count_with(used));
            }
            _ => {}
        }
    }

    /// Whether a sub-agent in the tree wrote this.
    pub(super) fn is_in_tree(&self, parent: Option<&str>) -> bool {
        let known = |id: &str| self.sub_agents.iter().any(|agent| agent.id == id);
        self.look.live && parent.is_some_and(known)
    }

    /// It continues while the agent works; its line appears when it has ended.
    pub(super) fn goes_on_in_background(&mut self, id: &str) {
        if let Some(agent) = self.sub_agents.iter_mut().find(|agent| agent.id == id) {
            agent.background = true;
        }
    }

    /// Removes it from the tree and returns what it did, for its line.
    pub(super) fn sub_agent_ended(&mut self, id: &str) -> Vec<String> {
        let Some(at) = self.sub_agents.iter().position(|agent| agent.id == id) else {
            return Vec::new();
        };
        let agent = self.sub_agents.remove(at);
        agent
            .facts(self.now, Duration::ZERO)
            .into_iter()
            .take(1)
            .filter(|_| agent.tools > 0)
            .collect()
    }

    /// A sub-agent in the background has ended.
    pub(super) fn background_ended(&mut self, note: &TaskNote) -> Vec<Styled> {
        let is_it = |agent: &SubAgent| agent.background && agent.id == note.tool_use_id;
        let Some(at) = self.sub_agents.iter().position(is_it) else { return Vec::new() };
        let agent = self.sub_agents.remove(at);
        let failed = !matches!(note.status.as_str(), "" | "completed");
        let style = if failed { Style::Bad } else { Style::Tool };
        let facts = agent.facts(self.now, Duration::ZERO).join(" ");
        let mut head = Styled::new(style, &format!("{} ", self.look.glyphs.tool))
            .with(Style::Bold, "Agent")
            .with(Style::Plain, &format!(" {}", styled::exposed(&agent.what)));
        if !facts.is_empty() {
            head = head.with(Style::Dim, &format!("  {facts}"));
        }
        let words = report(&note.summary);
        let (first, more) = styled::first_line(&words);
        let first = match (first.is_empty(), failed) {
            (false, _) => first.into_owned(),
            (true, true) => note.status.clone(),
            (true, false) => "done".to_owned(),
        };
        let branch = format!("  {} ", self.look.glyphs.branch);
        let first = self.short(&first, more, branch.chars().count(), Author::AGENT);
        let body = Styled::new(Style::Dim, &branch)
            .with(if failed { Style::Bad } else { Style::Dim }, &first);
        let head = head.cut(self.width.max(1), self.look.glyphs.ellipsis);
        self.tool_lines(vec![head, body], Author::AGENT)
    }

    /// Removes the turn's sub-agents; those in the background continue unless `all`.
    pub(super) fn forget_sub_agents(&mut self, all: bool) {
        self.sub_agents.retain(|agent| agent.background && !all);
    }

    pub(super) fn sub_agent_rows(&self) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        let agents = &self.sub_agents;
        let head = match agents.len() {
            0 => return Vec::new(),
            1 => "1 agent".to_owned(),
            many => format!("{many} agents"),
        };
        let waited = self.asked_at.map_or(Duration::ZERO, |asked| self.now.saturating_sub(asked));
        let mut rows =
            vec![Styled::new(Style::Tool, &format!("{} ", glyphs.tool)).with(Style::Bold, &head)];
        for (at, agent) in agents.iter().enumerate() {
            let branch =
                if at + 1 == agents.len() { glyphs.branch } else { glyphs.lines.mid_branch };
            let mut facts = agent.facts(self.now, waited);
            if agent.background {
                facts.push("in the background".to_owned());
            }
            if !agent.doing.is_empty() && agent.doing != agent.what {
                facts.push(styled::exposed(&agent.doing));
            }
            let row = Styled::new(Style::Dim, &format!("  {branch} "))
                .with(Style::Plain, &styled::exposed(&agent.what));
            rows.push(match facts.join(&format!(" {} ", glyphs.dot)) {
                facts if facts.is_empty() => row,
                facts => row.with(Style::Dim, &format!("  {facts}")),
            });
        }
        rows
    }
}

impl SubAgent {
    fn count_with(&self, used: u64) -> u64 {
        // If the client does not report a count, every use adds one.
        if self.doing.is_empty() { self.tools + used } else { self.tools }
    }
}
