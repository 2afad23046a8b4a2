//! What is shown at the start of a session about its surroundings, and later about the permission mode.

use super::styled::{self, Style, Styled};
use super::transcript::Transcript;
use crate::client::mode::PermissionMode;
use crate::client::stream::Message;

/// What is known before the client reports anything.
#[derive(Debug, Clone, Default)]
pub struct Whereabouts {
    /// The version of ccc.
    pub ccc: String,
    pub directory: String,
    /// The directory in full, as the client writes it.
    pub root: String,
    pub branch: Option<String>,
    /// Empty without one; then `login` is used.
    pub provider: String,
    /// What the client identifies itself with if there is no provider.
    pub login: String,
    /// The path of the SUPERVISOR.md in use.
    pub instructions: String,
    pub checks: Vec<String>,
    /// Checks that are skipped, because nobody has allowed them.
    pub skipped: Vec<String>,
}

impl Whereabouts {
    fn account(&self) -> &str {
        if self.provider.is_empty() { &self.login } else { &self.provider }
    }
}

/// `Whereabouts`, and what the client has reported about itself so far.
#[derive(Debug)]
pub struct KnownPlace {
    here: Whereabouts,
    version: String,
    model: String,
    mode: Option<PermissionMode>,
    told: bool,
    /// Nothing has been shown since the start.
    pub(super) last: bool,
}

/// A longer path is shortened to its end, which says most.
const DIRECTORY: usize = 40;

fn end_of(path: &str, ellipsis: &str) -> String {
    let from = path.char_indices().rev().nth(DIRECTORY - 1).map_or(0, |(at, _)| at);
    if from == 0 { path.to_owned() } else { format!("{ellipsis}{}", &path[from..]) }
}

/// Conspicuous, because the agent can do anything.
pub const BYPASS: &str = "PERMISSIONS ARE SKIPPED: every tool runs without asking";

impl Transcript {
    pub fn set_place(&mut self, here: Whereabouts) {
        let (version, model) = (String::new(), String::new());
        self.place = Some(KnownPlace { here, version, model, mode: None, told: false, last: true });
    }

    /// The provider, or else what the client identifies itself with.
    pub fn account(&self) -> &str {
        self.place.as_ref().map_or("", |place| place.here.account())
    }

