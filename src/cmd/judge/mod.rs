//! `ccc judge`: how good is my judge? Runs the sessions of the gauntlet with a scripted agent and the
//! real judge: the client, provider, model and SUPERVISOR.md that apply here.
//!
//! Design decisions:
//!
//! - One review per session. This measures whether a verdict is right; what an agent does with the
//!   feedback is up to the agent.
//! - The checks of the user's own SUPERVISOR.md do not run, because they belong to another project.
//!   Those of a session do. Sessions decided by a red check are left out: they never reach a judge.
//! - A review without a verdict is neither right nor wrong. After a few of them in a row the run ends,
//!   so that an invalid key costs three attempts and not twenty.
//! - Sessions run one after another; otherwise the provider's rate limits would be measured too.
//! - `--model` and `--provider` mean the same as for `ccc --supervisor`: agent and judge use them, and
//!   the judge is a fork of the agent. Without them, all judges of `ccc.json` are asked.
//! - Later messages of the user arrive while the agent is still working, so that there is one review
//!   and not one for each message. The judge reads the same either way.
//! - The user's own recordings are compared with labels, not judged again; `recorded` explains why.

mod bench;
mod recorded;
mod score;
mod told;
mod watching;

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Map;

use super::provider::unknown_provider;
use super::questions::{self, Questions};
use super::stop::Stop;
use super::{Usage, output, release};
use crate::cli::judge::JudgeArgs;
use crate::client::args::read_args;
use crate::clock;
use crate::config::Config;
use crate::config::clients::check_providers;
use crate::console;
use crate::directories::Directories;
use crate::gauntlet::session::{self, GauntletSession};
use crate::process::exit::ended_by;
use crate::process::orphans;
use crate::review::instructions::{self, Instructions};
use bench::Bench;
use score::{Scored, Totals};
use told::Judge;

/// The run ends after this many reviews in a row without a verdict.
const PATIENCE: usize = 3;

pub fn run(args: &JudgeArgs) -> Result<i32> {
    if let Some(label) = args.label {
        return recorded::label(label, args.session.as_deref());
    }
    if args.recorded {
        return recorded::run(args);
    }
    let (sessions, left_out) = chosen(args)?;
    if args.list {
        return told::list(&sessions, args.json);
    }
    let bench = bench(args)?;
    let judge = Judge::of(&bench)?;
    let question = told::beforehand(&judge, &sessions, &left_out);
    if !args.yes {
        if !questions::is_possible() || args.json {
            let problem = "`ccc judge` asks a model, which costs money; add --yes to start without a question";
            return Err(Usage(problem.into()).into());
        }
        output::print(&format!("{question}\n\n"))?;
        if !Questions::terminal().confirm("Start?", false)? {
            return Ok(0);
        }
    } else if !args.json {
        output::print(&format!("{question}\n\n"))?;
    }
    orphans::adopt_and_reap()?;
    clock::watch_for_stops()?;
    let stop = Stop::listen()?;
    let (scored, models) = play(&bench, &sessions, &stop, args.json)?;
    let totals = Totals::of(&scored);
    let judge = Judge { models, ..judge };
    if args.json {
        console::print_json(&told::json(&judge, &scored, &totals, scored.len() == sessions.len()))?;
    } else {
        output::print(&told::table(&judge, &sessions, &scored, &totals))?;
    }
    Ok(stop.seen().map_or_else(|| totals.exit_code(), ended_by))
}

/// A session that cannot be run, and the program that is missing for it.
struct LeftOut {
    name: String,
    program: String,
}

/// The sessions to run, and those that cannot be run.
fn chosen(args: &JudgeArgs) -> Result<(Vec<GauntletSession>, Vec<LeftOut>)> {
    let mut sessions = session::all()?;
    sessions.retain(|one| one.is_right() || one.checks.is_empty());
    let (all, sample) = (args.all, args.only.is_empty());
    let named =
        |one: &GauntletSession| args.only.iter().any(|text| one.name.contains(text.as_str()));
    sessions.retain(|one| all || (sample && one.sample) || named(one));
    if sessions.is_empty() {
        let problem = format!(
            "no session has {} in its name; `ccc judge --all --list` prints them all",
            args.only.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(" or ")
        );
        return Err(Usage(problem).into());
    }
    let mut left_out = Vec::new();
    sessions.retain(|one| match one.lacks() {
        Some(program) => {
            left_out.push(LeftOut { name: one.name.clone(), program: program.to_owned() });
            false
        }
        None => true,
    });
    if sessions.is_empty() {
        bail!("no session can be played here without {}", left_out[0].program);
    }
    Ok((in_turn(sessions), left_out))
}

