//! How a person is told that the session waits for them: `supervisor.notify` in ccc.json, or
//! `CCC_NOTIFY`.

use std::env;
use std::path::Path;

use anyhow::Result;

use super::Usage;
use crate::surface::{Attention, Call};

pub fn resolve(configured: Option<&str>, project: &Path) -> Result<Attention> {
    let wanted = env::var("CCC_NOTIFY").ok().filter(|value| !value.is_empty());
    let wanted = wanted.as_deref().or(configured).unwrap_or("auto");
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let Some(call) = call(wanted, set) else {
        let problem = format!("notify is auto, bell, desktop or off, not {wanted:?}");
        return Err(Usage(problem).into());
    };
    // The Linux console shows a title as text.
    let titles = wanted != "off" && set("TERM").is_some_and(|term| term != "linux");
    let name = project.file_name().unwrap_or(project.as_os_str()).to_string_lossy();
    Ok(Attention::new(call, titles.then(|| name.into_owned())))
}

fn call(wanted: &str, set: impl Fn(&str) -> Option<String>) -> Option<Call> {
    let term = set("TERM").unwrap_or_default();
    let desktop = if ["rxvt", "foot"].iter().any(|name| term.starts_with(name)) {
        Call::Osc777
    } else {
        Call::Osc9
    };
    // These are known to show a notice; another one could show its text instead.
    let program = set("TERM_PROGRAM").unwrap_or_default();
    let known = ["iTerm.app", "WezTerm", "ghostty"].contains(&program.as_str())
        || ["xterm-kitty", "xterm-ghostty", "foot", "rxvt"]
            .iter()
            .any(|name| term.starts_with(name))
        || set("WT_SESSION").is_some();
    // A multiplexer passes a bell on, and keeps a notice to itself.
    let inside = set("TMUX").is_some() || set("STY").is_some();
    Some(match wanted {
        "off" => Call::Off,
        "desktop" => desktop,
        "auto" if known && !inside => desktop,
        "bell" | "auto" => Call::Bell,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_decides_unless_the_person_does() {
        let with = |wanted: &str, vars: &[(&str, &str)]| {
            call(wanted, |name| {
                vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let kitty = ("TERM", "xterm-kitty");
        assert_eq!(with("auto", &[kitty]), Some(Call::Osc9));
        assert_eq!(with("auto", &[("TERM", "foot")]), Some(Call::Osc777));
        assert_eq!(with("auto", &[kitty, ("TMUX", "x")]), Some(Call::Bell));
        assert_eq!(with("auto", &[("TERM", "xterm-256color")]), Some(Call::Bell));
        assert_eq!(with("desktop", &[("TERM", "xterm-256color")]), Some(Call::Osc9));
        assert_eq!(with("bell", &[kitty]), Some(Call::Bell));
        assert_eq!(with("off", &[kitty]), Some(Call::Off));
        assert_eq!(with("loud", &[kitty]), None);
    }
}
