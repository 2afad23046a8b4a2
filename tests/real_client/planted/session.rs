//! A session whose agent plants something for its judge, and what must hold at its end.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::script::{begins_review, count, is_agents, is_review, judged};
use crate::support::api::{Api, Rule};
use crate::support::ccc::{Ccc, Finished, INSTRUCTIONS};
use crate::support::client::CleanRoom;

/// Who judges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// `ccc --supervisor`.
    Loop,
    /// `ccc --supervisor=hook`.
    Hook,
    /// `ccc --supervisor=native`.
    Native,
}

/// Stands for the planted word in a script. The word itself would be in the conversation, where it
/// may be.
pub const WORD: &str = "@WORD@";
pub const PLANTED: &str = "zq-planted";

/// A session, before and after its agent has planted something.
pub struct Session {
    pub room: CleanRoom,
    /// Where the requests belong.
    pub real: Api,
    /// The agent's own endpoint, where everything is confirmed.
    pub agents: Api,
    /// The command with which the judge looks.
    pub look: &'static str,
}

impl Session {
    pub fn new() -> Self {
        let room = CleanRoom::new();
        let script = "git init -q . && git config user.email a@b && git config user.name n && \
                      mkdir part && echo one | tee one.txt > part/one.txt && git add -A && \
                      git commit -qm first";
        let done = room.command(Path::new("/bin/sh"), "").args(["-c", script]).status();
        assert!(done.expect("sh").success());
        // An agent whose client takes up what it planted may get there itself.
        let agents = Api::start(vec![
            judged(Rule::any().when(is_review), true, PLANTED),
            Rule::any().text("zq-built."),
        ]);
        let look = "git status --short; git diff; git log -p --oneline; git look; echo zq-looked";
        Self { room, real: Api::start(Vec::new()), agents, look }
    }

    pub fn path(&self, name: &str) -> String {
        // An absolute one stays what it is.
        let path = match name.strip_prefix("~/") {
            Some(name) => self.room.home().join(name),
            None => self.room.project().join(name),
        };
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    /// A script that writes a file.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        format!(
            "mkdir -p \"$(dirname '{path}')\"\n\
             sed 's/{WORD}/zq-plan''ted/g' > '{path}' <<'END'\n{text}\nEND\n"
        )
    }

    pub fn json(&self, name: &str, value: &Value) -> String {
        self.file(name, &value.to_string())
    }

    /// A script that writes a program, which notes that it was run when it was run by the judge or by
    /// the hook: one of the processes above it has such a command line.
    pub fn program(&self, name: &str, then: &str) -> String {
        let note = format!(
            "#!/bin/bash\nat=$$\nwhile [ \"$at\" -gt 1 ]; do\n\
             if tr '\\0' ' ' < /proc/$at/cmdline | grep -q -e '--fork-sessio[n]' -e 'supervisor-hoo[k] '; \
             then echo \"{name} $*\" >> '{}'; break; fi\n\
             read -r _ _ _ at _ < <(sed 's/([^)]*)/x/' /proc/$at/stat)\ndone\n{then}",
            self.path("~/ran"),
        );
        format!("{}chmod +x '{}'\n", self.file(name, &note), self.path(name))
    }

    /// Runs a session whose agent does this first.
    pub fn run(&self, way: Way, ccc: impl FnOnce(Ccc) -> Ccc, tools: &[(&str, Value)]) -> Finished {
        self.script(tools);
        self.play(way, ccc)
    }

    /// The agent uses these tools first; the judge looks and confirms.
    pub fn script(&self, tools: &[(&str, Value)]) {
        let look = json!({"command": self.look});
        let read = json!({"file_path": self.path("part/one.txt")});
        self.real.prepend(Rule::any().when(is_agents).text("zq-built."));
        let plant = Rule::any().when(|it| is_agents(it) && it.tool_names().contains(&"Bash"));
        let plant = tools.iter().fold(plant, |rule, (name, input)| rule.tool(name, input.clone()));
        self.real.prepend(plant.times(1));
        self.real.prepend(judged(Rule::any().when(is_review), true, ""));
        self.real.prepend(
            Rule::any().when(begins_review).tool("Read", read).tool("Bash", look).times(1),
        );
    }

    pub fn play(&self, way: Way, ccc: impl FnOnce(Ccc) -> Ccc) -> Finished {
        let run = Ccc::new(&self.room).api(&self.real).instructions(INSTRUCTIONS);
        let run = run.config(&json!({"supervisor": {"allowed_tools": ["Bash"]}}));
        let run = match way {
            Way::Loop => run.args(["--supervisor", "--output-format", "json"]),
            Way::Hook => run.arg("--supervisor=hook"),
            Way::Native => {
                return on_a_screen(ccc(run.arg("--supervisor=native")), "Confirmed in round 1");
            }
        };
        ccc(run.args(["-p", "zq-build-it", "--dangerously-skip-permissions"])).run()
    }

    #[track_caller]
    pub fn assert_untouched(&self, way: Way, done: &Finished) {
        let (real, agents) = (self.real.requests(), self.agents.requests());
        assert_eq!(count(&agents, is_review), 0, "{way:?}: the judge was redirected\n{done}");
        assert!(count(&real, begins_review) > 0, "{way:?}: there was no review\n{done}");
        for review in real.iter().filter(|request| is_review(request)) {
            let body = review.body.to_string();
            let at = body.find(PLANTED).map(|at| &body[at.saturating_sub(300)..at + 20]);
            assert_eq!(at, None, "{way:?}: it reached the judge\n{done}");
            assert!(review.messages_text().contains(INSTRUCTIONS), "{way:?}: {done}");
        }
        let looked = real.iter().any(|it| is_review(it) && it.recent_text().contains("zq-looked"));
        assert!(looked, "{way:?}: the judge could not look\n{done}");
        let ran = fs::read_to_string(self.room.home().join("ran")).unwrap_or_default();
        assert_eq!(ran, "", "{way:?}: it ran for the judge\n{done}");
        assert_eq!(done.code, Some(0), "{way:?}: {done}");
        if way == Way::Loop {
            assert_eq!(done.json()["outcome"], "completed", "{done}");
        }
    }
}

/// A person types the task, sees it confirmed and leaves.
pub fn on_a_screen(ccc: Ccc, confirmed: &str) -> Finished {
    let mut terminal =
        ccc.args(["--permission-mode", "default", "--allowedTools", "Bash,Skill"]).on_terminal();
    terminal.wait_for("supervision begins with your first message");
    terminal.say("zq-build-it");
    terminal.wait_for(confirmed);
    let screen = terminal.screen();
    terminal.say("/exit");
    let code = i32::try_from(terminal.wait_exit()).ok();
    Finished { code, stdout: screen.into_bytes(), stderr: String::new() }
}
