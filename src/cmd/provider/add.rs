//! `ccc provider add`: takes flags, and asks a person for what they leave out.

use std::io::{IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::draft::{Draft, check_url};
use super::presets::{self, PRESETS, Preset};
use super::{change, missing_key, name};
use crate::cli::provider::AddArgs;
use crate::cmd::Usage;
use crate::cmd::output::{print, table};
use crate::cmd::questions::{self, Questions};
use crate::config::{self, Config, profile, secret};
use crate::console;

pub fn run(dir: &Path, args: &AddArgs) -> Result<()> {
    if args.presets {
        return print(&list());
    }
    let (name, draft, replace) = match from_flags(args)? {
        (Some(name), draft) if draft.is_whole() => (name, draft, args.force),
        (name, draft) if questions::is_possible() => from_answers(dir, args, name, draft)?,
        (_, draft) => return Err(missing(&draft).into()),
    };
    let env = draft.env();
    let settings = json!({ "env": env.clone() });
    let missing = missing_key(&profile::key(&settings));
    let usable = missing.is_none();
    config::edit(dir, |root| change::add(root, &name, env, replace, usable))?;
    print(&format!(
        "Added {name}. `ccc validate {name}` tries it; `ccc {name}` starts claude on it.\n"
    ))?;
    let current = Config::load(dir)?.default_provider();
    match missing {
        Some(missing) => print(&format!(
            "It cannot be used yet: {missing}. Set it, then run `ccc provider use {name}` to make \
             {name} the current provider.\n"
        )),
        None if current.as_deref() == Some(name.as_str()) => {
            print(&format!("{name} is now the current provider.\n"))
        }
        None => print(&format!("`ccc provider use {name}` makes it the current provider.\n")),
    }
}

impl Draft {
    fn is_whole(&self) -> bool {
        !self.base_url.is_empty() && !self.token.is_empty()
    }

    fn start_from(&mut self, preset: &'static Preset) {
        self.preset = Some(preset);
        preset.base_url.clone_into(&mut self.base_url);
        self.model = self.model.take().or_else(|| preset.model.map(str::to_owned));
        self.small_model =
            self.small_model.take().or_else(|| preset.small_model.map(str::to_owned));
    }
}

fn missing(draft: &Draft) -> Usage {
    Usage(if draft.base_url.is_empty() {
        format!(
            "the endpoint is missing; give --preset NAME ({}), or --base-url URL and a name",
            presets::names()
        )
    } else if draft.token.is_empty() {
        "the key is missing; give --token-env VAR or --token-stdin".to_owned()
    } else {
        "the provider needs a name; give it as the first argument".to_owned()
    })
}

/// What the flags specify. Invalid flags are an error; missing ones are left open.
fn from_flags(args: &AddArgs) -> Result<(Option<String>, Draft)> {
    // `ccc provider add kimi` selects the preset.
    let wanted = match (&args.preset, &args.base_url) {
        (None, None) => args.name.as_deref().filter(|name| presets::find(name).is_some()),
        (preset, _) => preset.as_deref(),
    };
    let mut draft = Draft {
        api_key: args.api_key,
        model: given("--model", args.model.as_ref())?,
        small_model: given("--small-model", args.small_model.as_ref())?,
        ..Draft::default()
    };
    if let Some(wanted) = wanted {
        let preset = presets::find(wanted).ok_or_else(|| {
            Usage(format!("there is no preset {wanted:?} (presets: {})", presets::names()))
        })?;
        draft.start_from(preset);
    }
    if let Some(url) = &args.base_url {
        draft.base_url = check_url(url).map_err(Usage)?;
    }
    let name = args.name.clone().or_else(|| wanted.map(str::to_owned));
    if let Some(name) = &name {
        name::check(name)?;
    }
    draft.token = token(args)?;
    Ok((name, draft))
}

fn given(flag: &str, value: Option<&String>) -> Result<Option<String>, Usage> {
    match value.map(|text| text.trim()) {
        Some("") => Err(Usage(format!("{flag} is empty"))),
        value => Ok(value.map(str::to_owned)),
    }
}

fn token(args: &AddArgs) -> Result<String> {
    let token = if let Some(variable) = &args.token_env {
        let reference = format!("${{{variable}}}");
        if !secret::is_reference(&reference) {
            return Err(Usage(format!(
                "{variable:?} is not a valid name for an environment variable"
            ))
            .into());
        }
        reference
    } else if args.token_stdin && !std::io::stdin().is_terminal() {
        let mut text = String::new();
        std::io::stdin().take(65536).read_to_string(&mut text).context("cannot read the key")?;
        if text.trim().is_empty() {
            return Err(Usage("standard input is empty; it must contain the key".into()).into());
        }
        text
    } else {
        match &args.token {
            Some(token) if token.trim().is_empty() => {
                return Err(Usage("--token is empty".into()).into());
            }
            token => token.clone().unwrap_or_default(),
        }
    };
    Ok(check_token(&token).map_err(Usage)?)
}

/// A key is sent in a header, so it must be one line of plain characters.
fn check_token(token: &str) -> Result<String, String> {
    let token = token.trim();
    if token.chars().all(|c| c.is_ascii_graphic()) {
        Ok(token.to_owned())
    } else {
        Err("this cannot be a key, because it contains spaces or unusual characters".to_owned())
    }
}

fn from_answers(
    dir: &Path,
    args: &AddArgs,
    name: Option<String>,
    mut draft: Draft,
) -> Result<(String, Draft, bool)> {
    let config = Config::load(dir)?;
    let mut questions = Questions::terminal();
    if draft.base_url.is_empty() {
        choose_endpoint(&mut questions, &mut draft)?;
    }
    let name = if let Some(name) = name {
        name
    } else {
        let default = draft.preset.map_or("", |preset| preset.name);
        until_good(|| questions.ask("Name", default), &mut |name| {
            name::check(name).map(|()| name.to_owned()).map_err(|usage| usage.0)
        })?
    };
    let replace = args.force
        || config.has_provider(&name)
            && questions
                .confirm(&format!("A provider named {name} already exists. Replace it?"), false)?;
    if config.has_provider(&name) && !replace {
        bail!("nothing was changed");
    }
    if draft.token.is_empty() {
        let question = "Key (not shown; ${VAR} reads it from the environment)";
        draft.token = until_good(|| questions.hidden(question), &mut |token| match token {
            "" => Err("A key is needed.".to_owned()),
            token => check_token(token),
        })?;
    }
    if args.model.is_none() {
        let default = draft.model.clone().unwrap_or_default();
        let question = if default.is_empty() { "Model (leave empty for none)" } else { "Model" };
        let model = questions.ask(question, &default)?;
        draft.model = Some(model).filter(|model| !model.is_empty());
    }
    Ok((name, draft, replace))
}

fn choose_endpoint(
    questions: &mut Questions<std::io::StdinLock<'static>, std::io::Stdout>,
    draft: &mut Draft,
) -> Result<()> {
    questions.say(&list())?;
    let choice = |answer: &str| -> Result<(Option<&'static Preset>, String), String> {
        match presets::find(answer) {
            Some(preset) => Ok((Some(preset), preset.base_url.to_owned())),
            None if answer.contains("://") => Ok((None, check_url(answer)?)),
            None => Err("That is neither a preset nor a URL.".to_owned()),
        }
    };
    let (preset, url) = until_good(
        || questions.ask("A preset, or the URL of another endpoint", ""),
        &mut |answer| choice(answer),
    )?;
    match preset {
        Some(preset) => draft.start_from(preset),
        None => draft.base_url = url,
    }
    Ok(())
}

/// Repeats the question until the answer is valid; the end of the input stops it.
fn until_good<T>(
    mut ask: impl FnMut() -> Result<String>,
    check: &mut impl FnMut(&str) -> Result<T, String>,
) -> Result<T> {
    loop {
        match check(&ask()?) {
            Ok(good) => return Ok(good),
            Err(problem) => console::print(format!("{problem}\n"))?,
        }
    }
}

fn list() -> String {
    let mut rows = vec![["PRESET", "VENDOR", "ENDPOINT", "MODEL"].map(str::to_owned)];
    rows.extend(PRESETS.iter().map(|preset| {
        [preset.name, preset.vendor, preset.base_url, preset.model.unwrap_or("-")]
            .map(str::to_owned)
    }));
    table(&rows)
}
