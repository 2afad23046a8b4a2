//! `ccc --supervisor`: the supervised session.

use std::env;
use std::io::Write;

use anyhow::{Context, Result};

use super::client::{Clients, Limits, user_settings};
use super::place::{self, Place};
use super::sessions::take_up;
use super::surfaces::{self, Wishes};
use super::{Usage, init, looks, prompt};
use crate::claude_args::{Taken, take_over};
use crate::cli::{OutputFormat, SessionArgs};
use crate::config::Config;
use crate::external_editor;
use crate::instructions::{self, Instructions, Problem};
use crate::launch::{AgentStart, ReviewOptions};
use crate::machine::Rules;
use crate::record::{Begun, Recorder, Scene, story};
use crate::session::{Earlier, Setup};

pub fn run(
    place: Place,
    config: &Config,
    args: SessionArgs,
    provider: Option<&str>,
) -> Result<i32> {
    let taken = take_over(args.rest);
    let format = output_format(args.output_format, &taken)?;
    let person = surfaces::somebody(format) && args.prompt.is_none() && !taken.print;
    let typed = one_prompt(args.prompt.flatten(), &taken, config)?;
    let prompt = if person { typed } else { prompt::resolve(typed)? };
    if !person && prompt.is_none() {
        let problem =
            "there is no terminal and no prompt: give one with -p TEXT, or on standard input";
        return Err(Usage(problem.into()).into());
    }
    if person && format.is_some() {
        return Err(
            Usage("--output-format is for sessions without a person: add -p TEXT".into()).into()
        );
    }

    let instructions = find_instructions(&place, person)?;
    let taken_up = take_up(&place, &taken, person)?;
    let supervisor = config.supervisor()?;
    let limits = Limits::of(config, args.max_iterations)?;
    let defaults = Rules::default();
    let rules = Rules {
        person,
        max_iterations: limits.max_iterations,
        review_timeout: limits.review_timeout,
        background_wait: supervisor.background_wait()?.unwrap_or(defaults.background_wait),
        resume: taken_up.resume,
        carried: taken_up.carried,
        client_may_leave: taken.leaves,
        seed: uuid::Uuid::new_v4().as_u64_pair().0,
        ..defaults
    };
    let user = user_settings(taken.settings.as_deref())?;
    let mut clients = Clients::prepare(&place, config, provider, user.as_ref(), &limits)?;
    clients.agent.env.push(("CCC_SUPERVISOR_PTY".into(), "1".into()));

    let size = crossterm::terminal::size().unwrap_or((120, 40));
    let recorder = (!args.no_record).then(|| {
        let begun = Begun {
            ccc: env!("CARGO_PKG_VERSION").to_owned(),
            project: place.project.display().to_string(),
            provider: provider.map(str::to_owned),
            rules: rules.clone(),
            agent_lines: 0,
            supervisor_lines: 0,
        };
        let set = |name| Some((name, env::var(name).ok()?));
        let scene = Scene { size, env: ["SHELL", "TERM"].into_iter().filter_map(set).collect() };
        Recorder::new(place.state_dir.clone(), begun, scene)
    });
    let (state_dir, seed) = (place.state_dir.clone(), rules.seed);
    // A session that begins here has nothing behind it.
    let earlier: Earlier = match taken_up.first {
        AgentStart::New { .. } => Box::new(|_| None),
        _ => Box::new(move |id| story::earlier(&state_dir, id, seed)),
    };
    let setup = Setup {
        rules,
        prompt,
        first: taken_up.first,
        ccc: env::current_exe().context("ccc cannot find its own executable")?,
        claude: vec![place::claude()?.into()],
        claude_args: taken.rest,
        live: false,
        settings: Some(clients.agent.settings),
        agent_env: clients.agent.env,
        review_env: clients.supervisor.env,
        review: ReviewOptions {
            settings: Some(clients.supervisor.settings),
            second_opinion: supervisor.provider.is_some(),
            model: supervisor.model,
            allowed_tools: supervisor.allowed_tools,
            add_dirs: taken.add_dirs,
        },
        instructions: instructions.text,
        dir: place.project,
        size,
        earlier,
        recorder,
        editor: external_editor::command(env::var_os("VISUAL"), env::var_os("EDITOR")),
    };
    let wishes = Wishes {
        plain: args.plain || supervisor.plain || looks::asked_for_lines(),
        provider: provider.unwrap_or_default().to_owned(),
        notify: supervisor.notify,
        state_dir: place.state_dir,
        records: !args.no_record,
    };
    Ok(surfaces::run(setup, format, &wishes)?.exit_code)
}

/// Of two words only one could be the prompt, and the other would be lost.
fn one_prompt(own: Option<String>, taken: &Taken, config: &Config) -> Result<Option<String>> {
    let words = [own, taken.prompt.clone(), taken.surplus.clone()];
    let mut words = words.into_iter().flatten();
    let (first, second) = (words.next(), words.next());
    let (Some(first), Some(second)) = (&first, second.filter(|_| !taken.leaves)) else {
        return Ok(first);
    };
    let known: Vec<_> = config.provider_names().collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let problem = format!(
        "there are two prompts, {first:?} and {second:?}; quotes make one of several words. \
         A provider's name comes before everything for claude (there is: {known})"
    );
    Err(Usage(problem).into())
}

fn output_format(own: Option<OutputFormat>, taken: &Taken) -> Result<Option<OutputFormat>> {
    match taken.output_format.as_deref() {
        None => Ok(own),
        Some("text") => Ok(Some(OutputFormat::Text)),
        Some("json") => Ok(Some(OutputFormat::Json)),
        Some("stream-json") => Ok(Some(OutputFormat::StreamJson)),
        Some(other) => {
            Err(Usage(format!("--output-format is text, json or stream-json, not {other:?}"))
                .into())
        }
    }
}

/// SUPERVISOR.md; a person who has none is offered the default.
fn find_instructions(place: &Place, person: bool) -> Result<Instructions> {
    match instructions::find(&place.project, &place.config_dir) {
        Ok(found) => Ok(found),
        Err(Problem::Missing { looked_in }) if person => {
            let [project, _] = &looked_in;
            println!("There is no SUPERVISOR.md, which tells the supervisor what counts as done.");
            print!("Write the default to {}? [Y/n] ", project.display());
            std::io::stdout().flush()?;
            let mut answer = String::new();
            std::io::stdin().read_line(&mut answer)?;
            if !matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
                || !answer.ends_with('\n')
            {
                anyhow::bail!("{}", Problem::Missing { looked_in });
            }
            init::write(project)?;
            Ok(Instructions { path: project.clone(), text: instructions::DEFAULT.to_owned() })
        }
        Err(problem) => anyhow::bail!("{problem}"),
    }
}
