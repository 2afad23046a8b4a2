//! The brief as text, for the judge and for people. It stays short, however much there is to say.

use std::fmt::Write;

use super::activity::{Activity, Ended, Ran};
use super::claims::{self, short};
use super::command::is_test;
use super::facts::{Examined, How};
use super::output::tests_left_out;
use super::own_script::changed_with;
use crate::checks::result::CheckResult;

/// The limit for the whole text in bytes, and those for its parts.
pub const LONGEST: usize = 6 << 10;
const FILES: usize = 40;
const COMMANDS: usize = 25;
const SIGNS: usize = 12;
const PATH: usize = 120;

/// Everything that ccc knows about the work of the agent.
#[derive(Debug)]
pub struct Facts<'a> {
    pub examined: &'a Examined,
    pub checks: &'a [CheckResult],
    pub activity: &'a Activity,
    pub last_answer: &'a str,
    pub background: &'a [String],
}

/// The text of the brief; empty if nothing is known.
pub fn brief(facts: &Facts<'_>) -> String {
    // The most important section comes first, because a long text is cut at its end.
    let sections = [checks(facts), claims(facts), signs(facts), files(facts), commands(facts)];
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        let room = LONGEST.saturating_sub(text.len() + 64);
        if room < 200 {
            break;
        }
        text.push_str(&cut(section, room));
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// Cuts a section at the end of a line.
fn cut(section: &str, room: usize) -> String {
    if section.len() <= room {
        return section.to_owned();
    }
    let mut kept = String::new();
    for line in section.lines() {
        if kept.len() + line.len() + 1 > room {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept + "- (more was left out here)\n"
}

fn section(title: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    lines.iter().fold(format!("{title}\n"), |mut text, line| {
        // One line each, so that no line break in a name can start a heading.
        let _ = writeln!(text, "- {}", line.replace(['\n', '\r'], " "));
        text
    })
}

fn checks(facts: &Facts<'_>) -> String {
    let edited = |result: &CheckResult| {
        let changed = facts.examined.changed.as_ref()?;
        let path: String = changed_with(&result.run, changed)?.chars().take(PATH).collect();
        Some(format!(", but {path}, which it runs, has changed since the task began"))
    };
    let line = |result: &CheckResult| {
        let edited = edited(result).unwrap_or_default();
        format!("{}: {}{edited}", short(&result.name), result.told())
    };
    section(
        "Checks that ccc ran itself, on the files as they are now:",
        facts.checks.iter().map(line).collect(),
    )
}

fn claims(facts: &Facts<'_>) -> String {
    let mut lines = claims::unsupported(facts);
    lines.extend(
        facts
            .background
            .iter()
            .map(|task| format!("Still running in the background: {}", short(task))),
    );
    section(
        "About the agent's last message (ccc compared it with the agent's commands and with the \
         files):",
        lines,
    )
}

fn signs(facts: &Facts<'_>) -> String {
    let signs = &facts.examined.signs;
    let mut lines: Vec<_> = signs
        .iter()
        .take(SIGNS)
        .map(|sign| match sign.quote.as_str() {
            "" => format!("{}: {}", sign.place, sign.what),
            quote => format!("{}: {}: `{}`", sign.place, sign.what, quote.replace('`', "'")),
        })
        .collect();
    if signs.len() > SIGNS {
        lines.push(format!("and {} more of these", signs.len() - SIGNS));
    }
    section("Worth a look in the changed lines (most of these have an honest reason):", lines)
}

fn files(facts: &Facts<'_>) -> String {
    let mut lines = Vec::new();
    if let Some(changed) = &facts.examined.changed {
        if changed.count == 0 {
            lines.push("none".to_owned());
        }
        for change in changed.files.iter().take(FILES) {
            let how = match change.how {
                How::Added => "added",
                How::Modified => "modified",
                How::Deleted => "deleted",
            };
            let path: String = change.path.chars().take(PATH).collect();
            lines.push(format!("{how} {path}"));
        }
        if changed.count > FILES {
            lines.push(format!("and {} more", changed.count - FILES));
        }
    }
    lines.extend(
        facts.examined.note.iter().map(|note| format!("Not everything was compared: {note}")),
    );
    section("Files changed since the task began (ccc compared their contents):", lines)
}

fn commands(facts: &Facts<'_>) -> String {
    let all: Vec<_> = facts.activity.commands().collect();
    let left_out = all.len().saturating_sub(COMMANDS) + facts.activity.forgotten();
    let line = |ran: &&Ran| {
        let how = match ran.how {
            Ended::Well => "succeeded".to_owned(),
            Ended::Badly(Some(code)) => format!("exit code {code}"),
            Ended::Badly(None) => "failed".to_owned(),
            Ended::Unknown => "ccc did not see it end".to_owned(),
        };
        let when = if ran.after_last_edit { "" } else { ", before the last edit" };
        let skipped = if is_test(&ran.command) { tests_left_out(&ran.output) } else { Vec::new() };
        let skipped = match skipped.as_slice() {
            [] => String::new(),
            words => format!("; its output says: {}", words.join(", ")),
        };
        format!("`{}`: {how}{when}{skipped}", short(&ran.command))
    };
    let mut lines: Vec<_> = all.iter().rev().take(COMMANDS).map(line).collect();
    if left_out > 0 {
        lines.push(format!("and {left_out} earlier ones"));
    }
    section("The agent's commands, the latest first (from its session):", lines)
}

#[cfg(test)]
mod tests {
    use super::super::activity::tests::activity;
    use super::super::facts::{Changed, FileChange, Sign};
    use super::*;
    use crate::checks::Check;
    use crate::checks::result::CheckOutcome;

    #[test]
    fn facts_stand_there_with_their_sources() {
        let examined = Examined {
            changed: Some(Changed::new(vec![FileChange {
                path: "a.py".into(),
                how: How::Modified,
            }])),
            signs: vec![Sign {
                place: "a.py:3".into(),
                what: "a stub".into(),
                quote: "raise NotImplementedError".into(),
            }],
            ..Examined::default()
        };
        let check = CheckResult::not_trusted(&Check::command("make test"));
        let text = brief(&Facts {
            examined: &examined,
            checks: &[check],
            activity: &activity(&[
                "run pytest => 1 passed, 2 skipped",
                "edit a.py",
                "fail ruff => Exit code 1",
            ]),
            last_answer: "Done. All tests pass.",
            background: &["npm run dev".into()],
        });
        for part in [
            "Checks that ccc ran itself, on the files as they are now:\n- make test: skipped: nobody",
            "no test command ran after the last edit (a.py)",
            "- Still running in the background: npm run dev",
            "- a.py:3: a stub: `raise NotImplementedError`",
            "- modified a.py",
            "- `ruff`: exit code 1\n- `pytest`: succeeded, before the last edit; its output says: 2 skipped",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
    }

    #[test]
    fn a_check_whose_own_script_has_changed_says_so() {
        let change = FileChange { path: "run-tests.sh".into(), how: How::Modified };
        let examined =
            Examined { changed: Some(Changed::new(vec![change])), ..Examined::default() };
        let green = |run: &str| CheckResult {
            outcome: CheckOutcome::Green,
            ..CheckResult::not_trusted(&Check::command(run))
        };
        let text = brief(&Facts {
            examined: &examined,
            checks: &[green("./run-tests.sh"), green("cargo test")],
            activity: &Activity::default(),
            last_answer: "",
            background: &[],
        });
        assert!(
            text.contains("- ./run-tests.sh: passed, but run-tests.sh, which it runs, has changed")
        );
        assert!(text.contains("- cargo test: passed\n"), "{text}");
    }

    #[test]
    fn a_brief_is_under_6_kb_however_large_the_session() {
        let file =
            |at: usize| FileChange { path: format!("{}{at}", "deep/".repeat(40)), how: How::Added };
        let sign = |at: usize| Sign {
            place: format!("x/{at}"),
            what: "a stub".into(),
            quote: "é".repeat(100),
        };
        let examined = Examined {
            changed: Some(Changed::new((0..5000).map(file).collect())),
            signs: (0..100).map(sign).collect(),
            note: Some("y".repeat(500)),
            ..Examined::default()
        };
        let many: Vec<_> = (0..500).map(|at| format!("run {} {at}", "z".repeat(300))).collect();
        let check = |at: usize| CheckResult::not_trusted(&Check::command(&format!("make {at}")));
        let text = brief(&Facts {
            examined: &examined,
            checks: &(0..100).map(check).collect::<Vec<_>>(),
            activity: &activity(&many.iter().map(String::as_str).collect::<Vec<_>>()),
            last_answer: "tests pass",
            background: &vec!["b".repeat(1000); 50],
        });
        assert!(text.len() <= LONGEST, "{}", text.len());
    }

    #[test]
    fn nothing_known_is_nothing_said() {
        let nothing = Facts {
            examined: &Examined::default(),
            checks: &[],
            activity: &Activity::default(),
            last_answer: "Done.",
            background: &[],
        };
        assert_eq!(brief(&nothing), "");
    }
}
