//! The individual checks. Each examines one thing and changes nothing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Finding, glass_case};
use crate::client::version::{NEWEST, OLDEST, Version, update};
use crate::cmd::provider::is_set;
use crate::cmd::{login, release, slash_commands};
use crate::config::clients::{check_providers, settings_path, why_hooks_are_off};
use crate::config::profile::{self, Key};
use crate::config::{self, Config};
use crate::directories::Directories;
use crate::executables;
use crate::files;
use crate::process::pty;
use crate::record::read;
use crate::review::instructions::{self, Problem};
use crate::surface::Glyphs;
use crate::surface::look;

pub fn all(place: &Directories) -> Vec<Finding> {
    let config = Config::load(&place.config_dir);
    let mut findings = vec![ccc(), claude(), config_file(place, &config)];
    if let Ok(config) = &config {
        findings.push(providers(config));
        findings.push(login(place, config));
        findings.push(hook(place, config));
    }
    findings.extend([
        commands(place),
        supervisor_md(place),
        writable("config dir", &place.config_dir),
        writable("state dir", &place.state_dir),
        glass_case::finding(place, config.as_ref().ok()),
        pseudo_terminal(),
        terminal(),
        recordings(place),
    ]);
    findings
}

fn ccc() -> Finding {
    let exe = env::current_exe().map(|exe| format!(", {}", exe.display())).unwrap_or_default();
    Finding::well("ccc", format!("{}{exe}", env!("CARGO_PKG_VERSION")))
}

fn claude() -> Finding {
    let path = match executables::claude() {
        Ok(path) => path,
        Err(error) => return Finding::broken("claude", "not found", format!("{error:#}")),
    };
    let printed = match release::ask(&path) {
        Ok(printed) => printed,
        Err(error) => {
            let text = format!("{} --version: {error:#}", path.display());
            return Finding::broken(
                "claude",
                text,
                "install it again, or name another executable in CCC_CLAUDE",
            );
        }
    };
    let (first, last) = (OLDEST, NEWEST);
    match Version::read(&printed) {
        Some(version) if version < first => Finding::broken(
            "claude",
            format!("{version}, {}: too old, ccc needs {first} or newer", path.display()),
            update(),
        ),
        Some(version) if version > last => Finding::well(
            "claude",
            format!(
                "{version}, {} (newer than any that ccc is tested with: {last})",
                path.display()
            ),
        ),
        Some(version) => Finding::well("claude", format!("{version}, {}", path.display())),
        None => Finding::odd(
            "claude",
            format!("{} does not report its version", path.display()),
            format!("ccc is tested with {first} to {last}"),
        ),
    }
}

fn config_file(place: &Directories, config: &anyhow::Result<Config>) -> Finding {
    const NAME: &str = "ccc.json";
    let path = place.config_dir.join(config::FILE);
    let config = match config {
        Ok(config) => config,
        Err(error) => {
            return Finding::broken(NAME, format!("{error:#}"), "until then, ccc starts nothing");
        }
    };
    if !path.exists() {
        return Finding::well(NAME, "none: the defaults apply");
    }
    if let Err(error) = supervisor(config) {
        return Finding::broken(NAME, format!("{error:#}"), format!("correct {}", path.display()));
    }
    if let Some(text) = config.readable_keys(&place.config_dir) {
        return Finding::odd(NAME, text, format!("chmod 600 {}", path.display()));
    }
    if let Some(unknown) = config.unknown_told() {
        let text = format!("{} has {unknown}", path.display());
        return Finding::odd(NAME, text, "check the spelling; an unknown setting is ignored");
    }
    if let Some(missing) = config.missing_provider() {
        let text = format!("in {}, {missing}", path.display());
        return Finding::odd(
            NAME,
            text,
            "`ccc provider use NAME`, or `none` for claude's own login",
        );
    }
    Finding::well(NAME, path.display().to_string())
}