/// Alternates finished and unfinished work, so that both kinds have been judged whenever the run ends.
fn in_turn(sessions: Vec<GauntletSession>) -> Vec<GauntletSession> {
    let (right, wrong): (Vec<_>, Vec<_>) =
        sessions.into_iter().partition(GauntletSession::is_right);
    let (mut right, mut wrong) = (right.into_iter(), wrong.into_iter());
    let mut all = Vec::new();
    loop {
        let pair: Vec<_> = wrong.next().into_iter().chain(right.next()).collect();
        if pair.is_empty() {
            return all;
        }
        all.extend(pair);
    }
}

fn bench(args: &JudgeArgs) -> Result<Bench> {
    let place = Directories::find()?;
    let mut config = Config::load(&place.config_dir)?;
    let mut claude_args: Vec<OsString> =
        config.claude_args().into_iter().map(OsString::from).collect();
    if args.model.is_some() || args.provider.is_some() {
        // As if the agent used these options too: one judge, which is its fork.
        let mut section: Map<_, _> =
            config.supervisor_section().as_object().cloned().unwrap_or_default();
        for name in ["judges", "provider", "model"] {
            section.remove(name);
        }
        config = config.with_supervisor(section.into());
        claude_args.extend(args.model.iter().flat_map(|model| ["--model", model]).map(Into::into));
    }
    let provider = match &args.provider {
        Some(name) if !config.has_provider(name) => {
            return Err(unknown_provider(config.provider_names(), name));
        }
        Some(name) => Some(name.clone()),
        None => config.default_provider(),
    };
    let supervisor = config.supervisor()?;
    check_providers(&config, &supervisor)?;
    let instructions = instructions(args.supervisor.as_deref(), &place)?;
    let judging = supervisor.judging(instructions.front.proof);
    release::supervised_client()?;
    let taken = read_args(claude_args);
    Ok(Bench {
        model: last_model(&taken.rest),
        config,
        place,
        provider,
        instructions,
        judging,
        taken,
    })
}

/// The agent's model, if the arguments name it.
fn last_model(args: &[OsString]) -> String {
    let mut model = String::new();
    let mut args = args.iter().map(|arg| arg.to_string_lossy());
    while let Some(arg) = args.next() {
        if let Some(joined) = arg.strip_prefix("--model=") {
            joined.clone_into(&mut model);
        } else if arg == "--model" {
            model = args.next().unwrap_or_default().into_owned();
        }
    }
    model
}

fn instructions(chosen: Option<&Path>, place: &Directories) -> Result<Instructions> {
    let found = match chosen {
        None => instructions::find(&place.project, &place.config_dir).map(Some),
        Some(path) => instructions::at(path),
    };
    match (found, chosen) {
        (Ok(Some(found)), _) => Ok(found),
        (Ok(None), path) => {
            bail!("there is no file {}", path.unwrap_or(Path::new(instructions::FILE)).display())
        }
        (Err(problem), _) => bail!("{problem}"),
    }
}

/// Runs all sessions, or those before the first that was interrupted. Also returns the models that judged.
fn play(
    bench: &Bench,
    sessions: &[GauntletSession],
    stop: &Stop,
    quiet: bool,
) -> Result<(Vec<Scored>, Vec<String>)> {
    let (mut scored, mut models): (Vec<Scored>, Vec<String>) = (Vec::new(), Vec::new());
    let mut told = told::Progress::new(sessions, quiet);
    for session in sessions {
        if stop.seen().is_some() {
            break;
        }
        told.begins(session)?;
        let (report, watching) = bench.play(session, stop)?;
        for model in &watching.models {
            if !models.contains(model) {
                models.push(model.clone());
            }
        }
        let asked_again = watching.answers.saturating_sub(watching.started);
        let Some(one) = Scored::of(session, &report, asked_again, &watching.failures) else {
            break;
        };
        told.ended(&one)?;
        scored.push(one);
        let vain = scored.iter().rev().take_while(|one| one.is_without_verdict()).count();
        if vain == PATIENCE && scored.len() < sessions.len() {
            told.gives_up()?;
            break;
        }
    }
    told.end()?;
    Ok((scored, models))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_model_of_the_arguments_counts() {
        let model =
            |args: &[&str]| last_model(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(model(&["--verbose"]), "");
        assert_eq!(model(&["--model", "opus", "--verbose"]), "opus");
        assert_eq!(model(&["--model=opus"]), "opus");
        assert_eq!(model(&["--model", "opus", "--model", "haiku"]), "haiku");
        assert_eq!(model(&["--model=opus", "--model", "haiku"]), "haiku");
        assert_eq!(model(&["--model", "opus", "--model=haiku"]), "haiku");
    }

    #[test]
    fn sessions_that_are_done_and_not_done_take_turns() {
        let sessions = session::all().unwrap();
        let labels: Vec<_> = in_turn(sessions).iter().map(GauntletSession::is_right).collect();
        assert_eq!(labels[..4], [false, true, false, true]);
        assert_eq!(labels.len(), session::all().unwrap().len());
    }
}
