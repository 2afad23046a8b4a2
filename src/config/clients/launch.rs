//! The settings of one launch of the plain client. They contain what the Stop hook relies on,
//! because they win over the project's settings, which the agent can write. They contain no key.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::judge::as_argument;
use super::{
    Role, Variables, background, environment, generated, object, of_this_process, quoted, section,
};
use crate::directories::Directories;
use crate::executables;
use crate::files;
use crate::hook::client_environment;
use crate::hook::pinned::{self, PinnedFile};

/// How many seconds the hook has for a prompt of the person; after that the client goes on without
/// it.
const PROMPT_TIMEOUT: u64 = 30;

pub struct Launch<'a> {
    pub id: &'a str,
    pub claude: &'a Path,
    pub env: &'a Variables,
    pub max_iterations: Option<u32>,
    pub no_checks: bool,
    pub no_record: bool,
    pub trust_checks: bool,
}

impl Launch<'_> {
    /// The argument for the client's `--settings`: the settings of its provider, with those of this
    /// launch.
    pub fn settings(&self, directories: &Directories, of_provider: &Path) -> Result<OsString> {
        let mut settings: Value = serde_json::from_str(&files::read_text(of_provider)?)?;
        self.name_itself_to_the_hooks(&mut settings)?;
        let env = section(object(&mut settings)?, "env")?;
        for (name, value) in self.environment(directories) {
            env.insert(name.to_owned(), json!(value));
        }
        // Settings win over the environment for the judge as well, so the variables that they set
        // are left out.
        let users = generated::users_settings(directories);
        let said = |name: &str| env.contains_key(name) || users["env"].get(name).is_some();
        let given = self.env.iter().filter(|(name, _)| !name.to_str().is_some_and(said));
        let given = client_environment::given(&given.cloned().collect());
        env.insert(client_environment::GIVEN.to_owned(), json!(given));
        let others = generated::other_settings(directories, Role::Agent);
        background::keep_endpoint(env, &others, self.env);
        // A PATH that the user set for the agent takes precedence.
        let path = env.get("PATH").cloned().or_else(|| users.pointer("/env/PATH").cloned());
        let own = environment::text(&of_this_process(), "PATH").unwrap_or_default();
        env.insert("PATH".to_owned(), path.unwrap_or_else(|| json!(own)));
        let path = PinnedFile::of_launch(&directories.config_dir, self.id)?.client();
        pinned::sweep(&directories.config_dir);
        as_argument(settings.to_string(), &path)
    }

    /// The variables that the hook relies on. An empty value means not set.
    pub fn environment(&self, directories: &Directories) -> Vec<(&'static str, String)> {
        let own = of_this_process();
        let flag = |set: bool| if set { "1" } else { "" }.to_owned();
        let max = self.max_iterations.map(|max| max.to_string()).unwrap_or_default();
        let given = |name: &str, otherwise: &str| {
            environment::text(&own, name).unwrap_or_else(|| otherwise.to_owned())
        };
        vec![
            ("CCC_CLAUDE", self.claude.display().to_string()),
            ("CCC_CONFIG_DIR", directories.config_dir.display().to_string()),
            ("CCC_LAUNCH", self.id.to_owned()),
            ("CCC_LOG", given("CCC_LOG", "info")),
            ("CCC_MAX_ITERATIONS", max),
            ("CCC_NO_CHECKS", flag(self.no_checks)),
            ("CCC_NO_RECORD", flag(self.no_record)),
            ("CCC_STATE_DIR", directories.state_dir.display().to_string()),
            ("CCC_SUPERVISOR_HOOK", String::new()),
            ("CCC_SUPERVISOR_PTY", String::new()),
            ("CCC_TRUST_CHECKS", flag(self.trust_checks)),
        ]
    }

    /// Tells the Stop hook which launch it belongs to, and also runs it for what the person types
    /// and for changed settings.
    fn name_itself_to_the_hooks(&self, settings: &mut Value) -> Result<()> {
        let ours = format!("{} supervisor-hook ", quoted(&executables::ccc()?));
        let hooks = section(object(settings)?, "hooks")?;
        let mut command = None;
        for stop in hooks.get_mut("Stop").and_then(Value::as_array_mut).into_iter().flatten() {
            for hook in stop["hooks"].as_array_mut().into_iter().flatten() {
                if let Some(text) = hook["command"].as_str().filter(|text| text.starts_with(&ours))
                {
                    let text = format!("{text} --launch {}", self.id);
                    hook["command"] = json!(text);
                    hook["statusMessage"] = json!("ccc reviews the work (Esc skips it)");
                    command = Some(text);
                }
            }
        }
        let command = command.context("the generated settings have no Stop hook of ccc's")?;
        for event in ["UserPromptExpansion", "UserPromptSubmit", "ConfigChange"] {
            let hook = json!({"hooks": [
                {"type": "command", "command": command, "timeout": PROMPT_TIMEOUT}
            ]});
            let list = hooks.entry(event).or_insert_with(|| json!([]));
            list.as_array_mut().with_context(|| format!("hooks.{event} is not a list"))?.push(hook);
        }
        Ok(())
    }
}