/// Errors in the configuration that a session would run into.
fn supervisor(config: &Config) -> anyhow::Result<()> {
    let supervisor = config.supervisor()?;
    supervisor.timeout()?;
    supervisor.background_wait()?;
    check_providers(config, &supervisor)
}

fn providers(config: &Config) -> Finding {
    const NAME: &str = "providers";
    let current = config.default_provider();
    if config.provider_names().next().is_none() {
        return Finding::well(NAME, "none: claude uses its own key or login");
    }
    let mut rows = Vec::new();
    let mut keyless = Vec::new();
    for name in config.provider_names() {
        let settings = config.settings(Some(name));
        let key = profile::key(&settings);
        if !key.is_there(&is_set) {
            keyless.push(name);
        }
        let mark =
            if Some(name) == current.as_deref() { " (used unless you name another)" } else { "" };
        rows.push(format!("{name}{mark}: key {}", source(&key, &is_set)));
    }
    let text = rows.join("\n");
    if keyless.is_empty() {
        return Finding::well(NAME, text);
    }
    let advice = format!(
        "set the key of {}; then `ccc validate --all` tests the providers",
        keyless.join(", ")
    );
    Finding::odd(NAME, text, advice)
}

/// Whether the client has a key or a login. With a provider, the provider's key matters, which
/// `providers` reports.
fn login(place: &Directories, config: &Config) -> Finding {
    const NAME: &str = "login";
    if let Some(provider) = config.default_provider() {
        return Finding::well(NAME, format!("not needed: claude runs on {provider}"));
    }
    let shared = config.settings(None);
    let key = profile::key(&shared);
    if key.is_there(&is_set) {
        return Finding::well(NAME, format!("a key {}", source(&key, &is_set)));
    }
    if executables::claude().is_err() {
        return Finding::odd(NAME, "unknown without claude", "install claude first");
    }
    match login::ask(place) {
        Ok(Some(account)) => Finding::well(NAME, account),
        Ok(None) => Finding::broken(NAME, "claude has neither a login nor a key", login::HOW),
        Err(error) => Finding::odd(
            NAME,
            format!("unknown: {error:#}"),
            "run `claude` yourself to see whether it is logged in",
        ),
    }
}

/// Where the key comes from, without any part of the key.
fn source(key: &Key<'_>, is_set: &impl Fn(&str) -> bool) -> String {
    match key {
        Key::Missing => "missing".to_owned(),
        Key::Helper => "from apiKeyHelper".to_owned(),
        Key::Literal(_) => format!("in {}", config::FILE),
        Key::Variables(_, names) => {
            let there = if key.is_there(is_set) { "" } else { ", which is not set" };
            format!("from {}{there}", names.join(", "))
        }
    }
}

fn hook(place: &Directories, config: &Config) -> Finding {
    const NAME: &str = "Stop hook";
    if let Some(why) = why_hooks_are_off(place, &[]) {
        return Finding::odd(
            NAME,
            format!("{why} turns it off"),
            "`ccc --supervisor` still works; /supervisor in the plain claude does not",
        );
    }
    let provider = config.default_provider();
    let path = settings_path(&place.config_dir, provider.as_deref(), "");
    let there = files::read_text(&path).is_ok_and(|text| text.contains("supervisor-hook"));
    if there {
        Finding::well(NAME, format!("in {}", path.display()))
    } else {
        Finding::well(NAME, "not written yet; ccc writes it when it starts claude")
    }
}

fn commands(place: &Directories) -> Finding {
    const NAME: &str = "slash commands";
    let (ours, others): (Vec<_>, Vec<_>) = slash_commands::paths(&place.client_dir)
        .into_iter()
        .filter(|path| path.exists())
        .partition(|path| slash_commands::is_ours(path));
    let names = |paths: &[PathBuf]| {
        let names = paths.iter().filter_map(|path| path.file_stem());
        names.map(|name| format!("/{}", name.to_string_lossy())).collect::<Vec<_>>().join(" and ")
    };
    if !others.is_empty() {
        let text = format!("{} was not written by ccc", names(&others));
        return Finding::odd(NAME, text, "rename it; ccc writes its own when it starts again");
    }
    if ours.is_empty() {
        return Finding::well(
            NAME,
            "not written yet; ccc writes them when it starts the plain claude",
        );
    }
    Finding::well(NAME, names(&ours))
}