    /// A path in the project as the person would write it.
    pub(super) fn near<'a>(&self, path: &'a str) -> &'a str {
        let root = self.place.as_ref().map(|place| place.here.root.as_str());
        let below = root.filter(|root| !root.is_empty()).and_then(|root| path.strip_prefix(root));
        below
            .and_then(|path| path.strip_prefix('/'))
            .filter(|path| !path.is_empty())
            .unwrap_or(path)
    }

    pub(super) fn place_lines(&self) -> Vec<Styled> {
        let Some(KnownPlace { here, .. }) = &self.place else { return Vec::new() };
        let branch = here.branch.as_ref().map(|branch| format!(" ({branch})")).unwrap_or_default();
        let directory = format!("{}{branch}", end_of(&here.directory, self.look.glyphs.ellipsis));
        let mut rules = vec![here.instructions.clone()];
        match (here.checks.as_slice(), here.skipped.is_empty()) {
            ([], true) => rules.push("no checks".to_owned()),
            ([], false) => {}
            (checks, _) => rules.push(format!("checks: {}", checks.join(", "))),
        }
        if !here.skipped.is_empty() {
            let skipped = here.skipped.join(", ");
            rules.push(format!("checks skipped, not allowed yet: {skipped} (see `ccc check`)"));
        }
        let account = here.account().to_owned();
        let lines = vec![
            self.facts(&[format!("ccc {}", here.ccc), directory, account]),
            self.facts(&rules),
        ];
        self.fitted(lines, "    ")
    }

    fn facts(&self, facts: &[String]) -> Styled {
        let between = format!(" {} ", self.look.glyphs.dot);
        let text = facts.iter().map(|fact| styled::exposed(fact)).collect::<Vec<_>>();
        Styled::new(Style::Dim, &format!("  {}", text.join(&between)))
    }

    /// Shown once the client has identified itself: newer clients do so before the first turn, older
    /// ones with it.
    pub(super) fn client_told(&mut self, message: &Message) -> Vec<Styled> {
        let Some(place) = self.place.as_mut().filter(|place| !place.told) else {
            return Vec::new();
        };
        match message {
            Message::Introduced(told) => {
                place.version = told.version.clone().unwrap_or_default();
                place.mode.clone_from(&told.mode);
            }
            Message::Mode(mode) => place.mode = Some(mode.clone()),
            Message::Model { model, .. } => place.model.clone_from(model),
            Message::Init(init) => {
                place.version.clone_from(&init.version);
                place.model.clone_from(&init.model);
                let mode = Some(&init.permission_mode).filter(|mode| !mode.is_empty());
                place.mode = mode.cloned().map(PermissionMode::from).or(place.mode.take());
            }
            _ => return Vec::new(),
        }
        if place.version.is_empty() || place.model.is_empty() {
            return Vec::new();
        }
        place.told = true;
        let mut facts = vec![format!("claude {}", place.version), place.model.clone()];
        facts.extend(place.mode.as_ref().map(|mode| match mode {
            PermissionMode::Bypass => "permissions: skipped".to_owned(),
            mode => format!("permissions: {}", mode.words()),
        }));
        let last = place.last;
        let lines = self.fitted(vec![self.facts(&facts)], "    ");
        if last { self.shown(lines) } else { self.apart(lines) }
    }

    /// Nothing if the status line shows the mode.
    pub(super) fn mode_told(&mut self, mode: &PermissionMode) -> Vec<Styled> {
        if self.look.live {
            return Vec::new();
        }
        if *mode == PermissionMode::Bypass {
            return self.shown(vec![Styled::new(Style::Alarm, &format!("{BYPASS}."))]);
        }
        let first = !std::mem::replace(&mut self.mode_known, true);
        // Asking is what everybody expects, and the line about the client names the first mode.
        let is_named = self.place.is_some() || !self.look.hints;
        if first && (*mode == PermissionMode::Ask || is_named) {
            return Vec::new();
        }
        let text = format!("Permission mode: {}", mode.words());
        self.shown(vec![Styled::new(Style::Dim, &text)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::sample;
    use crate::surface::transcript::tests::LOOK;
    use crate::surface::{Look, styled::Glyphs};

    fn told(lines: &[Styled]) -> Vec<String> {
        lines.iter().map(Styled::text).collect()
    }

    fn transcript(columns: usize) -> Transcript {
        let mut transcript = Transcript::new(LOOK);
        transcript.set_place(Whereabouts {
            ccc: "1.0".into(),
            directory: "~/project".into(),
            root: "/home/me/project".into(),
            branch: Some("main".into()),
            provider: "kimi".into(),
            instructions: "SUPERVISOR.md".into(),
            checks: vec!["tests".into(), "lint".into()],
            ..Whereabouts::default()
        });
        transcript.set_width(columns);
        transcript
    }

    #[test]
    fn the_start_says_what_is_used_and_what_is_skipped() {
        let lines = |checks: &[&str], skipped: &[&str]| {
            let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
            let mut transcript = Transcript::new(LOOK);
            transcript.set_place(Whereabouts {
                login: "key from ANTHROPIC_API_KEY".into(),
                instructions: "SUPERVISOR.md".into(),
                checks: names(checks),
                skipped: names(skipped),
                ..Whereabouts::default()
            });
            told(&transcript.place_lines())
        };
        let none = lines(&[], &[]);
        assert!(none[0].ends_with(" · key from ANTHROPIC_API_KEY"), "{none:?}");
        assert_eq!(none[1], "  SUPERVISOR.md · no checks");
        assert_eq!(
            lines(&[], &["tests", "lint"])[1],
            "  SUPERVISOR.md · checks skipped, not allowed yet: tests, lint (see `ccc check`)"
        );
        assert_eq!(
            lines(&["fmt"], &["tests"])[1],
            "  SUPERVISOR.md · checks: fmt · checks skipped, not allowed yet: tests (see `ccc check`)"
        );
    }

    #[test]
    fn the_start_says_where_one_is() {
        let place = transcript(80).place_lines();
        assert_eq!(
            told(&place),
            ["  ccc 1.0 · ~/project (main) · kimi", "  SUPERVISOR.md · checks: tests, lint"]
        );
        for columns in [20, 30, 47] {
            let narrow = transcript(columns).place_lines();
            let widest = |line: &Styled| line.width() <= columns;
            assert!(narrow.iter().all(widest), "{columns}: {:?}", told(&narrow));
        }
        assert!(Transcript::new(LOOK).place_lines().is_empty());
        let long = end_of(&format!("/{}/project", "x".repeat(80)), "…");
        assert!(long.starts_with("…xx") && long.ends_with("x/project"), "{long}");
        assert_eq!(end_of("/a", "…"), "/a");
    }

    #[test]
    fn paths_of_the_project_are_short() {
        let here = transcript(80);
        for (path, told) in [
            ("/home/me/project/src/a.rs", "src/a.rs"),
            ("/home/me/project/../secret", "../secret"),
            ("/home/me/project2/a.rs", "/home/me/project2/a.rs"),
            ("/home/me/project/", "/home/me/project/"),
            ("/home/me/project", "/home/me/project"),
        ] {
            assert_eq!(here.near(path), told);
        }
        assert_eq!(Transcript::new(LOOK).near("/a"), "/a");
    }

    #[test]
    fn the_client_is_told_once_with_its_mode() {
        let mut newer = transcript(80);
        let hears =
            |transcript: &mut Transcript, raw: &str| told(&transcript.agent(&sample::line(raw)));
        let answer = |response: &str| {
            format!(
                r#"{{"type":"control_response","response":{{"subtype":"success","response":{response}}}}}"#
            )
        };
        let introduced = answer(
            r#"{"commands":[],"claude_code_version":"2.1.325","current_permission_mode":"default"}"#,
        );
        assert!(hears(&mut newer, &introduced).is_empty());
        let auto = r#"{"type":"system","subtype":"status","permissionMode":"auto"}"#;
        assert!(hears(&mut newer, auto).is_empty());
        let line = hears(&mut newer, &answer(r#"{"applied":{"model":"claude-opus-5-5"}}"#));
        assert_eq!(line, ["  claude 2.1.325 · claude-opus-5-5 · permissions: auto"]);
        let init = r#"{"type":"system","subtype":"init","claude_code_version":"2.1.197","model":"m","permissionMode":"plan"}"#;
        assert!(hears(&mut newer, init).is_empty());
        let older = hears(&mut transcript(80), init);
        assert_eq!(older, ["  claude 2.1.197 · m · permissions: plan"]);
        let mut asked = transcript(80);
        asked.said("Begin.");
        assert_eq!(hears(&mut asked, init)[0], "", "apart from what was said before");
    }

    #[test]
    fn where_no_line_shows_the_mode_its_changes_are_lines() {
        let mut transcript = Transcript::new(Look { live: false, glyphs: Glyphs::ascii(), ..LOOK });
        let mut tell = |mode| told(&transcript.mode_told(&mode)).join("\n");
        assert_eq!(tell(PermissionMode::Ask), "");
        assert_eq!(tell(PermissionMode::Plan), "Permission mode: plan");
        assert_eq!(tell(PermissionMode::Ask), "Permission mode: ask");
        assert_eq!(tell(PermissionMode::Bypass), format!("{BYPASS}."));
        assert!(
            Transcript::new(Look { live: true, ..LOOK })
                .mode_told(&PermissionMode::Plan)
                .is_empty()
        );
    }
}
