//! One review inside the hook: the same process, message and verdict as in the supervised session,
//! but with nobody to ask and nothing else to do meanwhile.

use std::env;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use crossbeam_channel::{bounded, select_biased, unbounded};

use crate::child::ChildEvent;
use crate::cmd::client::{Clients, Limits, Role, environment, inherited};
use crate::cmd::place::{self, Place};
use crate::config::Config;
use crate::event::{Gone, ReviewRequest};
use crate::hook::{StopEvent, Transcript};
use crate::instructions::{self, Problem};
use crate::launch::{Launch, ReviewOptions, review_args};
use crate::record::SupervisorLog;
use crate::review_prompt::review_prompt;
use crate::stream::{
    Block, Control, Line, Message, Part, Permission, TurnResult, permission_answer, refuse_control,
    strip_escapes, user_message,
};
use crate::supervisor::Supervisor;
use crate::verdict::{Collector, Verdict};

const TRANSCRIPT_PATIENCE: Duration = Duration::from_secs(2);

pub fn run(
    settings: Option<&Path>,
    event: &StopEvent,
    place: &Place,
    config: &Config,
    limits: &Limits,
    round: u32,
) -> Result<Verdict> {
    let supervisor = config.supervisor()?;
    let text = instructions(place)?;
    let transcript = transcript(event);
    let request = ReviewRequest {
        review: round,
        round,
        max: limits.max_iterations,
        session_id: event.session_id.clone(),
        model: transcript.model.unwrap_or_default(),
        said: transcript.said,
        last_answer: event.last_assistant_message.clone().unwrap_or_default(),
        background: Vec::new(),
    };
    let (settings, env) = match settings {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let value = serde_json::from_str(&text)
                .with_context(|| format!("{} is broken", path.display()))?;
            // The client passes the env of the agent's settings on to its hooks, and with it the
            // agent's endpoint and key. They are none of another provider's business.
            let env = if supervisor.provider.is_some() {
                inherited(true, Role::Supervisor, &place.state_dir)
            } else {
                environment(&value, Role::Supervisor, &place.state_dir)
            };
            (path.to_owned(), env)
        }
        None => {
            let client = Clients::prepare(
                place,
                config,
                config.default_provider().as_deref(),
                None,
                limits,
            )?
            .supervisor;
            (client.settings, client.env)
        }
    };
    let options = ReviewOptions {
        settings: Some(settings),
        second_opinion: supervisor.provider.is_some(),
        model: supervisor.model,
        allowed_tools: supervisor.allowed_tools,
        // The hook is not told of any.
        add_dirs: Vec::new(),
    };
    let launch = Launch {
        ccc: env::current_exe().context("ccc cannot find its own executable")?,
        claude: vec![place::claude()?.into()],
        args: review_args(&request, &text, &options),
        env,
        // Where the session began: the client finds it only from there.
        dir: place.project.clone(),
    };
    let log = SupervisorLog::open(&place.state_dir, &event.session_id);
    judge(&launch, &review_prompt(&text, &request), log, limits)
}

/// The client runs its hook before the transcript is on disk, so this waits a moment for its end. A
/// path that is no file is left alone: it might never end.
fn transcript(event: &StopEvent) -> Transcript {
    let path = event.transcript_path.as_deref().map(Path::new);
    let path = path.filter(|path| path.is_file() || !path.exists());
    let Some(path) = path else { return Transcript::default() };
    let wanted = event.last_assistant_message.as_deref().map(str::trim).unwrap_or_default();
    let deadline = Instant::now() + TRANSCRIPT_PATIENCE;
    loop {
        let transcript =
            std::fs::read_to_string(path).map(|text| Transcript::read(&text)).unwrap_or_default();
        let last = transcript.last_answer.as_deref().unwrap_or_default();
        if last.contains(wanted) && !transcript.said.is_empty() || Instant::now() >= deadline {
            return transcript;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
}

/// The hook cannot ask for a SUPERVISOR.md, so it writes the default where there is none.
fn instructions(place: &Place) -> Result<String> {
    match instructions::find(&place.project, &place.config_dir) {
        Ok(found) => Ok(found.text),
        Err(Problem::Missing { looked_in: [_, global] }) => {
            if let Err(error) =
                crate::files::create_new(&global, instructions::DEFAULT.as_bytes(), 0o644)
            {
                super::say(&format!("{} could not be written: {error}", global.display()));
            }
            Ok(instructions::DEFAULT.to_owned())
        }
        Err(problem) => bail!("{problem}"),
    }
}

fn judge(
    launch: &Launch,
    prompt: &str,
    mut log: SupervisorLog,
    limits: &Limits,
) -> Result<Verdict> {
    let deadline = Instant::now() + limits.review_timeout;
    let (to_output, output) = bounded(2);
    let (to_exit, exit) = unbounded::<Gone>();
    let supervisor = Supervisor::start(
        launch,
        move |event| to_output.send(event).is_ok(),
        move |gone| to_exit.send(gone).is_ok(),
    )?;
    supervisor.send(user_message(&uuid::Uuid::new_v4().to_string(), prompt));
    let mut judge =
        Judge { supervisor, collector: Collector::default(), last_words: String::new() };
    let result = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        select_biased! {
            recv(output) -> event => match event {
                Ok(ChildEvent::Lines(lines)) => {
                    let result = lines.into_iter().find_map(|line| {
                        log.line(&line);
                        judge.line(line)
                    });
                    log.flush();
                    if let Some(result) = result {
                        break result;
                    }
                }
                Ok(ChildEvent::OutputEnded) | Err(_) => {
                    let how = exit.recv_timeout(left).map_or_else(|_| "ended".to_owned(), |gone| gone.how);
                    bail!("the supervisor {how} without a verdict: {}", judge.last_words);
                }
            },
            default(left) => bail!("no verdict within {} s", limits.review_timeout.as_secs_f32()),
        }
    };
    let Judge { supervisor, collector, .. } = judge;
    drop(supervisor);
    // Its shim ends it; waiting for that here keeps the hook from leaving anything behind.
    let _ = exit.recv_timeout(Duration::from_secs(5));
    collector.conclude(&result).map_err(|reason| anyhow!("the supervisor failed: {reason}"))
}

struct Judge {
    supervisor: Supervisor,
    collector: Collector,
    last_words: String,
}

impl Judge {
    fn line(&mut self, line: Line) -> Option<TurnResult> {
        for part in line.parts {
            match part {
                Part::Message(envelope) if envelope.parent.is_none() => match envelope.message {
                    Message::Result(result) => return Some(result),
                    Message::Control { request_id, request } => self.refuse(&request_id, request),
                    message => {
                        self.collector.feed(&message);
                        show(&message);
                    }
                },
                Part::Text(text) => {
                    super::print(&text);
                    self.last_words = text;
                }
                Part::Message(_) => {}
                Part::Bad(error) => log::warn!("the supervisor printed a broken line: {error}"),
            }
        }
        None
    }

    fn refuse(&self, request_id: &str, request: Control) {
        self.supervisor.send(match request {
            Control::Permission(asked) => {
                let reason = format!(
                    "Nobody can be asked to allow {}. supervisor.allowed_tools in ccc.json can allow it.",
                    asked.tool
                );
                permission_answer(request_id, &asked, &Permission::Deny(reason))
            }
            Control::Unknown(subtype) => refuse_control(request_id, &subtype),
        });
    }
}

fn show(message: &Message) {
    if let Message::Assistant { blocks, .. } = message {
        for block in blocks {
            if let Block::Text(text) = block {
                super::print(&strip_escapes(text));
            }
        }
    }
}