fn supervisor_md(place: &Directories) -> Finding {
    const NAME: &str = instructions::FILE;
    match instructions::find(&place.project, &place.config_dir) {
        Ok(found) => Finding::well(NAME, found.path.display().to_string()),
        Err(Problem::Missing { .. }) => Finding::odd(
            NAME,
            "none found; ccc supervises nothing without one",
            "run `ccc init` to write one for this project, or `ccc init --global` for all your \
             projects",
        ),
        Err(problem) => {
            Finding::broken(NAME, problem.to_string(), "until then, ccc supervises nothing")
        }
    }
}

/// A missing directory is created when it is needed, so its nearest existing parent must be writable.
fn writable(name: &'static str, dir: &Path) -> Finding {
    let existing = dir.ancestors().find(|dir| dir.exists()).unwrap_or(dir);
    match tempfile::tempfile_in(existing) {
        Ok(_) => Finding::well(name, dir.display().to_string()),
        Err(error) => {
            let text = format!("cannot write to {}: {error}", existing.display());
            Finding::broken(name, text, "check its owner and its permissions")
        }
    }
}

fn pseudo_terminal() -> Finding {
    const NAME: &str = "PTY";
    if pty::available() {
        return Finding::well(NAME, "can be opened");
    }
    Finding::odd(
        NAME,
        "cannot be opened",
        "`ccc --supervisor` starts the plain claude instead, supervised by its Stop hook",
    )
}

fn terminal() -> Finding {
    const NAME: &str = "terminal";
    if !crate::console::is_terminal() {
        return Finding::well(NAME, "the output goes to a file or a pipe");
    }
    let look = look::plain();
    let yes = |yes: bool| if yes { "" } else { "no " };
    let unicode = look.glyphs == Glyphs::unicode();
    let term = env::var("TERM").unwrap_or_default();
    let size = crossterm::terminal::size().map_or_else(
        |_| "of unknown size".to_owned(),
        |(columns, rows)| format!("{columns}x{rows}"),
    );
    let text =
        format!("{term} {size}, {}colours, {}Unicode", yes(look.colour.is_some()), yes(unicode));
    if term.is_empty() || term == "dumb" {
        return Finding::odd(
            NAME,
            text,
            "set TERM to match your terminal, for example xterm-256color",
        );
    }
    if !unicode {
        return Finding::odd(NAME, text, "set LANG to a UTF-8 locale, for example C.UTF-8");
    }
    Finding::well(NAME, text)
}

fn recordings(place: &Directories) -> Finding {
    let all = read::sessions(&place.state_dir);
    let bytes: u64 = all.iter().map(|dir| size(dir)).sum();
    let text = match all.len() {
        0 => "none in this project".to_owned(),
        1 => format!("1 in this project, {}", megabytes(bytes)),
        many => format!("{many} in this project, {}", megabytes(bytes)),
    };
    Finding::well("recordings", text)
}

/// The size of a recording's files; it has no subdirectories.
fn size(dir: &Path) -> u64 {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
}

fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::doctor::Grade;

    #[test]
    fn sizes_are_rounded_down() {
        for (bytes, text) in
            [(0, "0 bytes"), (999, "999 bytes"), (1_999, "1 KB"), (12_399_999, "12.3 MB")]
        {
            assert_eq!(megabytes(bytes), text);
        }
    }

    #[test]
    fn a_directory_that_is_not_there_yet_can_be_made() {
        let home = tempfile::tempdir().unwrap();
        let finding = writable("state dir", &home.path().join("a/b"));
        assert_eq!(finding.state, Grade::Well, "{finding:?}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing is left behind");
        // Nobody can write there, not even root.
        assert_eq!(writable("state dir", Path::new("/proc/x")).state, Grade::Broken);
    }
}
